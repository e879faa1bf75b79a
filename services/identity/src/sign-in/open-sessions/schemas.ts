import { Type } from 'typebox';

export const OpenSession = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    createdAt: Type.String({ format: 'date-time', description: 'When it was opened.' }),
    expiresAt: Type.String({ format: 'date-time' }),
    address: Type.Union([Type.String(), Type.Null()], {
      description:
        'The IP address that it was opened from; null for a session from before this was recorded.',
    }),
    client: Type.String({
      description: 'The program and system that it was opened with, such as "Firefox on Windows".',
    }),
    current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
  },
  { title: 'OpenSession' },
);
export type OpenSession = Type.Static<typeof OpenSession>;

export const OpenSessionList = Type.Object({ sessions: Type.Array(OpenSession) });

export const SessionPath = Type.Object({ sessionId: Type.String({ format: 'uuid' }) });

export const EndedSessions = Type.Object({
  message: Type.String(),
  endedCount: Type.Integer({ description: 'How many sessions were ended.' }),
});
