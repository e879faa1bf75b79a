import { identityProvider } from '#text/identity-provider';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import type { Member } from './api.ts';

const t = identityProvider.member;

/** Takes the identity at the provider away from a member's account. */
export const DisconnectMember = ({
  member: { id, fullName },
  onClose,
}: {
  member: Member;
  onClose: () => void;
}) => (
  <ActionDialog
    title={t.title(fullName)}
    action={t.submit}
    isDangerous
    changes={['members']}
    act={() => unwrap(identity.DELETE('/api/v1/users/{id}/identity-provider', { params: { path: { id } } }))}
    describe={() => t.done(fullName)}
    onClose={onClose}
  >
    <p>{t.warning}</p>
  </ActionDialog>
);
