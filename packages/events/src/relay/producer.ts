import { Kafka, logLevel, Partitioners, type Producer } from 'kafkajs';
import { createQuietLog } from '../quiet-kafka-log.js';
import type { EventRelayOptions } from './options.js';

export const REQUEST_TIMEOUT_MS = 5_000;
export const createPartitioner = Partitioners.DefaultPartitioner;

/** The client fails quickly, because the relay itself waits and retries. */
const RETRY = { retries: 1, initialRetryTime: 50, maxRetryTime: 200 };

/** Creates a client that fails quickly and logs at debug level only. It does not connect yet. */
export const createKafka = ({ kafka, log }: Pick<EventRelayOptions, 'kafka' | 'log'>): Kafka =>
  new Kafka({
    ...kafka,
    connectionTimeout: 2_000,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // Each broker of the list is tried once, because any of them may be the only one left.
    retry: {
      ...RETRY,
      retries: Math.max(RETRY.retries, Array.isArray(kafka.brokers) ? kafka.brokers.length - 1 : 0),
    },
    logLevel: logLevel.WARN,
    logCreator: createQuietLog(log),
  });

/** Connects a producer with a unique id, by which the broker distinguishes its retries from new batches. */
export async function connectProducer(kafka: Kafka): Promise<Producer> {
  const producer = kafka.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner,
    retry: RETRY,
  });
  try {
    await producer.connect();
    return producer;
  } catch (error) {
    await producer.disconnect().catch(() => undefined);
    throw error;
  }
}

/**
 * Disconnects a producer without waiting, because that may take as long as the timeout of a broker that hangs.
 * kafkajs reconnects for sends in progress, so a second disconnect follows them.
 */
export function retire(producer: Producer, sends: Iterable<Promise<unknown>>): void {
  const disconnect = () => producer.disconnect().catch(() => undefined);
  void disconnect();
  void Promise.allSettled(sends).then(disconnect);
}
