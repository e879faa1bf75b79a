import { members as t } from '#text/members';
import { announce } from '../../ui/announcements.tsx';
import { useAction } from '../../ui/use-action.ts';
import { InvitationDialog } from './invitation-dialog.tsx';
import { type Member, repeatInvitation } from './api.ts';

export function RepeatInvitation({ member, onClose }: { member: Member; onClose: () => void }) {
  const repeat = useAction({
    mutationFn: () => repeatInvitation(member.id),
    onSuccess: ({ delivery }) => delivery !== 'link' && announce(t.invited(member.email)),
    onDone: ({ delivery }) => delivery !== 'link' && onClose(),
    changes: [['members']],
  });
  const link = repeat.data?.inviteLink;
  return (
    <InvitationDialog
      title={t.repeatTitle(member.fullName)}
      invited={link ? { name: member.fullName, link } : undefined}
      action={t.repeatSubmit}
      isPending={repeat.isPending}
      error={repeat.error}
      onClose={onClose}
      onSubmit={() => repeat.mutate()}
    >
      <p>{t.repeatHint(member.email)}</p>
    </InvitationDialog>
  );
}
