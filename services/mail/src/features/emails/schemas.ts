import { givenInstant } from '@platform/service-kit';
import { Type } from 'typebox';
import { languages, noticeCodes } from '../../generated/templates.js';
import { tlsModes } from '../smtp-configuration/configuration.js';
import { documentTemplates } from '../templates/sources.js';
import { internalTemplateTypes, templateTypes } from '../templates/template-types.js';

/** The decoded size of all attachments of one mail together. */
export const MAX_ATTACHMENT_BYTES = 25 * 1_048_576;
const MAX_RECIPIENTS = 50;
const MAX_ATTACHMENTS = 10;

/** Leaves room for the attachments in base64, and 1 MiB for everything else. */
export const MAX_SEND_BODY_BYTES = Math.ceil(MAX_ATTACHMENT_BYTES / 3) * 4 + 1_048_576;

/** Control characters, and the direction overrides that display `exe.fdp` as `pdf.exe`. */
export const FORBIDDEN_IN_NAME = String.raw`\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069`;
const TOKEN = String.raw`[\w!#$%&'*+.^\u0060|~-]+`;
/** A media type with its parameters (RFC 9110 §8.3.1). */
export const MEDIA_TYPE = String.raw`^${TOKEN}/${TOKEN}( *; *${TOKEN}=(${TOKEN}|"[\w !#-[\]-~]*"))*$`;
const BASE64 = '^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}(==)?|[A-Za-z0-9+/]{3}=?)?$';

// The content has no length or pattern here, because each would scan 35 MB in one turn. `attachments.ts` checks it.
const Attachment = Type.Object(
  {
    filename: Type.String({
      minLength: 1,
      maxLength: 255,
      'x-documented': {
        pattern: `^[^${FORBIDDEN_IN_NAME}]*$`,
        not: { pattern: String.raw`=\?[^?]*\?[BQbq]\?[^?]*\?=` },
      },
    }),
    content: Type.String({
      description: 'Base64 (RFC 4648 §4). At most 25 MiB for all attachments, decoded.',
      'x-documented': { pattern: BASE64 },
    }),
    contentType: Type.String({
      minLength: 1,
      maxLength: 255,
      description:
        'Such as `text/plain`. `multipart` types are refused. A `message` with 8-bit text or long lines is sent as `application/octet-stream`.',
      'x-documented': { pattern: MEDIA_TYPE, not: { pattern: '^[Mm][Uu][Ll][Tt][Ii][Pp][Aa][Rr][Tt]/' } },
    }),
  },
  { additionalProperties: false },
);
/** A long content is not copied into a string: it stays a part of the body's bytes. */
export type Attachment = Omit<Type.Static<typeof Attachment>, 'content'> & {
  readonly content: string | Buffer;
};

const Address = Type.String({
  format: 'email',
  maxLength: 254,
  description: 'At most 64 bytes before the `@`, and a domain name, which may be an international one.',
});
/** The languages of the templates (RFC 5646). */
const language = Type.Optional(
  Type.Enum([...languages], {
    description: "Default: the language of the organisation's mails, or else English.",
  }),
);
const TemplateType = Type.Enum([...templateTypes]);
const templateData = {
  examples: [{ userName: 'Ada', companyName: 'Example', otp: '493817' }],
  type: 'object',
  additionalProperties: true,
  description:
    'Values of the template: `userName`, `companyName`, `otp`, `resetLink`, `inviteLink` and others; see the README. Null and blank texts count as missing, and links have to be URLs.',
} as const;
const TemplateData = Type.Unsafe<Record<string, unknown>>(templateData);
const productName = Type.Optional(
  Type.String({
    format: 'display-name',
    maxLength: 200,
    description: "The name of the product, in place of the brand's name.",
  }),
);

export const MailBody = Type.Object(
  {
    emailTemplateType: TemplateType,
    sendEmailTo: Type.Array(Address, { minItems: 1, maxItems: MAX_RECIPIENTS }),
    subject: Type.String({ format: 'line', maxLength: 500 }),
    templateData: TemplateData,
    sendCcTo: Type.Optional(Type.Array(Address, { maxItems: MAX_RECIPIENTS })),
    attachments: Type.Optional(Type.Array(Attachment, { maxItems: MAX_ATTACHMENTS })),
    fromEmailDomain: Type.Optional(
      Type.String({
        format: 'domain',
        maxLength: 253,
        description: "Replaces the domain of the configured sender's address.",
      }),
    ),
    productName,
    language,
    isAutoEmail: Type.Optional(
      Type.Boolean({ description: 'Sets `Auto-Submitted: auto-generated` (RFC 3834).' }),
    ),
  },
  {
    additionalProperties: false,
    title: 'MailBody',
    'x-documented': { allOf: documentTemplates() },
  },
);
export type MailBody = Type.Static<typeof MailBody>;

const Secret = Type.Optional(Type.String({ maxLength: 32_768 }));

const given = { minLength: 1, maxLength: 32_768 };
/** What `oauth.ts` requires of each provider. */
const documentedProviders = Object.entries({
  microsoft: {
    required: ['tenant', 'clientId'],
    properties: { tenant: { ...given, pattern: '^[A-Za-z0-9.-]+$' }, clientId: given },
    anyOf: ['clientSecret', 'certificate'].map((name) => ({
      required: [name],
      properties: { [name]: given },
    })),
  },
  google: { required: ['serviceAccountKey'], properties: { serviceAccountKey: given } },
  custom: {
    required: ['tokenUrl', 'clientId', 'refreshToken'],
    properties: {
      tokenUrl: { ...given, pattern: String.raw`^[Hh][Tt][Tt][Pp][Ss]?://[^\s/\\?#]` },
      clientId: given,
      refreshToken: given,
    },
  },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
}).map(([provider, then]) => ({ if: { properties: { provider: { const: provider } } }, then }));

/** How access tokens are obtained. Identity's configuration manager documents and checks it. */
const SmtpAuth = Type.Object(
  {
    type: Type.Literal('oauth2'),
    provider: Type.Enum(['microsoft', 'google', 'custom']),
    tenant: Type.Optional(Type.String()),
    clientId: Type.Optional(Type.String()),
    tokenUrl: Type.Optional(Type.String({ description: 'A URL.' })),
    scope: Type.Optional(Type.String()),
    clientSecret: Secret,
    certificate: Secret,
    serviceAccountKey: Type.Optional(
      Type.String({ maxLength: 32_768, description: 'JSON with `client_email` and `private_key`.' }),
    ),
    refreshToken: Secret,
  },
  { additionalProperties: false, 'x-documented': { allOf: documentedProviders } },
);

/** Control characters would end a line of the protocol. */
const PLAIN = String.raw`^[^\u0000-\u001f\u007f-\u009f]*$`;

const smtpProperties = {
  host: Type.String({
    'x-documented': { pattern: String.raw`^[^\s\u0000-\u001f\u007f-\u009f]+$`, maxLength: 253 },
  }),
  port: Type.Integer({ 'x-documented': { minimum: 1, maximum: 65_535 } }),
  fromEmail: Type.String({ 'x-documented': { format: 'email', maxLength: 254 } }),
  username: Type.Optional(Type.String({ 'x-documented': { pattern: PLAIN, maxLength: 1_024 } })),
  password: Type.Optional(Type.String({ 'x-documented': { pattern: PLAIN, maxLength: 4_096 } })),
  auth: Type.Optional(SmtpAuth),
  tls: Type.String({ 'x-documented': { enum: [...tlsModes] } }),
};
const smtpOptions = {
  additionalProperties: false,
  'x-documented': {
    if: { required: ['auth'] },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    then: {
      required: ['username'],
      properties: {
        username: { minLength: 1 },
      },
    },
    allOf: [
      {
        if: { required: ['password'], properties: { password: { minLength: 1 } } },
        // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
        then: { required: ['username'], properties: { username: { minLength: 1 } } },
      },
    ],
  },
};

/** A configuration to send the mail through, instead of the organisation's current one. `configuration.ts` checks it. */
export const SmtpSnapshot = Type.Object(smtpProperties, smtpOptions);
/** The same, to be tested. */
export const TestedSmtp = Type.Object(smtpProperties, {
  ...smtpOptions,
  description: 'A configuration as identity stores one, with its secrets.',
});

export type SmtpSnapshot = Type.Static<typeof SmtpSnapshot>;

export const InternalMailBody = Type.Object(
  {
    orgId: Type.String({ format: 'uuid' }),
    ...MailBody.properties,
    emailTemplateType: Type.Enum([...internalTemplateTypes]),
    templateData: Type.Unsafe<Record<string, unknown>>({
      ...templateData,
      properties: {
        notice: Type.Enum([...noticeCodes], {
          description:
            'What the mail reports. The texts of each language put it, and the other values, into words.',
        }),
      },
    }),
    subject: Type.Optional(
      Type.String({
        format: 'line',
        maxLength: 500,
        description: 'Default: that of the template, in the language of the mail.',
      }),
    ),
    smtp: Type.Optional(SmtpSnapshot),
    expiresAt: Type.Optional(
      Type.String({
        ...givenInstant,
        description: 'The mail is not tried any more then; a week from now at most. Default: 24 hours.',
      }),
    ),
  },
  { additionalProperties: false, title: 'InternalMailBody' },
);
export type InternalMailBody = Type.Static<typeof InternalMailBody>;
/** The part of a request that describes the mail, and is the same for the public and the internal route. */
export type EmailContent = Omit<InternalMailBody, 'orgId' | 'smtp' | 'expiresAt' | 'attachments'> & {
  readonly attachments?: readonly Attachment[];
};

export const SendEmailResponse = Type.Object({
  data: Type.Object({
    status: Type.Boolean(),
    data: Type.String({ description: 'A confirmation; it names the recipients that the server refused.' }),
  }),
});

/** The response to clients that prefer not to wait for the SMTP server (RFC 7240). */
export const EmailAcceptedResponse = Type.Object(
  {
    data: Type.Object({
      status: Type.Boolean(),
      data: Type.String(),
      id: Type.String({
        format: 'uuid',
        description: 'The id of the record that shows the outcome of the mail.',
      }),
    }),
  },
  { description: 'The mail is stored, and is tried until it expires; `Location` is its record.' },
);

export const PreviewBody = Type.Object(
  { emailTemplateType: TemplateType, templateData: TemplateData, productName, language },
  {
    additionalProperties: false,
    title: 'PreviewBody',
    'x-documented': { allOf: documentTemplates() },
  },
);
export type PreviewBody = Type.Static<typeof PreviewBody>;

export const PreviewResponse = Type.Object({
  subject: Type.String(),
  html: Type.String(),
  text: Type.String(),
});
