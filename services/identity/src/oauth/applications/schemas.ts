import { roles } from '@platform/auth';
import { Type } from 'typebox';

const Id = Type.String({ format: 'uuid' });
const Instant = Type.String({ format: 'date-time' });
const NullableInstant = Type.Union([Instant, Type.Null()]);

const grantTypes = ['authorization_code', 'refresh_token', 'client_credentials'] as const;
const authMethods = ['none', 'client_secret_basic', 'private_key_jwt'] as const;

const Name = Type.String({
  minLength: 1,
  maxLength: 100,
  format: 'display-name',
  description: 'With a visible character, without control and bidirectional ones.',
});
const RedirectUris = Type.Array(Type.String({ minLength: 1, maxLength: 2_000 }), {
  maxItems: 20,
  description: '`https:`, or `http:` of a loopback address, where any port is accepted. Compared exactly.',
});
const Scopes = Type.Array(Type.String({ maxLength: 64 }), {
  minItems: 1,
  maxItems: 50,
  description: 'The most that the application can get. There is no default.',
});
const Role = Type.Enum([...roles], {
  description:
    'The role of the service account: `admin` is required for crawls and for administrators’ scopes.',
});
/** A set of public keys (RFC 7517 §5). Private members are refused. */
const Jwks = Type.Object(
  {
    keys: Type.Array(Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }), {
      minItems: 1,
      maxItems: 10,
    }),
  },
  { additionalProperties: false },
);

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
  },
  { additionalProperties: false },
);
export type CreateApplicationBody = Type.Static<typeof CreateApplicationBody>;

export const ChangeApplicationBody = Type.Object(
  {
    name: Type.Optional(Name),
    scopes: Type.Optional(Scopes),
    redirectUris: Type.Optional(RedirectUris),
    jwks: Type.Optional(Jwks),
    role: Type.Optional(Role),
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
