import { Kafka, logLevel, Partitioners, type Producer } from 'kafkajs';
import { createQuietLog } from '../quiet-kafka-log.js';
import type { EventRelayOptions } from './options.js';

export const REQUEST_TIMEOUT_MS = 5_000;

/** Quick to fail: waiting and trying again is the relay's. */
const RETRY = { retries: 1, initialRetryTime: 50, maxRetryTime: 200 };

/** A client that fails soon and speaks at debug level only; it connects to nothing yet. */
export const createKafka = ({ kafka, log }: Pick<EventRelayOptions, 'kafka' | 'log'>): Kafka =>
  new Kafka({
    ...kafka,
    connectionTimeout: 2_000,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // The list is gone through once: any broker of it can be the one that is left.
    retry: {
      ...RETRY,
      retries: Math.max(RETRY.retries, Array.isArray(kafka.brokers) ? kafka.brokers.length - 1 : 0),
    },
    logLevel: logLevel.WARN,
    logCreator: createQuietLog(log),
  });

/** A producer with an id of its own, for the broker to tell its retries from new batches. */
export async function connectProducer(kafka: Kafka): Promise<Producer> {
  const producer = kafka.producer({
    idempotent: true,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner: Partitioners.DefaultPartitioner,
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
 * Lets go of a producer, at once: its end may take as long as a broker that hangs is given to answer. kafkajs connects
 * again for what is still under way, so the end needs a second disconnect.
 */
export function retire(producer: Producer, sends: Iterable<Promise<unknown>>): void {
  const disconnect = () => producer.disconnect().catch(() => undefined);
  void disconnect();
  void Promise.allSettled(sends).then(disconnect);
}
