import { Type } from 'typebox';

export const SyncEvent = Type.Object(
  {
    eventId: Type.String(),
    eventType: Type.String(),
    timestamp: Type.Integer(),
    payload: Type.Record(Type.String(), Type.String()),
  },
  { title: 'SyncEvent' },
);
