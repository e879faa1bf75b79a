import { Kafka, logLevel, Partitioners, type Producer } from 'kafkajs';
import { toKafkaMessage } from '../kafka-message.js';
import { createQuietLog } from '../quiet-kafka-log.js';
import type { PendingEvent } from './queries.js';
import { ensureTopic } from './topic.js';
import type { EventRelayOptions } from './options.js';

/** What became of the events of one partition. */
export interface LaneResult {
  readonly partition: number;
  /** Acknowledged by all in-sync replicas. */
  readonly published: PendingEvent[];
  /** The first event of its key that Kafka refuses for what it is; what follows in that key was not sent. */
  readonly refused: { readonly event: PendingEvent; readonly reason: Error }[];
  /** Why the partition takes nothing at present; some of its events may be in Kafka nevertheless. */
  readonly fault: Error | undefined;
}

export interface PublishResult {
  readonly results: readonly LaneResult[];
  /** After a fault the producer is replaced; this is why that was not possible: the publisher is of no more use. */
  readonly reconnectFault: KafkaAwayError | undefined;
}

export interface Publisher {
  partitionOf(event: PendingEvent): number;
  /** Sends the events of each partition in order. A fault of one partition doesn't touch the others. */
  publish(lanes: ReadonlyMap<number, PendingEvent[]>): Promise<PublishResult>;
  close(): Promise<void>;
}

/** No broker answers, or there is no topic; `cause` tells which. */
export class KafkaAwayError extends Error {
  override readonly name = 'KafkaAwayError';
  constructor(cause: unknown) {
    super('Kafka is not available', { cause });
  }
}

const REQUEST_TIMEOUT_MS = 10_000;

/** Of the record, not of the moment: sending the same again gets the same answer. */
const REFUSALS = new Set([
  'MESSAGE_TOO_LARGE',
  'RECORD_LIST_TOO_LARGE',
  'INVALID_RECORD',
  'INVALID_TIMESTAMP',
  'CORRUPT_MESSAGE',
]);

/** Quick to fail: waiting and trying again is the relay's. */
const RETRY = { retries: 1, initialRetryTime: 50, maxRetryTime: 200 };

/** @throws {@link KafkaAwayError} when no broker answers, or the topic neither exists nor can be created. */
export async function createPublisher(
  options: Pick<EventRelayOptions, 'kafka' | 'log'> & { readonly topic: string; readonly partitions: number },
): Promise<Publisher> {
  const { topic, log } = options;
  const kafka = new Kafka({
    ...options.kafka,
    connectionTimeout: 2_000,
    requestTimeout: REQUEST_TIMEOUT_MS,
    retry: RETRY,
    logLevel: logLevel.WARN,
    logCreator: createQuietLog(log),
  });
  const connect = async () => ({
    partitionCount: await ensureTopic(kafka, { topic, partitions: options.partitions, log }),
    producer: await connectProducer(kafka),
  });
  const { partitionCount, ...connected } = await connect().catch((error: unknown) => {
    throw new KafkaAwayError(error);
  });
  let { producer } = connected;
  const choosePartition = Partitioners.DefaultPartitioner();
  const partitionMetadata = Array.from({ length: partitionCount }, (_, partitionId) => ({
    partitionId,
    partitionErrorCode: 0,
    leader: 0,
    replicas: [],
    isr: [],
  }));

  async function send(partition: number, events: readonly PendingEvent[]): Promise<void> {
    const messages = events.map(({ event }) => ({ ...toKafkaMessage(event), partition }));
    await producer.send({ topic, acks: -1, timeout: REQUEST_TIMEOUT_MS, messages });
  }

  return {
    partitionOf: ({ event_key: key }) =>
      choosePartition({ topic, partitionMetadata, message: { key, value: null } }),
    async publish(lanes) {
      const results = await Promise.all(
        [...lanes].map(([partition, events]) => publishLane(send, partition, events)),
      );
      if (results.every(({ fault }) => fault === undefined)) return { results, reconnectFault: undefined };
      // A send that failed may have been written. The next batch would begin with the same sequence number and
      // other content, which the broker could take for the one it has: a producer with a new id can't be mistaken.
      await producer.disconnect().catch(() => undefined);
      try {
        producer = await connectProducer(kafka);
        return { results, reconnectFault: undefined };
      } catch (error) {
        return { results, reconnectFault: new KafkaAwayError(error) };
      }
    },
    close: () => producer.disconnect().catch(() => undefined),
  };
}

async function connectProducer(kafka: Kafka): Promise<Producer> {
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

async function publishLane(
  send: (partition: number, events: readonly PendingEvent[]) => Promise<void>,
  partition: number,
  events: readonly PendingEvent[],
): Promise<LaneResult> {
  const result = { partition, published: [] as PendingEvent[], refused: [] as LaneResult['refused'] };
  try {
    await send(partition, events);
    return { ...result, published: [...events], fault: undefined };
  } catch (error) {
    if (!isRefusal(error)) return { ...result, fault: toError(error) };
  }
  // The broker refused the batch as a whole and wrote nothing: one by one shows whose fault it is.
  const refusedKeys = new Set<string>();
  for (const event of events) {
    if (refusedKeys.has(event.event_key)) continue;
    try {
      await send(partition, [event]);
      result.published.push(event);
    } catch (error) {
      if (!isRefusal(error)) return { ...result, fault: toError(error) };
      refusedKeys.add(event.event_key);
      result.refused.push({ event, reason: toError(error) });
    }
  }
  return { ...result, fault: undefined };
}

function isRefusal(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (REFUSALS.has((cause as Error & { type?: string }).type ?? '')) return true;
  return false;
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
