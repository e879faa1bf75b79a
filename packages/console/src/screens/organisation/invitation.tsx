import { members as t } from '#text/members';
import { Badge } from '../../ui/badge.tsx';
import type { Member } from './api.ts';

/** Whether a member has joined, or how the invitation stands. */
export function Invitation({ invitation }: Pick<Member, 'invitation'>) {
  if (!invitation) return <Badge tone="good">{t.joined}</Badge>;
  const state = invitation.state as keyof typeof t.invitations;
  return (
    <span className="stack">
      <Badge tone={state === 'pending' ? 'neutral' : 'notice'}>{t.invitations[state]}</Badge>
      {invitation.reason !== undefined && <small>{invitation.reason}</small>}
    </span>
  );
}
