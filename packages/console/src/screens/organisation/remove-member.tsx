import { members as t } from '#text/members';
import { text } from '#text/shared';
import type { IdentitySchemas } from '@platform/clients/types';
import { useQuery } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { QueryView } from '../../ui/query-view.tsx';
import { cancelInvitation, type Member, removeMember } from './api.ts';

export function RemoveMember({ member, onClose }: { member: Member; onClose: () => void }) {
  const { fullName, email, invitation } = member;
  return (
    <ActionDialog
      title={invitation ? t.cancelTitle(fullName, email) : t.removeTitle(fullName, email)}
      action={invitation ? t.cancelOneSubmit : t.removeSubmit}
      {...(invitation && { leave: t.cancelLeave })}
      isDangerous
      changes={['members']}
      act={() => (invitation ? cancelInvitation(member.id) : removeMember(member.id))}
      describe={() => (invitation ? t.cancelledSeveral(1) : t.removed(fullName))}
      onClose={onClose}
    >
      {invitation ? <p>{t.cancelWarning}</p> : <RemovalEffects member={member} />}
    </ActionDialog>
  );
}

/** Lists what ends with the member's removal, which cannot be confirmed before that is known. */
function RemovalEffects({ member: { id } }: { member: Member }) {
  const query = useQuery({
    queryKey: ['members', 'removal', id],
    queryFn: async ({ signal }) =>
      (await unwrap(identity.GET('/api/v1/users/{id}/removal', { params: { path: { id } }, signal })))
        .removal,
    staleTime: 0,
  });
  return (
    <>
      <p>{t.removeWarning}</p>
      <QueryView query={query}>
        {({ sessions, tokens, apps, passkeys }) => (
          <ul className="reasons">
            <li>{t.sessionsEnd(sessions)}</li>
            <Ended of={apps} words={t.appsEnd} />
            <Ended of={tokens} words={t.tokensEnd} />
            <Ended of={passkeys} words={t.passkeysEnd} />
          </ul>
        )}
      </QueryView>
    </>
  );
}

interface EndedProps {
  readonly of: IdentitySchemas['schemas']['MemberRemoval']['tokens'];
  words(count: number, isMore: boolean): string;
}

const Ended = ({ of: { total, totalIsMinimum, names }, words }: EndedProps) => (
  <li>
    {words(total, totalIsMinimum)}
    {names.length > 0 && (
      <small className="stack">
        {/* Two of them may have the same name. */}
        {names.map((name, index) => (
          <span key={index}>{name}</span>
        ))}
        {total > names.length && text.andMore(total - names.length)}
      </small>
    )}
  </li>
);
