import { Type } from 'typebox';

export const AuditEntry = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    action: Type.String({ description: 'What happened, such as `token.revoked`.' }),
    actorId: Type.Union([Type.String(), Type.Null()], {
      description: 'The member who did it; null for the platform.',
    }),
    subjectId: Type.Union([Type.String(), Type.Null()], {
      description: 'The token, member or session it was done to.',
    }),
    reason: Type.Union([Type.String(), Type.Null()]),
    detail: Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
    createdAt: Type.String({ format: 'date-time' }),
  },
  { title: 'AuditEntry' },
);
export type AuditEntry = Type.Static<typeof AuditEntry>;
