import { members as t } from '#text/members';
import { useQuery } from '@tanstack/react-query';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { cancelInvitation, type Member, memberSessionsQuery, removeMember } from './api.ts';

export const RemoveMember = ({ member, onClose }: { member: Member; onClose: () => void }) => (
  <ActionDialog
    title={t.removeTitle(member.fullName, member.email)}
    action={t.removeSubmit}
    isDangerous
    changes={['members']}
    act={() => (member.invitation ? cancelInvitation(member.id) : removeMember(member.id))}
    describe={() => t.removed(member.fullName)}
    onClose={onClose}
  >
    {member.invitation ? <p>{t.cancelWarning}</p> : <RemovalEffects member={member} />}
  </ActionDialog>
);

const SHOWN = 5;
const COUNTED = 100;

/** Lists what ends with the member's removal, tokens by name. At most a hundred tokens are counted. */
function RemovalEffects({ member: { id } }: { member: Member }) {
  const tokens = useQuery({
    queryKey: ['tokens', 'of', id],
    queryFn: ({ signal }) => {
      const params = { query: { owner: id, limit: COUNTED } };
      return unwrap(identity.GET('/api/v1/personal-access-tokens/admin', { params, signal }));
    },
  });
  const sessions = useQuery(memberSessionsQuery(id));
  return (
    <>
      <p>{t.removeWarning}</p>
      {tokens.data && sessions.data && (
        <ul className="reasons">
          <li>{t.sessionsEnd(sessions.data.length)}</li>
          <li>
            {t.tokensEnd(tokens.data.data.length, typeof tokens.data.nextCursor === 'string')}
            <small className="stack">
              {tokens.data.data.slice(0, SHOWN).map((token) => (
                <span key={token.id}>{token.name}</span>
              ))}
              {tokens.data.data.length > SHOWN && '…'}
            </small>
          </li>
        </ul>
      )}
    </>
  );
}
