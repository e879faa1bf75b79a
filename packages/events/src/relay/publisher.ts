import { startPublishSpan } from '@platform/service-kit';
import { type BatchResult, sendBatches, type SendToPartition } from './partition-batch.js';
import type { EventRelayOptions, RelayedEvents } from './options.js';
import type { PendingEvent } from './queries.js';
import { ensureTopic } from './topic.js';

export interface PublishResult {
  readonly results: readonly BatchResult[];
  /** Why the producer could not be replaced after a fault; the publisher is then unusable. */
  readonly reconnectFault: KafkaAwayError | undefined;
}

export interface Publisher {
  readonly partitionCount: number;
  /** Whether the topic has another number of partitions by now. False when Kafka does not say: a send will notice why. */
  isTopicChanged(): Promise<boolean>;
  toPartition(event: Pick<PendingEvent, 'event_key'>): number;
  /** Sends the events of each partition in order. A fault of one partition does not affect the others. */
  publish(batches: ReadonlyMap<number, PendingEvent[]>): Promise<PublishResult>;
  close(): Promise<void>;
}

const UNAVAILABLE =
  'Kafka is not available: no broker answers, its listener expects TLS or an account, or the address that it advertises is wrong';

/** @returns what the operator has to look at. kafkajs wraps what happened, some of it several times. */
function describeFault(error: unknown): string {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { name, message, type = '' } = cause as Error & { readonly type?: string };
    if (name === 'KafkaJSSASLAuthenticationError') return 'Kafka refuses the account';
    if (type.endsWith('AUTHORIZATION_FAILED'))
      return 'Kafka refuses the account a right: it needs DESCRIBE and WRITE on the topic, and CREATE where it is missing';
    if (/certificate|SSL|TLS/i.test(message))
      return 'Kafka cannot be reached with TLS: check KAFKA_TLS, the port of the listener, and NODE_EXTRA_CA_CERTS';
  }
  return UNAVAILABLE;
}

/** No broker answers or accepts the account, or the topic is missing; `cause` says which. */
export class KafkaAwayError extends Error {
  override readonly name = 'KafkaAwayError';
  constructor(cause: unknown, message = describeFault(cause)) {
    super(message, { cause });
  }

  /** Whether it may only be starting: it has refused nothing. */
  get isUnavailable(): boolean {
    return this.message === UNAVAILABLE;
  }
}

type PublisherOptions = Pick<EventRelayOptions, 'kafka' | 'log'> & {
  readonly events: RelayedEvents;
  readonly topic: string;
  readonly partitions: number;
};

/**
 * A publisher assigns each key to the same partition for as long as it lives. Otherwise later events of a key could
 * overtake earlier ones.
 *
 * @throws {@link KafkaAwayError} when no broker answers, or the topic neither exists nor can be created.
 */
export async function createPublisher(options: PublisherOptions): Promise<Publisher> {
  const { topic } = options;
  // With the Kafka client, which only the replica that leads needs: most installations have no Kafka.
  const { connectProducer, createKafka, createPartitioner, REQUEST_TIMEOUT_MS, retire } =
    await import('./producer.js');
  const kafka = createKafka(options);
  const choosePartition = createPartitioner();

  async function connect(expectedCount?: number) {
    try {
      const partitionCount = await ensureTopic(kafka, options);
      // Keys would belong to other partitions, so publishing must restart with the oldest pending event.
      if (expectedCount !== undefined && partitionCount !== expectedCount)
        throw new KafkaAwayError(
          undefined,
          `the topic has ${partitionCount} partitions instead of ${expectedCount}`,
        );
      return { producer: await connectProducer(kafka), partitionCount };
    } catch (error) {
      throw error instanceof KafkaAwayError ? error : new KafkaAwayError(error);
    }
  }
  const connected = await connect();
  const { partitionCount } = connected;
  const partitionMetadata = describePartitions(partitionCount);
  let { producer } = connected;
  let isRetired = false;

  return {
    partitionCount,
    isTopicChanged: () =>
      ensureTopic(kafka, options).then(
        (count) => count !== partitionCount,
        () => false,
      ),
    toPartition: ({ event_key: key }) =>
      choosePartition({ topic, partitionMetadata, message: { key, value: null } }),
    async publish(batches) {
      const sender = producer;
      const send: SendToPartition = async (partition, events) => {
        const spans = events.map(({ traceparent }) => startPublishSpan(topic, traceparent));
        const messages = events.map(({ event }, index) => ({
          ...options.events.toMessage(event, spans[index]?.traceparent),
          partition,
        }));
        try {
          await sender.send({ topic, acks: -1, timeout: REQUEST_TIMEOUT_MS, messages });
        } finally {
          for (const span of spans) span?.end();
        }
      };
      const { sends, results: settled } = sendBatches(send, batches);
      const results = await settled;
      if (results.every(({ fault }) => fault === undefined)) return { results, reconnectFault: undefined };
      // A send that failed may have been written. The next batch would begin with the same sequence number and
      // other content, which the broker could mistake for the one it has. A producer with a new id avoids that. Connecting it
      // also notices that the topic has more partitions, which is why a refused event, of which nothing was written, is no
      // exception.
      retire(sender, sends);
      isRetired = true;
      try {
        ({ producer } = await connect(partitionCount));
        isRetired = false;
        return { results, reconnectFault: undefined };
      } catch (error) {
        return { results, reconnectFault: error as KafkaAwayError };
      }
    },
    async close() {
      // A retired producer may be waiting for a broker that hangs.
      if (!isRetired) await producer.disconnect().catch(() => undefined);
    },
  };
}

/** Builds the metadata for kafkajs' partitioner, which uses the number of partitions, and the leaders only without a key. */
const describePartitions = (count: number) =>
  Array.from({ length: count }, (_, partitionId) => ({
    partitionId,
    partitionErrorCode: 0,
    leader: 0,
    replicas: [],
    isr: [],
  }));
