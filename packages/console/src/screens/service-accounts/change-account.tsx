import { serviceAccounts as t } from '#text/service-accounts';
import { text } from '#text/shared';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { ActionDialog } from '../../ui/action-dialog.tsx';
import { BulkDialog } from '../../ui/bulk-dialog.tsx';
import { SelectInput, TextInput } from '../../ui/fields.tsx';
import { readText } from '../../ui/read-form.ts';
import type { ServiceAccount } from './api.ts';

type Role = keyof typeof text.roles;
const roleOptions = Object.entries(text.roles) as [Role, string][];

interface ChangeAccountProps {
  readonly account: ServiceAccount;
  onClose(): void;
}

export const CreateAccount = ({ onClose }: { onClose: () => void }) => (
  <ActionDialog
    title={t.create}
    action={t.createSubmit}
    changes={['service-accounts']}
    act={(form) => unwrap(identity.POST('/api/v1/service-accounts', { body: readAccount(form) }))}
    describe={({ serviceAccount }) => t.created(serviceAccount.name)}
    onClose={onClose}
  >
    <AccountFields />
  </ActionDialog>
);

export const EditAccount = ({ account, onClose }: ChangeAccountProps) => (
  <ActionDialog
    title={t.editTitle(account.name)}
    action={text.save}
    changes={['service-accounts']}
    act={(form) =>
      unwrap(
        identity.PATCH('/api/v1/service-accounts/{accountId}', {
          params: { path: { accountId: account.id } },
          body: readAccount(form),
        }),
      )
    }
    describe={() => t.saved}
    onClose={onClose}
  >
    <AccountFields account={account} />
    <p className="hint">{t.editHint}</p>
  </ActionDialog>
);

const remove = ({ id }: ServiceAccount) =>
  unwrap(identity.DELETE('/api/v1/service-accounts/{accountId}', { params: { path: { accountId: id } } }));

interface RemoveAccountsProps {
  readonly accounts: readonly ServiceAccount[];
  onClose(): void;
}

export const RemoveAccounts = ({ accounts, onClose }: RemoveAccountsProps) => (
  <BulkDialog
    title={t.removeSeveral(accounts.length)}
    action={t.removeSubmit}
    isDangerous
    items={accounts}
    changes={['service-accounts', 'list']}
    getName={({ name }) => name}
    act={remove}
    describe={t.removedSeveral}
    onClose={onClose}
  >
    <p>{t.removeWarning}</p>
  </BulkDialog>
);

export const RemoveAccount = ({
  account,
  onRemoved,
  onClose,
}: ChangeAccountProps & { readonly onRemoved: () => void }) => (
  <ActionDialog
    title={t.removeTitle(account.name)}
    action={t.removeSubmit}
    isDangerous
    changes={['service-accounts', 'list']}
    act={() => remove(account)}
    describe={() => t.removed(account.name)}
    onClose={onClose}
    onDone={onRemoved}
  >
    <p>{t.removeWarning}</p>
  </ActionDialog>
);

const readAccount = (form: FormData) => ({
  name: readText(form, 'name'),
  role: readText(form, 'role') === 'admin' ? ('admin' as const) : ('member' as const),
});

function AccountFields({ account }: { account?: ServiceAccount }) {
  const [role, setRole] = useState<Role>(account?.role === 'admin' ? 'admin' : 'member');
  return (
    <>
      <TextInput
        name="name"
        label={t.name}
        hint={t.nameHint}
        isRequired
        autoFocus
        maxLength={100}
        defaultValue={account?.name ?? ''}
      />
      <SelectInput<Role>
        name="role"
        label={t.role}
        hint={t.roleHint}
        value={role}
        options={roleOptions}
        onChange={setRole}
      />
    </>
  );
}
