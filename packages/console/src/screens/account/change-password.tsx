import { account } from '#text/account';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { useMe } from '../../api/me.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { TextInput } from '../../ui/fields.tsx';
import { readExactText } from '../../ui/read-form.ts';

const t = account.password;
const MIN_LENGTH = 8;
const MAX_LENGTH = 256;

export function ChangePassword({ onClose }: { onClose: () => void }) {
  const { email } = useMe();
  const [next, setNext] = useState('');
  return (
    <ActionDialog
      title={t.dialog}
      action={t.submit}
      changes={['sessions']}
      act={(form) =>
        unwrap(
          identity.POST('/api/v1/auth/password', {
            body: {
              currentPassword: readExactText(form, 'currentPassword'),
              newPassword: readExactText(form, 'newPassword'),
            },
          }),
        )
      }
      describe={({ endedCount }) => t.changed(endedCount)}
      onClose={onClose}
    >
      {/* Lets password managers know whose password it is. */}
      <input hidden readOnly autoComplete="username" value={email} />
      <TextInput
        name="currentPassword"
        type="password"
        autoComplete="current-password"
        label={t.current}
        isRequired
        autoFocus
        maxLength={MAX_LENGTH}
      />
      <TextInput
        name="newPassword"
        type="password"
        autoComplete="new-password"
        label={t.next}
        hint={t.nextHint}
        isRequired
        minLength={MIN_LENGTH}
        maxLength={MAX_LENGTH}
        value={next}
        onChange={setNext}
      />
      <TextInput
        name="again"
        type="password"
        autoComplete="new-password"
        label={t.again}
        isRequired
        validate={(value) => (value === next ? null : t.mismatch)}
      />
    </ActionDialog>
  );
}
