import { canServiceAccountHoldScope, roles } from '@platform/auth';
import { Type } from 'typebox';
import { CreateTokenBody, Id, Instant, RequestedScopes, scopeNames, toScopePattern } from '../schemas.js';

const Name = Type.String({
  minLength: 1,
  maxLength: 100,
  format: 'display-name',
  description: 'With a visible character, without control and bidirectional ones.',
});
const Role = Type.Enum([...roles], {
  description: '`admin` is required for crawls and for administrators’ scopes.',
});

export const CreateAccountBody = Type.Object(
  { name: Name, role: Type.Optional(Role) },
  { additionalProperties: false },
);
export type CreateAccountBody = Type.Static<typeof CreateAccountBody>;

export const ChangeAccountBody = Type.Object(
  { name: Type.Optional(Name), role: Type.Optional(Role) },
  { additionalProperties: false, minProperties: 1 },
);
export type ChangeAccountBody = Type.Static<typeof ChangeAccountBody>;

export const Account = Type.Object(
  {
    id: Id,
    name: Type.String(),
    role: Type.String({ description: '`admin` or `member`.' }),
    clientId: Type.Union([Id, Type.Null()], {
      description: 'The OAuth application that acts as this account; null without one.',
    }),
    createdAt: Instant,
    lastUsedAt: Type.Union([Instant, Type.Null()], {
      description: 'The last use of an access token of the application. Each token has its own.',
    }),
  },
  { title: 'OrganisationServiceAccount' },
);
export type Account = Type.Static<typeof Account>;

const { name, description, allowList, bounds, expiryDays } = CreateTokenBody.properties;
/** What an account can hold depends on its role, too; the refusal says so for each scope. */
const heldScopes = scopeNames.filter((scope) => canServiceAccountHoldScope(scope, 'admin'));
const AccountScopes = Type.Unsafe<string[]>({
  ...RequestedScopes,
  items: Type.String({ maxLength: 64, 'x-documented': { pattern: toScopePattern(heldScopes) } }),
});
/** Unlike a member's own token, one for a service account has no default scopes. */
export const CreateAccountTokenBody = Type.Object(
  { name, description, allowList, bounds, expiryDays, scopes: AccountScopes },
  { additionalProperties: false },
);
export type CreateAccountTokenBody = Type.Static<typeof CreateAccountTokenBody>;

export const AccountPath = Type.Object({ accountId: Id });
