import { Type } from 'typebox';

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
    createdAt: Type.String({ format: 'date-time' }),
    updatedAt: Type.String({ format: 'date-time' }),
  },
  { title: 'MailRecord' },
);
export type MailRecord = Type.Static<typeof MailRecord>;

export const RecordPath = Type.Object({ id: Type.String({ format: 'uuid' }) });
export const RecordAnswer = Type.Object({ data: MailRecord });
