import { PageQuery } from '@platform/service-kit';
import { Type } from 'typebox';

/** Contains only codes, because the text of an SMTP server may repeat a password. */
export const Failure = Type.Object(
  {
    kind: Type.String({
      description: '`permanent`: the server will never take this mail. `temporary`: it may, later.',
    }),
    code: Type.String(),
    reply: Type.Optional(Type.Integer({ description: 'The SMTP reply code.' })),
    status: Type.Optional(
      Type.String({ description: 'The enhanced status code (RFC 3463), such as `5.1.1`.' }),
    ),
    message: Type.String(),
  },
  { title: 'MailFailure' },
);
export type Failure = Type.Static<typeof Failure>;

export const MailRecord = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    orgId: Type.String({ format: 'uuid' }),
    subject: Type.String(),
    from: Type.String(),
    to: Type.Array(Type.String()),
    cc: Type.Array(Type.String()),
    refused: Type.Array(Type.String(), { description: 'Recipients that the SMTP server refused.' }),
    emailTemplateType: Type.String(),
    state: Type.String({ description: '`pending`, `sent`, `failed` or `unknown`: it may have arrived.' }),
    canResend: Type.Boolean({
      description: 'Whether it failed or is unknown, and can be sent again as it was.',
    }),
    failure: Type.Union([Failure, Type.Null()], {
      description: 'Why it failed or is unknown, where that is known.',
    }),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time' }),
  },
  { title: 'MailRecord' },
);
export type MailRecord = Type.Static<typeof MailRecord>;

export const RecordPath = Type.Object({ id: Type.String({ format: 'uuid' }) });
export const RecordResponse = Type.Object({ data: MailRecord });

const Recipient = Type.String({ minLength: 3, maxLength: 320, description: 'An address in To or Cc.' });

export const RecordQuery = Type.Object(
  {
    ...PageQuery.properties,
    state: Type.Optional(
      Type.Enum(['sent', 'failed', 'unknown', 'pending', 'any'], { description: 'Default `sent`.' }),
    ),
    recipient: Type.Optional(Recipient),
    emailTemplateType: Type.Optional(Type.String({ maxLength: 100 })),
    since: Type.Optional(Type.String({ format: 'date-time' })),
    until: Type.Optional(Type.String({ format: 'date-time', description: 'Not included.' })),
  },
  { additionalProperties: false },
);
export type RecordQuery = Type.Static<typeof RecordQuery>;

export const ErasureQuery = Type.Object({ recipient: Recipient }, { additionalProperties: false });
export const ErasureResponse = Type.Object({
  message: Type.String(),
  deleted: Type.Integer({ description: 'Mails to this recipient alone.' }),
  changed: Type.Integer({ description: 'Mails to others as well: they keep everything but the address.' }),
  pending: Type.Integer({ description: 'Mails under way: the recipient is erased as soon as they end.' }),
});
