import { Type } from 'typebox';
import { clientKinds, connectionBreaches, connectableByOptions } from './policy.js';

const Id = Type.String({ format: 'uuid' });
const Hosts = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 253, pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$' }), {
    maxItems: 100,
    description,
  });

export const ConnectionPolicyBody = Type.Object(
  {
    clientKinds: Type.Array(Type.Enum([...clientKinds]), {
      maxItems: clientKinds.length,
      description:
        'Which clients may connect: an `application` registered by an administrator, a client that a `document` at a host describes, or a client that `registered` itself.',
    }),
    hosts: Hosts(
      "The hosts, among the operator's allowed ones, whose documents describe clients that may connect. Empty: all.",
    ),
    additionalHosts: Hosts(
      'Further hosts whose documents describe clients that may connect, unless the operator allows no such clients.',
    ),
    connectableBy: Type.Enum([...connectableByOptions], {
      description: 'Who may connect an application. Connections of others end.',
    }),
    maxLifetimeDays: Type.Union([Type.Integer({ minimum: 1, maximum: 90 }), Type.Null()], {
      description: 'How long a connection lasts at most. Null: 90 days.',
    }),
  },
  { additionalProperties: false, title: 'ConnectionPolicy' },
);
export type ConnectionPolicyBody = Type.Static<typeof ConnectionPolicyBody>;

const ConnectionPolicyFields = { policy: ConnectionPolicyBody };
export const ConnectionPolicyAnswer = Type.Object({
  ...ConnectionPolicyFields,
  isRegistrationOpen: Type.Boolean({
    description:
      'Whether the operator lets clients register themselves: otherwise there are none of that kind.',
  }),
});

const AffectedConnection = Type.Object({
  id: Id,
  clientId: Type.String(),
  name: Type.String(),
  userId: Id,
  ownerEmail: Type.String(),
  breaches: Type.Array(Type.Enum([...connectionBreaches])),
});
export type AffectedConnection = Type.Static<typeof AffectedConnection>;

export const SavedConnectionPolicy = Type.Object({
  ...ConnectionPolicyFields,
  endedCount: Type.Integer({ description: 'How many connections ended, or would end.' }),
  ended: Type.Array(AffectedConnection, { description: 'At most the 1,000 newest of them.' }),
});
export type SavedConnectionPolicy = Type.Static<typeof SavedConnectionPolicy>;
