import { account } from '#text/account';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { TextInput } from '../../ui/fields.tsx';
import { readExactText } from '../../ui/read-form.ts';

const t = account.provider;

export const DisconnectProvider = ({ onClose }: { onClose: () => void }) => (
  <ActionDialog
    title={t.dialog}
    action={t.submit}
    isDangerous
    changes={['provider-connection']}
    act={(form) =>
      unwrap(
        identity.POST('/api/v1/auth/identity-provider/disconnect', {
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
      label={t.password}
      hint={t.passwordHint}
      isRequired
      autoFocus
      maxLength={256}
    />
  </ActionDialog>
);
