import { applications as t } from '#text/applications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { DialogForm, ModalDialog } from '../../ui/dialogs.tsx';
import { RadioCards, SelectInput, TextInput } from '../../ui/fields.tsx';
import { ApplicationFields, readApplication } from './application-fields.tsx';
import { type Access, type AuthMethod, grantTypes } from './shape.ts';
import { ShownSecret } from './shown-secret.tsx';

const accessOptions = (Object.keys(t.accessKinds) as Access[]).map((key) => ({ key, ...t.accessKinds[key] }));
const methodOptions = Object.entries(t.authMethods) as [AuthMethod, string][];

export function CreateApplication({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const [access, setAccess] = useState<Access>('person');
  const [chosenMethod, setMethod] = useState<AuthMethod>('client_secret_basic');
  const methods = methodOptions.filter(([method]) => access === 'person' || method !== 'none');
  const authMethod = methods.some(([method]) => method === chosenMethod)
    ? chosenMethod
    : 'client_secret_basic';
  const create = useMutation({
    mutationFn: (form: FormData) =>
      unwrap(
        identity.POST('/api/v1/oauth-applications', {
          body: { ...readApplication(form), grantTypes: [...grantTypes[access]], authMethod },
        }),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: ['applications'] }),
  });
  const created = create.data;
  // One dialog for both, so that the focus returns to the button that opened it.
  return (
    <ModalDialog
      title={created ? t.shown.title : t.create}
      isWide
      isKept={created !== undefined}
      onClose={onClose}
    >
      {created ? (
        <ShownSecret
          clientId={created.application.clientId}
          secret={created.clientSecret}
          onClose={onClose}
        />
      ) : (
        <DialogForm
          action={t.createSubmit}
          isPending={create.isPending}
          error={create.error}
          onClose={onClose}
          onSubmit={(form) => create.mutate(form)}
        >
          <TextInput name="name" label={t.name} hint={t.nameHint} isRequired maxLength={100} autoFocus />
          <RadioCards<Access> label={t.access} value={access} options={accessOptions} onChange={setAccess} />
          <SelectInput<AuthMethod>
            label={t.authMethod}
            value={authMethod}
            options={methods}
            onChange={setMethod}
          />
          <ApplicationFields access={access} authMethod={authMethod} />
        </DialogForm>
      )}
    </ModalDialog>
  );
}
