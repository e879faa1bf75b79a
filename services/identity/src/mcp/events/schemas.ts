import { Type } from 'typebox';

const Id = Type.String({ format: 'uuid' });
const Instant = Type.String({ format: 'date-time' });
const InstantOrNull = (description: string) => Type.Union([Instant, Type.Null()], { description });

export const EventSubscription = Type.Object(
  {
    id: Id,
    event: Type.String({ description: 'The type of the events, such as `documents.changed`.' }),
    arguments: Type.Unsafe<Readonly<Record<string, string | number>>>({
      type: 'object',
      additionalProperties: true,
      description: 'What narrows them, such as `{"connector": "wiki_1"}`.',
    }),
    host: Type.String({ description: 'Where they are sent; the rest of the URL is not shown.' }),
    credential: Type.Object({
      kind: Type.String({ description: '`pat` for a token, `oauth` for a connected application.' }),
      name: Type.String(),
    }),
    createdAt: Instant,
    endsAt: Type.String({ format: 'date-time', description: 'When it ends unless its client refreshes it.' }),
    lastDeliveredAt: InstantOrNull(
      'When an event was last accepted; null when none was in the last three days.',
    ),
    failingSince: InstantOrNull('Since when nothing was accepted; null when the last event was.'),
  },
  { title: 'EventSubscription' },
);
export type EventSubscription = Type.Static<typeof EventSubscription>;

export const OwnedEventSubscription = Type.Object(
  {
    ...EventSubscription.properties,
    owner: Type.Object({
      id: Id,
      name: Type.String(),
      email: Type.Union([Type.String(), Type.Null()], { description: 'Null for a service account.' }),
    }),
  },
  { title: 'OwnedEventSubscription' },
);
export type OwnedEventSubscription = Type.Static<typeof OwnedEventSubscription>;

export const EventSubscriptionPath = Type.Object({ id: Id });
