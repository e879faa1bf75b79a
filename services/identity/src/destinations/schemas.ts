import { type FactType, factTypes } from '@platform/events';
import { HTTP_URL_PATTERN, ListPageOf, ListQuery, SECRET_HEADER_PATTERN } from '@platform/service-kit';
import { Type } from 'typebox';
import { upstreamFaultKinds } from '../base/egress/faults.js';
import { attemptFaults, type AttemptFault } from './send.js';

const OrNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });
const Id = Type.String({ format: 'uuid' });
const Instant = Type.String({ format: 'date-time' });
const strict = { additionalProperties: false };

const Form = Type.Enum(['webhook', 'logs'], {
  description:
    '`webhook`: a request for each fact, signed as Standard Webhooks prescribes, in no promised order. `logs`: batches as OTLP/HTTP logs in JSON, in order.',
});
const Url = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description: 'Where the requests go, such as `https://collector.example/v1/logs`.',
  'x-documented': { pattern: HTTP_URL_PATTERN },
});
const Description = Type.String({ maxLength: 200, format: 'display-text' });
const FactTypes = Type.Array(Type.Enum(Object.keys(factTypes) as FactType[]), {
  maxItems: 50,
  description:
    'The types of facts that are sent, as `types` of `GET /api/v1/events` has them: `audit.entry` stands for every entry of the audit. Empty for all.',
});
const Credential = Type.Object(
  {
    header: Type.String({
      pattern: SECRET_HEADER_PATTERN,
      description: 'Such as `authorization`.',
    }),
    value: Type.String({
      minLength: 1,
      maxLength: 4_096,
      pattern: '^[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$',
      description: 'The whole value of the header, such as `Bearer …`. Never returned.',
    }),
  },
  { ...strict, description: 'With `logs`: what the receiver knows the platform by.' },
);

export const CreateDestinationBody = Type.Object(
  {
    form: Form,
    url: Url,
    description: Type.Optional(Description),
    types: Type.Optional(FactTypes),
    credential: Type.Optional(Credential),
    isEnabled: Type.Optional(Type.Boolean()),
  },
  strict,
);
export type CreateDestinationBody = Type.Static<typeof CreateDestinationBody>;

export const ChangeDestinationBody = Type.Object(
  {
    url: Type.Optional(Url),
    description: Type.Optional(Description),
    types: Type.Optional(FactTypes),
    credential: Type.Optional(OrNull(Credential)),
    isEnabled: Type.Optional(Type.Boolean()),
  },
  { ...strict, minProperties: 1 },
);
export type ChangeDestinationBody = Type.Static<typeof ChangeDestinationBody>;

export const DestinationPath = Type.Object({ id: Id });
export const DeliveryPath = Type.Object({ id: Id, deliveryId: Id });

export const Destination = Type.Object(
  {
    id: Id,
    form: Type.String(),
    url: Type.String(),
    description: Type.String(),
    types: Type.Array(Type.String()),
    credentialHeader: OrNull(Type.String()),
    isEnabled: Type.Boolean(),
    disabledReason: OrNull(
      Type.String(),
      '`failing`: it accepted nothing for five days. `gone`: it answered 410. Null when an administrator disabled it.',
    ),
    failingSince: OrNull(
      Instant,
      'Since when it has accepted nothing; null when it accepted the last request.',
    ),
    previousSecretUntil: OrNull(Instant, 'Until when the secret that was replaced last signs, too.'),
    createdAt: Instant,
  },
  { title: 'Destination' },
);
export type Destination = Type.Static<typeof Destination>;
export const DestinationAnswer = Type.Object({ destination: Destination });
export const DestinationPage = ListPageOf(Destination);

const Secret = Type.String({ description: '`whsec_…`: verifies the signatures. It is shown only here.' });
export const CreatedDestination = Type.Object({ destination: Destination, secret: OrNull(Secret) });
export type CreatedDestination = Type.Static<typeof CreatedDestination>;
export const ReplacedSecret = Type.Object({ destination: Destination, secret: Secret });

const Status = OrNull(Type.Integer({ description: 'The HTTP status of the answer.' }));
const Fault = OrNull(
  Type.Unsafe<AttemptFault>({
    type: 'string',
    enum: [...upstreamFaultKinds, ...Object.values(attemptFaults)],
  }),
);
const DurationMs = Type.Integer();

export const TestedDestination = Type.Object({
  isAccepted: Type.Boolean(),
  status: Status,
  fault: Fault,
  durationMs: DurationMs,
});
export type TestedDestination = Type.Static<typeof TestedDestination>;

const DeliveryState = Type.Enum(['waiting', 'delivered', 'failed']);
export const DeliveriesQuery = Type.Object(
  { ...ListQuery.properties, state: Type.Optional(DeliveryState) },
  strict,
);
export type DeliveriesQuery = Type.Static<typeof DeliveriesQuery>;

export const Delivery = Type.Object(
  {
    id: Id,
    factId: OrNull(Id, 'The fact, which is also the `webhook-id`; null for logs.'),
    type: OrNull(Type.String()),
    facts: Type.Integer({ description: 'How many were sent at once.' }),
    state: Type.String({ description: '`waiting` for another attempt, `delivered` or `failed`.' }),
    attempts: Type.Array(Type.Object({ at: Instant, status: Status, fault: Fault, durationMs: DurationMs }), {
      description: 'The last 20, the first one first.',
    }),
    nextAttemptAt: OrNull(Instant),
    createdAt: Instant,
  },
  { title: 'FactDelivery' },
);
export type Delivery = Type.Static<typeof Delivery>;
export const DeliveryPage = ListPageOf(Delivery);
