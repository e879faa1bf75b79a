import { canDelegateScope, canServiceAccountHoldScope, type Role, roles } from '@platform/auth';
import { Type } from 'typebox';
import { NamedBounds } from '../../credentials/bounds/bounds.js';
import { MAX_REDIRECT_URI_LENGTH, REDIRECT_URI_PATTERN } from '../provider/client-metadata.js';
import { ScopeName, scopeNames } from '../../tokens/schemas.js';

const Id = Type.String({ format: 'uuid' });
const Instant = Type.String({ format: 'date-time' });
const NullableInstant = Type.Union([Instant, Type.Null()]);

const grantTypes = ['authorization_code', 'refresh_token', 'client_credentials'] as const;
/** The members of a JWK that nobody but its owner may have. */
export const privateMembers = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];
const authMethods = ['none', 'client_secret_basic', 'private_key_jwt'] as const;

const Name = Type.String({
  minLength: 1,
  maxLength: 100,
  format: 'display-name',
  description: 'With a visible character, without control and bidirectional ones.',
});
const RedirectUri = Type.String({
  minLength: 1,
  maxLength: MAX_REDIRECT_URI_LENGTH,
  // The service checks it in its own words.
  'x-documented': { pattern: REDIRECT_URI_PATTERN },
});
const RedirectUris = Type.Array(RedirectUri, {
  maxItems: 20,
  description:
    '`https:` to a valid host, or `http:` of a loopback address, where any port is accepted. Compared exactly.',
});
const Scopes = Type.Array(ScopeName, {
  minItems: 1,
  maxItems: 50,
  description: 'The most that the application can get. There is no default.',
});
const Role = Type.Enum([...roles], {
  description:
    'The role of the service account: `admin` is required for crawls and for administrators’ scopes.',
});
const PublicKey = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  'x-documented': {
    required: ['kty'],
    properties: { kty: { type: 'string', enum: ['EC', 'OKP', 'RSA'] } },
    not: { anyOf: privateMembers.map((name) => ({ required: [name] })) },
  },
});
/** A set of public keys (RFC 7517 §5). Private members are refused. */
const Jwks = Type.Object(
  {
    keys: Type.Array(PublicKey, { minItems: 1, maxItems: 10 }),
  },
  { additionalProperties: false },
);

const contains = (name: string) => ({ contains: { const: name } });
const scopesOf = (isAllowed: (scope: string) => boolean) => ({
  scopes: { items: { enum: scopeNames.filter(isAllowed) } },
});
const isAccountScope = (role: Role) => (scope: string) => canServiceAccountHoldScope(scope, role);
const ownBounds =
  'What the application can be used for when it acts as its service account, beside its scopes. What people allow it is limited at consent instead.';
/** The rules of `assertApplication`, which names each field that is wrong. */
const documentedRules = [
  {
    if: { properties: { grantTypes: contains('authorization_code') } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: {
      required: ['redirectUris'],
      properties: {
        redirectUris: { minItems: 1 },
        ...scopesOf((scope) => canDelegateScope(scope, 'admin')),
      },
    },
    else: {
      properties: { grantTypes: { not: contains('refresh_token') }, redirectUris: { maxItems: 0 } },
      if: { properties: { role: { const: 'admin' } }, required: ['role'] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { properties: scopesOf(isAccountScope('admin')) },
      else: { properties: scopesOf(isAccountScope('member')) },
    },
  },
  {
    if: { properties: { authMethod: { const: 'private_key_jwt' } }, required: ['authMethod'] },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { required: ['jwks'] },
    else: { not: { required: ['jwks'] } },
  },
  {
    if: { properties: { authMethod: { const: 'none' } }, required: ['authMethod'] },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: { properties: { grantTypes: { not: contains('client_credentials') } } },
  },
];

export const CreateApplicationBody = Type.Object(
  {
    name: Name,
    grantTypes: Type.Array(Type.Enum([...grantTypes]), { minItems: 1, maxItems: 3 }),
    scopes: Scopes,
    redirectUris: Type.Optional(RedirectUris),
    authMethod: Type.Optional(
      Type.Enum([...authMethods], {
        description:
          'How the application authenticates: `client_secret_basic` (default; the secret may also be posted), `private_key_jwt` with `jwks`, or `none` for a public client, which cannot use client_credentials.',
      }),
    ),
    jwks: Type.Optional(Jwks),
    role: Type.Optional(Role),
    bounds: Type.Optional(
      Type.Unsafe<NamedBounds>({ ...NamedBounds, description: `${ownBounds} Goes with client_credentials.` }),
    ),
  },
  { additionalProperties: false, 'x-documented': { allOf: documentedRules } },
);
export type CreateApplicationBody = Type.Static<typeof CreateApplicationBody>;

export const ChangeApplicationBody = Type.Object(
  {
    name: Type.Optional(Name),
    scopes: Type.Optional(Scopes),
    redirectUris: Type.Optional(RedirectUris),
    jwks: Type.Optional(Jwks),
    role: Type.Optional(Role),
    bounds: Type.Optional(
      Type.Union([NamedBounds, Type.Null()], {
        description: `${ownBounds} Replaces the bounds that it has, for the tokens that it has as well; null ends them.`,
      }),
    ),
    isDisabled: Type.Optional(
      Type.Boolean({
        description: 'True ends all tokens of the application at once, until it is enabled again.',
      }),
    ),
  },
  { additionalProperties: false, minProperties: 1 },
);
export type ChangeApplicationBody = Type.Static<typeof ChangeApplicationBody>;

const ApplicationSecret = Type.Object(
  { id: Id, createdAt: Instant, lastUsedAt: NullableInstant },
  { title: 'OAuthApplicationSecret' },
);

const ServiceAccount = Type.Object(
  {
    id: Id,
    name: Type.String(),
    role: Type.String({ description: '`admin` or `member`.' }),
    createdAt: Instant,
    lastUsedAt: NullableInstant,
  },
  { title: 'ServiceAccount' },
);

export const Application = Type.Object(
  {
    clientId: Id,
    name: Type.String(),
    grantTypes: Type.Array(Type.String()),
    scopes: Type.Array(Type.String()),
    redirectUris: Type.Array(Type.String()),
    authMethod: Type.String(),
    jwks: Type.Union([Jwks, Type.Null()]),
    secrets: Type.Array(ApplicationSecret),
    serviceAccount: Type.Union([ServiceAccount, Type.Null()], {
      description: 'The account that client_credentials acts as; null without that grant type.',
    }),
    createdAt: Instant,
    lastUsedAt: NullableInstant,
    isDisabled: Type.Boolean(),
    bounds: Type.Union([NamedBounds, Type.Null()], { description: ownBounds }),
  },
  { title: 'OAuthApplication' },
);
export type Application = Type.Static<typeof Application>;

const Secret = Type.String({ description: 'Shown this once.' });
export const CreatedApplication = Type.Object(
  {
    message: Type.String(),
    application: Application,
    clientSecret: Type.Union([Secret, Type.Null()], {
      description: 'Shown this once; null without a secret.',
    }),
  },
  { title: 'CreatedOAuthApplication' },
);
export const CreatedSecret = Type.Object(
  { message: Type.String(), secret: ApplicationSecret, clientSecret: Secret },
  { title: 'CreatedOAuthApplicationSecret' },
);

export const ApplicationPath = Type.Object({ clientId: Id });
export const SecretPath = Type.Object({ clientId: Id, secretId: Id });
