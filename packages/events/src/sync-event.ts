import { Type } from 'typebox';
import { v7 as uuidv7 } from 'uuid';
import {
  type Connector,
  connectors,
  DEFAULT_INSTANCE,
  toEventType,
  type SyncEventType,
} from './connectors.js';

const EpochMsText = Type.String({
  pattern: '^[0-9]{1,16}$',
  description: 'Milliseconds since the epoch, as text.',
});

const toContract = (eventType: SyncEventType, ofType: readonly Connector[]) =>
  Type.Object(
    {
      eventId: Type.String({
        format: 'uuid',
        description: 'Unique; consumers drop an id that they have seen.',
      }),
      eventType: Type.Literal(eventType),
      timestamp: Type.Integer({
        minimum: 0,
        description: 'When the crawl completed: milliseconds since the epoch.',
      }),
      payload: Type.Object(
        {
          orgId: Type.String({ minLength: 1 }),
          connector: Type.Enum([...ofType]),
          origin: Type.Literal('CONNECTOR'),
          createdAtTimestamp: EpochMsText,
          updatedAtTimestamp: EpochMsText,
          sourceCreatedAtTimestamp: EpochMsText,
          connectorInstance: Type.Optional(
            Type.String({
              description: 'Which of the connectors of this type, where the organisation has several.',
            }),
          ),
        },
        { additionalProperties: true },
      ),
    },
    {
      $id: `${eventType}.schema.json`,
      title: eventType,
      description: `A crawl of ${ofType.join(' or ')} has completed.`,
      // Consumers must accept unknown fields, so that the contract can grow.
      additionalProperties: true,
    },
  );

const typesInOrder = [...new Set(connectors.map(toEventType))];

/** The contract of each event, by its type. */
export const syncEventContracts = Object.freeze(
  Object.fromEntries(
    typesInOrder.map((type) => [
      type,
      toContract(
        type,
        connectors.filter((name) => toEventType(name) === type),
      ),
    ]),
  ) as Record<SyncEventType, ReturnType<typeof toContract>>,
);

/** The event of a completed crawl: the value of a Kafka message, and an item of the events endpoint. */
export interface SyncEvent {
  /** UUIDv7. */
  readonly eventId: string;
  readonly eventType: SyncEventType;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly payload: {
    readonly orgId: string;
    readonly connector: Connector;
    readonly origin: 'CONNECTOR';
    /** Milliseconds since the epoch, as text; so are the next two. */
    readonly createdAtTimestamp: string;
    readonly updatedAtTimestamp: string;
    readonly sourceCreatedAtTimestamp: string;
    /** Left out for the instance {@link DEFAULT_INSTANCE}. */
    readonly connectorInstance?: string;
  } & Partial<RunFields>;
}

/** The fields of an event about its run, beside the fields of the specification; numbers are text, as the others. */
export interface RunFields {
  readonly runId: string;
  /** After a full run, a consumer deletes what the run has not seen. Left out if nothing was crawled before the event. */
  readonly mode: 'incremental' | 'full';
  /** When the full run started, or the last one before an incremental run. Milliseconds since the epoch. */
  readonly fullStartedAt: string;
  readonly items: string;
  readonly deleted: string;
  readonly failed: string;
  readonly bytes: string;
}

export interface SyncEventInput {
  readonly orgId: string;
  readonly connector: Connector;
  /** Default: {@link DEFAULT_INSTANCE}. */
  readonly instance?: string;
  /** The time at which the crawl completed, in milliseconds since the epoch. */
  readonly now: number;
  /** Default: a new UUIDv7. */
  readonly eventId?: string;
  /** The time at which the crawled source was set up, in milliseconds since the epoch. Default: `now`. */
  readonly sourceCreatedAt?: number;
  readonly run?: {
    readonly id: string;
    readonly mode: RunFields['mode'] | undefined;
    readonly fullStartedAt: number | undefined;
    readonly counters: Readonly<Record<'items' | 'deleted' | 'failed' | 'bytes', number>>;
  };
}

function toRunFields({ id, mode, fullStartedAt, counters }: NonNullable<SyncEventInput['run']>) {
  return {
    runId: id,
    ...(mode !== undefined && { mode }),
    ...(fullStartedAt !== undefined && { fullStartedAt: String(fullStartedAt) }),
    items: String(counters.items),
    deleted: String(counters.deleted),
    failed: String(counters.failed),
    bytes: String(counters.bytes),
  };
}

/** Builds the event of a completed crawl. Pure, except for a generated id. */
export function createSyncEvent(input: SyncEventInput): SyncEvent {
  const { orgId, connector, instance = DEFAULT_INSTANCE, now } = input;
  return {
    eventId: input.eventId ?? uuidv7({ msecs: now }),
    eventType: toEventType(connector),
    timestamp: now,
    payload: {
      orgId,
      connector,
      origin: 'CONNECTOR',
      createdAtTimestamp: String(now),
      updatedAtTimestamp: String(now),
      sourceCreatedAtTimestamp: String(input.sourceCreatedAt ?? now),
      ...(instance !== DEFAULT_INSTANCE && { connectorInstance: instance }),
      ...(input.run && toRunFields(input.run)),
    },
  };
}
