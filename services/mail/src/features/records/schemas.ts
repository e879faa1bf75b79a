import { Type } from 'typebox';

/** Codes only: a server's words may repeat a password. */
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
export const RecordAnswer = Type.Object({ data: MailRecord });
