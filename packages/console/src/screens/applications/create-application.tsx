import { applications as t } from '#text/applications';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { RadioCards, SelectInput, TextInput } from '../../ui/fields.tsx';
import { SecretDialog } from '../../ui/secret-dialog.tsx';
import { readBounds } from '../tokens/bounds.ts';
import { ApplicationFields, readApplication } from './application-fields.tsx';
import { type Access, type AuthMethod, grantTypes } from './shape.ts';
import { ShownSecret } from './shown-secret.tsx';

const accessOptions = (Object.keys(t.accessKinds) as Access[]).map((key) => ({ key, ...t.accessKinds[key] }));
const methodOptions = Object.entries(t.authMethods) as [AuthMethod, string][];

export function CreateApplication({ onClose }: { onClose: () => void }) {
  const [access, setAccess] = useState<Access>('person');
  const [chosenMethod, setMethod] = useState<AuthMethod>('client_secret_basic');
  const methods = methodOptions.filter(([method]) => access === 'person' || method !== 'none');
  const authMethod = methods.some(([method]) => method === chosenMethod)
    ? chosenMethod
    : 'client_secret_basic';
  return (
    <SecretDialog
      title={t.create}
      shownTitle={t.shown.title}
      action={t.createSubmit}
      isWide
      changes={['applications']}
      act={(form) =>
        unwrap(
          identity.POST('/api/v1/oauth-applications', {
            body: {
              ...readApplication(form),
              ...readBounds(form),
              grantTypes: [...grantTypes[access]],
              authMethod,
            },
          }),
        )
      }
      show={({ application, clientSecret }) => (
        <ShownSecret clientId={application.clientId} secret={clientSecret} onClose={onClose} />
      )}
      onClose={onClose}
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
    </SecretDialog>
  );
}
