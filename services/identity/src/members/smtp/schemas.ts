import { Type } from 'typebox';

/**
 * How the connection to the SMTP server is secured. `auto` means `implicit` on port 465, and STARTTLS where it is
 * offered on other ports; `starttls` requires STARTTLS; `implicit` is TLS from the first byte; `none` is clear text.
 */
export const tlsModes = ['auto', 'starttls', 'implicit', 'none'] as const;
export type TlsMode = (typeof tlsModes)[number];

/** A host name or IP address without scheme, port, blanks or control characters. */
const Host = Type.String({ minLength: 1, maxLength: 253, pattern: '^[\\p{L}\\p{N}._:-]+$' });
const EmailAddress = Type.String({ maxLength: 254, format: 'email' });
/** Control characters are rejected, because the value becomes part of a line-based protocol. */
const Credential = (maxLength: number, description: string) =>
  Type.String({ minLength: 1, maxLength, pattern: '^\\P{Cc}+$', description });

export const SaveSmtpConfigBody = Type.Object(
  {
    host: Host,
    port: Type.Integer({ minimum: 1, maximum: 65_535, default: 587 }),
    fromEmail: EmailAddress,
    username: Type.Optional(Credential(320, 'Without it, no login is tried.')),
    password: Type.Optional(
      Credential(1_024, 'Never returned. A save replaces the whole configuration, this included.'),
    ),
    tls: Type.Unsafe<TlsMode>({ enum: [...tlsModes], default: 'auto' }),
  },
  { additionalProperties: false },
);
export type SaveSmtpConfigBody = Type.Static<typeof SaveSmtpConfigBody>;

export const SmtpConfig = Type.Object(
  {
    host: Type.String(),
    port: Type.Integer(),
    fromEmail: Type.String(),
    username: Type.Optional(Type.String()),
    tls: Type.Unsafe<TlsMode>({ enum: [...tlsModes] }),
  },
  { title: 'SmtpConfig' },
);
export type SmtpConfig = Type.Static<typeof SmtpConfig>;

export const SmtpConfigResponse = Type.Object({ smtp: SmtpConfig });
export const SavedSmtpConfig = Type.Object({ message: Type.String(), smtp: SmtpConfig });

/** Only the mail service receives the password. */
export const SmtpConfigWithPassword = Type.Object(
  { ...SmtpConfig.properties, password: Type.Optional(Type.String()) },
  { title: 'SmtpConfigWithPassword' },
);
export type SmtpConfigWithPassword = Type.Static<typeof SmtpConfigWithPassword>;

export const OrgQuery = Type.Object(
  { orgId: Type.String({ format: 'uuid' }) },
  { additionalProperties: false },
);
