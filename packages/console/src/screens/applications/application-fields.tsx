import { applications as t } from '#text/applications';
import { text } from '#text/shared';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { identity, unwrap } from '../../api/client.ts';
import { forRole, scopesQuery, withChosen } from '../../api/scopes.ts';
import { SelectInput, TextInput } from '../../ui/fields.tsx';
import { BoundsInput } from '../tokens/bounds-input.tsx';
import { type Bounds, describeBounds, readBounds } from '../tokens/bounds.ts';
import { QueryView } from '../../ui/query-view.tsx';
import { readText } from '../../ui/read-form.ts';
import { Permissions } from '../tokens/permissions.tsx';
import { ScopePicker } from '../tokens/scope-picker.tsx';
import { type Access, type Application, type AuthMethod, readKeys, readLines } from './shape.ts';

type Role = keyof typeof text.roles;
const roleOptions = Object.entries(text.roles) as [Role, string][];

interface ApplicationFieldsProps {
  readonly access: Access;
  readonly authMethod: AuthMethod;
  /** Undefined for a new one. */
  readonly application?: Application;
}

/** The fields of an application that can be chosen when it is created, and changed later. */
export function ApplicationFields({ access, authMethod, application }: ApplicationFieldsProps) {
  const groups = useQuery(scopesQuery);
  const [scopes, setScopes] = useState<readonly string[]>(application?.scopes ?? []);
  const [role, setRole] = useState<Role>(application?.serviceAccount?.role === 'admin' ? 'admin' : 'member');
  return (
    <>
      {access !== 'service' && (
        <TextInput
          name="redirectUris"
          label={t.redirectUris}
          hint={t.redirectUrisHint}
          isLong
          isRequired
          defaultValue={application?.redirectUris.join('\n') ?? ''}
        />
      )}
      {authMethod === 'private_key_jwt' && (
        <TextInput
          name="jwks"
          label={t.jwks}
          hint={t.jwksHint}
          isLong
          isRequired
          validate={(value) => (readKeys(value) ? null : t.jwksInvalid)}
          defaultValue={application?.jwks ? JSON.stringify(application.jwks, null, 2) : ''}
        />
      )}
      {access !== 'person' && (
        <SelectInput<Role>
          name="role"
          label={t.role}
          hint={t.roleHint}
          value={role}
          options={roleOptions}
          onChange={setRole}
        />
      )}
      <QueryView query={groups}>
        {(found) => {
          const offered = forRole(found, access === 'service' ? role : 'admin');
          return application ? (
            <ScopePicker
              groups={withChosen(offered, application.scopes, t.otherScopes)}
              chosen={scopes}
              onChange={setScopes}
            />
          ) : (
            <Permissions groups={offered} initial="other" />
          );
        }}
      </QueryView>
      {access !== 'person' && <OwnBounds bounds={application?.bounds ?? {}} />}
    </>
  );
}

/** What the application is limited to when it acts by itself. */
function OwnBounds({ bounds }: { bounds: Bounds }) {
  const choices = useQuery({
    queryKey: ['applications', 'bounds'],
    queryFn: async ({ signal }) =>
      (await unwrap(identity.GET('/api/v1/oauth-applications/bounds', { signal }))).bounds,
  });
  return (
    <QueryView query={choices}>
      {(found) => (
        <>
          <BoundsInput choices={found} bounds={bounds} />
          <input type="hidden" name="offersBounds" />
        </>
      )}
    </QueryView>
  );
}

/** Reads the bounds as far as they were changed; null is none. Where they were not offered, they stay. */
export function readChangedBounds(form: FormData, before: Bounds | null) {
  if (!form.has('offersBounds')) return {};
  const { bounds = null } = readBounds(form);
  return describeBounds(bounds) === describeBounds(before) ? {} : { bounds };
}

/** Reads the fields above but the bounds. */
export function readApplication(form: FormData) {
  const redirectUris = readLines(readText(form, 'redirectUris'));
  const jwks = readKeys(readText(form, 'jwks'));
  const role = readText(form, 'role');
  return {
    name: readText(form, 'name'),
    scopes: form.getAll('scopes').map(String),
    ...(redirectUris.length > 0 && { redirectUris }),
    ...(jwks && { jwks }),
    ...(role !== '' && { role: role as Role }),
  };
}
