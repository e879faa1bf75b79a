import { type Logger, withSpan } from '@platform/service-kit';
import { Kafka, type KafkaConfig, type KafkaMessage, logLevel } from 'kafkajs';
import { InvalidEventError, parseSyncEvent } from '../parse-event.js';
import { createQuietLog } from '../quiet-kafka-log.js';
import { DEFAULT_TOPIC } from '../relay/options.js';
import type { SyncEvent } from '../sync-event.js';
import { createDedupe, type Dedupe } from './dedupe.js';

/** A message that is no sync event; it is handed over and then passed by. */
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
  /** Where a group that has never read begins. Default true: with the oldest event that Kafka keeps. */
  readonly isFromBeginning?: boolean;
  /**
   * Called in order per key, once per event id as far as `dedupe` remembers. A rejection has it called again for the
   * same event, until it succeeds; nothing behind it in its partition is read meanwhile. To be done in 30 s.
   */
  readonly handle: (event: SyncEvent) => Promise<void> | void;
  /** Store or count it; a rejection has it called again. */
  readonly onInvalid: (invalid: InvalidMessage) => Promise<void> | void;
  readonly dedupe?: Dedupe;
  readonly log?: Pick<Logger, 'debug'>;
}

/** Reads sync events from Kafka. */
export interface SyncEventConsumer {
  /** @throws when no broker answers or the topic is missing; later faults are retried. */
  start(): Promise<void>;
  /** Finishes the event under way and commits what was handled. */
  stop(): Promise<void>;
}

/** Makes a consumer; nothing happens before `start`. */
export function createSyncEventConsumer(options: SyncEventConsumerOptions): SyncEventConsumer {
  const { handle, onInvalid, topic = DEFAULT_TOPIC, dedupe = createDedupe() } = options;
  const log = options.log ?? { debug: () => undefined };
  const kafka = new Kafka({ ...options.kafka, logLevel: logLevel.WARN, logCreator: createQuietLog(log) });
  const consumer = kafka.consumer({
    groupId: options.groupId,
    // A stop waits for the question that is under way.
    maxWaitTimeInMs: 1_000,
    // After these the consumer starts anew, and so the retries: an event is never given up.
    retry: { initialRetryTime: 200, maxRetryTime: 5_000, retries: 5 },
  });
  return {
    async start() {
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
    stop: () => consumer.disconnect(),
  };
}

function parse({ value }: KafkaMessage): SyncEvent | InvalidEventError {
  try {
    return parseSyncEvent(value);
  } catch (error) {
    if (error instanceof InvalidEventError) return error;
    throw error;
  }
}
