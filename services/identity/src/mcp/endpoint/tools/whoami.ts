import { hasScope } from '@platform/auth';
import { Type } from 'typebox';
import { callerFields, toCallerFields } from '../../../members/members/schemas.js';
import { READ_ONLY, type Tool } from '../tool.js';

const outputSchema = Type.Object({
  ...callerFields,
  organisation: Type.Object({ id: Type.String(), name: Type.String() }),
  credential: Type.Object({
    kind: Type.String({ description: '`session`, `pat` (personal access token) or `oauth` (access token).' }),
    scopes: Type.Union([Type.Array(Type.String()), Type.Null()], {
      description: 'Null for a session: it has no scopes.',
    }),
    expiresAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'Null: never.',
    }),
  }),
});

export const whoami = (findOrganisationName: (id: string) => Promise<string>): Tool => ({
  name: 'whoami',
  title: 'Who am I',
  description:
    'Tells whose account you act for, in which organisation, and what the credential allows: the user (id, e-mail, full name, role) or the service account, the organisation, and the kind, scopes and expiry (ISO 8601, UTC) of the credential. Use it first, when unsure what you may do. Takes no arguments and changes nothing.',
  inputSchema: Type.Object({}, { additionalProperties: false }),
  outputSchema,
  annotations: READ_ONLY,
  scopes: ['user:read'],
  isAdminOnly: false,
  async call(_args, { principal }) {
    const { orgId: id, kind, grantedScopes, expiresAt } = principal;
    return {
      ...toCallerFields(principal),
      organisation: { id, name: await findOrganisationName(id) },
      credential: {
        kind,
        // Only the effective scopes: the tokens of a demoted administrator lose some.
        scopes: kind === 'session' ? null : [...grantedScopes].filter((scope) => hasScope(principal, scope)),
        expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
      },
    };
  },
});
