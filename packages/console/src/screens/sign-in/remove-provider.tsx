import { identityProvider } from '#text/identity-provider';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { PROVIDER_KEY, PROVIDER_PATH } from './provider.ts';

const t = identityProvider.removal;

export const RemoveProvider = ({ onClose }: { onClose: () => void }) => (
  <ActionDialog
    title={t.title}
    action={t.submit}
    isDangerous
    changes={PROVIDER_KEY}
    act={() => unwrap(identity.DELETE(PROVIDER_PATH))}
    describe={() => t.done}
    onClose={onClose}
  >
    <p>{t.warning}</p>
  </ActionDialog>
);
