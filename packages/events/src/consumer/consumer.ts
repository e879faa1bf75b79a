import { type Logger, withSpan } from '@platform/service-kit';
import { Kafka, type KafkaConfig, type KafkaMessage, logLevel } from 'kafkajs';
import { InvalidEventError, parseSyncEvent } from '../parse-event.js';
import { createQuietLog } from '../quiet-kafka-log.js';
import { DEFAULT_TOPIC } from '../relay/options.js';
import type { SyncEvent } from '../sync-event.js';
import { createDedupe, type Dedupe } from './dedupe.js';

/** A message that is not a sync event; it is passed to `onInvalid` and then skipped. */
export interface InvalidMessage {
  readonly reason: string;
  readonly partition: number;
  readonly message: KafkaMessage;
}

export interface SyncEventConsumerOptions {
  readonly kafka: Pick<KafkaConfig, 'brokers' | 'clientId' | 'ssl' | 'sasl'>;
  /** Consumers of one group share the partitions. */
  readonly groupId: string;
  /** Default `sync-events`. */
  readonly topic?: string;
  /** Whether a new group begins with the oldest event that Kafka keeps. Default true. */
  readonly isFromBeginning?: boolean;
  /**
   * Called in order per key, and once per event id as far as `dedupe` remembers. After a rejection it is called again for
   * the same event until it succeeds; nothing behind it in its partition is read meanwhile. It must finish within 30 s.
   */
  readonly handle: (event: SyncEvent) => Promise<void> | void;
  /** Should store or count the message. It is called again after a rejection. */
  readonly onInvalid: (invalid: InvalidMessage) => Promise<void> | void;
  readonly dedupe?: Dedupe;
  readonly log?: Pick<Logger, 'debug'>;
}

/** Creates a consumer, which does nothing before `start`. */
export function createSyncEventConsumer(options: SyncEventConsumerOptions) {
  const { handle, onInvalid, topic = DEFAULT_TOPIC, dedupe = createDedupe() } = options;
  const log = options.log ?? { debug: () => undefined };
  const kafka = new Kafka({ ...options.kafka, logLevel: logLevel.WARN, logCreator: createQuietLog(log) });
  const consumer = kafka.consumer({
    groupId: options.groupId,
    // `stop` waits for the request in progress.
    maxWaitTimeInMs: 1_000,
    // After these the consumer restarts, and the retries with it, so that no event is ever skipped.
    retry: { initialRetryTime: 200, maxRetryTime: 5_000, retries: 5 },
  });
  return {
    /** @throws when no broker answers or the topic is missing; later faults are retried. */
    async start(): Promise<void> {
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: options.isFromBeginning ?? true });
      await consumer.run({
        eachMessage: async ({ partition, message }) => {
          const event = parse(message);
          if (event instanceof InvalidEventError)
            return onInvalid({ reason: event.message, partition, message });
          if (dedupe.has(event.eventId)) return;
          const attributes = { 'messaging.system': 'kafka', 'messaging.destination.name': topic };
          const parent = message.headers?.traceparent?.toString();
          await withSpan({ name: `process ${topic}`, parent, attributes }, async () => handle(event));
          dedupe.add(event.eventId);
        },
      });
    },

    /** Finishes the current event and commits the offsets of the handled ones. */
    stop: (): Promise<void> => consumer.disconnect(),
  };
}

/** Reads sync events from Kafka. */
export type SyncEventConsumer = ReturnType<typeof createSyncEventConsumer>;

function parse({ value }: KafkaMessage): SyncEvent | InvalidEventError {
  try {
    return parseSyncEvent(value);
  } catch (error) {
    if (error instanceof InvalidEventError) return error;
    throw error;
  }
}
