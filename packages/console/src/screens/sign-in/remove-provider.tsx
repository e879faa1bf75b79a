import { identityProvider } from '#text/identity-provider';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { TextInput } from '../../ui/fields.tsx';
import { readExactText } from '../../ui/read-form.ts';
import { PROVIDER_KEY, PROVIDER_PATH } from './provider.ts';

const t = identityProvider.removal;

export const RemoveProvider = ({ onClose }: { onClose: () => void }) => (
  <ActionDialog
    title={t.title}
    action={t.submit}
    isDangerous
    changes={PROVIDER_KEY}
    act={(form) =>
      unwrap(
        identity.POST(`${PROVIDER_PATH}/remove`, {
          body: { currentPassword: readExactText(form, 'currentPassword') },
        }),
      )
    }
    describe={() => t.done}
    onClose={onClose}
  >
    <p>{t.warning}</p>
    <TextInput
      name="currentPassword"
      type="password"
      autoComplete="current-password"
      label={identityProvider.form.password}
      isRequired
      autoFocus
      maxLength={256}
    />
  </ActionDialog>
);
