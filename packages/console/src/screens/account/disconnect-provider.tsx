import { account } from '#text/account';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';

const t = account.provider;

export const DisconnectProvider = ({ onClose }: { onClose: () => void }) => (
  <ActionDialog
    title={t.dialog}
    action={t.submit}
    isDangerous
    changes={['provider-connection']}
    act={() => unwrap(identity.DELETE('/api/v1/auth/identity-provider'))}
    describe={() => t.done}
    onClose={onClose}
  >
    <p>{t.warning}</p>
  </ActionDialog>
);
