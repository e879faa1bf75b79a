import { account } from '#text/account';
import { identity, unwrap } from '../../api/client.ts';
import { meQuery, useMe } from '../../api/me.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { TextInput } from '../../ui/fields.tsx';
import { readText } from '../../ui/read-form.ts';

const t = account.fullName;
const MAX_LENGTH = 200;

export function ChangeName({ onClose }: { onClose: () => void }) {
  const { fullName } = useMe();
  return (
    <ActionDialog
      title={t.dialog}
      action={t.submit}
      changes={meQuery.queryKey}
      act={(form) =>
        unwrap(identity.PATCH('/api/v1/users/me', { body: { fullName: readText(form, 'fullName') } }))
      }
      describe={({ user }) => t.changed(user.fullName)}
      onClose={onClose}
    >
      <TextInput
        name="fullName"
        label={account.name}
        hint={t.hint}
        defaultValue={fullName}
        autoComplete="name"
        isRequired
        autoFocus
        maxLength={MAX_LENGTH}
      />
    </ActionDialog>
  );
}
