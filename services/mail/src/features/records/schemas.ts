import { givenInstant, SearchQuery } from '@platform/service-kit';
import { Type } from 'typebox';

/** Contains only codes, because the text of an SMTP server may repeat a password. */
export const Failure = Type.Object(
  {
    kind: Type.String({
      description:
        '`permanent`: the server will never accept this mail. `temporary`: it may accept it later.',
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

const MailRecipient = Type.Object(
  {
    address: Type.String(),
    outcome: Type.String({
      description:
        '`accepted` by the SMTP server; `refused` by it for good; `deferred`: it is tried again; `suppressed`: left out, because earlier mails to it were refused; `pending`, `failed` or `unknown` like the mail.',
    }),
    status: Type.Optional(
      Type.String({ description: 'The enhanced status code (RFC 3463), or else the SMTP reply code.' }),
    ),
  },
  { title: 'MailRecipient' },
);

export const MailRecord = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    orgId: Type.String({ format: 'uuid' }),
    subject: Type.String(),
    from: Type.String(),
    to: Type.Array(Type.String()),
    cc: Type.Array(Type.String()),
    recipients: Type.Array(MailRecipient),
    refused: Type.Array(Type.String(), { description: 'Recipients that the SMTP server refused.' }),
    emailTemplateType: Type.String(),
    state: Type.String({
      description: '`queued`, `sending`, `sent`, `failed`, or `unknown` when the mail may have arrived.',
    }),
    canResend: Type.Boolean({
      description: 'Whether the mail failed or is unknown, and can be sent again unchanged.',
    }),
    failure: Type.Union([Failure, Type.Null()], {
      description: 'Why the last attempt failed, or its outcome is unknown, when there is a reason.',
    }),
    attempts: Type.Integer(),
    unknownAttempts: Type.Integer({
      description: 'Attempts after which the mail may have arrived. It may have arrived more than once.',
    }),
    nextAttemptAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
    expiresAt: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When a mail without an outcome is not tried any more.',
    }),
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time' }),
  },
  { title: 'MailRecord' },
);
export type MailRecord = Type.Static<typeof MailRecord>;

export const RecordResponse = Type.Object({ data: MailRecord });

export const ContentResponse = Type.Object({
  data: Type.Union(
    [
      Type.Object(
        { html: Type.String(), text: Type.String() },
        { title: 'MailContent', description: 'Without codes, links and attachments, which are not kept.' },
      ),
      Type.Null(),
    ],
    { description: 'Null when the content is not kept, or no longer.' },
  ),
});
export type MailContent = Type.Static<typeof ContentResponse>['data'];

const Recipient = Type.String({ minLength: 3, maxLength: 320, description: 'An address in To or Cc.' });

export const RecordQuery = Type.Object(
  {
    ...SearchQuery.properties,
    q: Type.Optional(
      Type.Unsafe<string>({
        ...SearchQuery.properties.q,
        description: 'Part of the subject, or of an address in To or Cc, in any case.',
      }),
    ),
    state: Type.Optional(
      Type.Enum(['sent', 'failed', 'unknown', 'queued', 'sending', 'any'], {
        description: 'Default `sent`.',
      }),
    ),
    recipient: Type.Optional(Recipient),
    emailTemplateType: Type.Optional(Type.String({ maxLength: 100 })),
    since: Type.Optional(Type.String(givenInstant)),
    until: Type.Optional(
      Type.String({ ...givenInstant, description: 'The end of the period, which is not included.' }),
    ),
  },
  { additionalProperties: false },
);
export type RecordQuery = Type.Static<typeof RecordQuery>;

export const ErasureQuery = Type.Object({ recipient: Recipient }, { additionalProperties: false });
export const ErasureResponse = Type.Object({
  message: Type.String(),
  deleted: Type.Integer({ description: 'Deleted mails, which had no other recipients.' }),
  changed: Type.Integer({ description: 'Mails with other recipients, which lost only this address.' }),
  pending: Type.Integer({
    description:
      'Mails without an outcome, which are not sent to the recipient any more, and erased after that.',
  }),
});
