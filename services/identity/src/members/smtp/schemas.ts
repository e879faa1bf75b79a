import { HTTP_URL_PATTERN } from '@platform/service-kit';
import { type TSchema, Type } from 'typebox';

/**
 * How the connection to the SMTP server is secured. `auto` means `implicit` on port 465, and STARTTLS on other ports:
 * required with a user name, and otherwise where it is offered; `starttls` requires STARTTLS; `implicit` is TLS from the first
 * byte; `none` is clear text.
 */
export const tlsModes = ['auto', 'starttls', 'implicit', 'none'] as const;
export type TlsMode = (typeof tlsModes)[number];

/** A host name or IP address without scheme, port, blanks or control characters. */
const Host = Type.String({
  minLength: 1,
  maxLength: 253,
  pattern: '^[\\p{L}\\p{N}._:-]+$',
  'x-documented': { pattern: '^[A-Za-z0-9._:-]+$' },
});
const EmailAddress = Type.String({ maxLength: 254, format: 'email' });
/** Control characters are rejected, because the value becomes part of a line-based protocol. */
const Credential = (maxLength: number, description: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: '^\\P{Cc}+$',
    'x-documented': { pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]+$' },
    description,
  });

const providers = ['microsoft', 'google', 'custom'] as const;
export type SmtpAuthProvider = (typeof providers)[number];

const VISIBLE = '^[\\x21-\\x7e]+$';
const authFields = {
  type: Type.Literal('oauth2'),
  provider: Type.Unsafe<SmtpAuthProvider>({ enum: [...providers] }),
  tenant: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 253,
      pattern: '^[A-Za-z0-9.-]+$',
      description: '`microsoft`: the id of the tenant, or one of its domains.',
    }),
  ),
  clientId: Type.Optional(
    Type.String({ minLength: 1, maxLength: 512, pattern: VISIBLE, description: '`microsoft`, `custom`.' }),
  ),
  tokenUrl: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 2_048,
      pattern: VISIBLE,
      description: '`custom`: the token endpoint. https.',
      'x-documented': { pattern: HTTP_URL_PATTERN },
    }),
  ),
  scope: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_024,
      pattern: '^[\\x20-\\x7e]+$',
      description: '`custom`: sent with each request for a token. Optional.',
    }),
  ),
};

/** How access tokens are obtained, with which mail signs in by XOAUTH2. Its secrets are never returned. */
export const SmtpAuth = Type.Object(
  {
    ...authFields,
    certificateExpiresAt: Type.Optional(Type.String({ format: 'date-time' })),
    serviceAccount: Type.Optional(Type.String({ description: '`google`: its e-mail address.' })),
    hasClientSecret: Type.Optional(
      Type.Boolean({ description: '`custom`: whether the client has a secret.' }),
    ),
  },
  { title: 'SmtpAuth' },
);
export type SmtpAuth = Type.Static<typeof SmtpAuth>;

/** Which fields belong to which provider. `auth.ts` checks it, and names each field that is wrong. */
export const fieldsOfProvider = {
  microsoft: { required: ['tenant', 'clientId'], optional: ['clientSecret', 'certificate'] },
  google: { required: ['serviceAccountKey'], optional: [] },
  custom: { required: ['tokenUrl', 'clientId', 'refreshToken'], optional: ['clientSecret', 'scope'] },
} as const;
const readNames: readonly string[] = ['certificateExpiresAt', 'serviceAccount', 'hasClientSecret'];
const secretNames: readonly string[] = ['clientSecret', 'certificate', 'serviceAccountKey', 'refreshToken'];
const isText = { type: 'string' };
const documentedProviders = providers.map((provider) => {
  const { required, optional } = fieldsOfProvider[provider];
  return {
    if: { properties: { provider: { const: provider } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: {
      required: required.filter((field) => !secretNames.includes(field)),
      propertyNames: { enum: ['type', 'provider', ...required, ...optional, ...readNames] },
      ...(provider === 'microsoft' && {
        not: {
          required: ['clientSecret', 'certificate'],
          properties: { clientSecret: isText, certificate: isText },
        },
      }),
    },
  };
});

const secretFields = {
  clientSecret: Type.String({
    minLength: 1,
    maxLength: 1_024,
    pattern: VISIBLE,
    description: '`microsoft` (or `certificate`); `custom`, where the client has one.',
  }),
  certificate: Type.String({
    minLength: 1,
    maxLength: 32_768,
    description: '`microsoft`: a certificate and its private key, unencrypted (PEM).',
  }),
  serviceAccountKey: Type.String({
    minLength: 1,
    maxLength: 16_384,
    description: '`google`: the JSON file of a key of the service account.',
  }),
  refreshToken: Type.String({ minLength: 1, maxLength: 8_192, pattern: VISIBLE, description: '`custom`.' }),
};
export type SmtpAuthSecret = keyof typeof secretFields;
const OrNull = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));

const READ_ONLY = 'As `GET` returns it; ignored.';
/** What was read can be sent back. */
const readFields = {
  certificateExpiresAt: Type.Optional(Type.String({ description: READ_ONLY })),
  serviceAccount: Type.Optional(Type.String({ description: READ_ONLY })),
  hasClientSecret: Type.Optional(Type.Boolean({ description: READ_ONLY })),
};

/** As an administrator gives it. A secret that is left out is kept; null deletes it. */
export const GivenSmtpAuth = Type.Object(
  {
    ...authFields,
    ...readFields,
    clientSecret: OrNull(secretFields.clientSecret),
    certificate: OrNull(secretFields.certificate),
    serviceAccountKey: OrNull(secretFields.serviceAccountKey),
    refreshToken: OrNull(secretFields.refreshToken),
  },
  {
    additionalProperties: false,
    title: 'GivenSmtpAuth',
    'x-documented': { allOf: documentedProviders },
  },
);
export type GivenSmtpAuth = Type.Static<typeof GivenSmtpAuth>;

export const SmtpAuthWithSecrets = Type.Object(
  {
    ...authFields,
    clientSecret: Type.Optional(secretFields.clientSecret),
    certificate: Type.Optional(secretFields.certificate),
    serviceAccountKey: Type.Optional(secretFields.serviceAccountKey),
    refreshToken: Type.Optional(secretFields.refreshToken),
  },
  { additionalProperties: false, title: 'SmtpAuthWithSecrets' },
);
export type SmtpAuthWithSecrets = Type.Static<typeof SmtpAuthWithSecrets>;

export const SaveSmtpConfigBody = Type.Object(
  {
    host: Host,
    port: Type.Integer({ minimum: 1, maximum: 65_535, default: 587 }),
    fromEmail: EmailAddress,
    username: Type.Optional(Credential(320, 'Without it, no login is tried.')),
    password: OrNull(
      Credential(
        1_024,
        'Never returned. Left out: stays as it is, which is 400 when the server or the user name changes. Null: there is none.',
      ),
    ),
    auth: Type.Optional(GivenSmtpAuth),
    hasPassword: Type.Optional(Type.Boolean({ description: READ_ONLY })),
    tls: Type.Unsafe<TlsMode>({ enum: [...tlsModes], default: 'auto' }),
  },
  {
    additionalProperties: false,
    'x-documented': {
      dependentRequired: { auth: ['username'] },
      if: { required: ['password'], properties: { password: isText } },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: { required: ['username'], not: { required: ['auth'] } },
    },
  },
);
export type SaveSmtpConfigBody = Type.Static<typeof SaveSmtpConfigBody>;

export const SmtpConfig = Type.Object(
  {
    host: Type.String(),
    port: Type.Integer(),
    fromEmail: Type.String(),
    username: Type.Optional(Type.String()),
    auth: Type.Optional(SmtpAuth),
    tls: Type.Unsafe<TlsMode>({ enum: [...tlsModes] }),
    hasPassword: Type.Boolean(),
  },
  { title: 'SmtpConfig' },
);
export type SmtpConfig = Type.Static<typeof SmtpConfig>;

export const SmtpConfigResponse = Type.Object({ smtp: SmtpConfig });
export const SavedSmtpConfig = Type.Object({ message: Type.String(), smtp: SmtpConfig });

/** Only the mail service receives the secrets. */
export const SmtpConfigWithSecrets = Type.Object(
  {
    ...Type.Omit(SmtpConfig, ['hasPassword']).properties,
    password: Type.Optional(Type.String()),
    auth: Type.Optional(SmtpAuthWithSecrets),
  },
  { title: 'SmtpConfigWithSecrets' },
);
export type SmtpConfigWithSecrets = Type.Static<typeof SmtpConfigWithSecrets>;

export const OrgQuery = Type.Object(
  { orgId: Type.String({ format: 'uuid' }) },
  { additionalProperties: false },
);
