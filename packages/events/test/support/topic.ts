import { randomUUID } from 'node:crypto';
import kafkajs, {
  type Admin,
  type ITopicConfig,
  Kafka,
  logLevel,
  type PartitionMetadata,
  Partitioners,
} from 'kafkajs';

// Node finds only some names of this CommonJS module.
const { ConfigResourceTypes } = kafkajs;

const connect = (brokers: string[]) => new Kafka({ brokers, logLevel: logLevel.NOTHING });

/** Returns a topic name that no other test uses. */
export const newTopic = (): string => `sync-events-${randomUUID()}`;

async function administer(brokers: string[], work: (admin: Admin) => Promise<unknown>): Promise<void> {
  const admin = connect(brokers).admin();
  await admin.connect();
  await work(admin);
  await admin.disconnect();
}

/** Creates a topic with the given settings. */
export const createTopic = (brokers: string[], config: ITopicConfig): Promise<void> =>
  administer(brokers, (admin) => admin.createTopics({ topics: [config], waitForLeaders: true }));

export const deleteTopic = (brokers: string[], topic: string): Promise<void> =>
  administer(brokers, (admin) => admin.deleteTopics({ topics: [topic] }));

/** Changes one setting of a topic. */
export const alterTopic = (
  brokers: string[],
  topic: string,
  entry: { readonly name: string; readonly value: string },
): Promise<void> =>
  administer(brokers, (admin) =>
    admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries: [entry] }],
    }),
  );

/** Increases the partitions of the topic to `count`. */
export const addPartitions = (brokers: string[], topic: string, count: number): Promise<void> =>
  administer(brokers, (admin) => admin.createPartitions({ topicPartitions: [{ topic, count }] }));

const choosePartition = Partitioners.DefaultPartitioner();

/** Returns the partition of a key in a topic of `count` partitions. */
export function toPartition(key: string, count: number): number {
  const partitionMetadata = Array.from({ length: count }, (_, partitionId) => ({
    partitionId,
    partitionErrorCode: 0,
    leader: 0,
    replicas: [],
    isr: [],
  }));
  return choosePartition({ topic: '', partitionMetadata, message: { key, value: null } });
}

/** Returns the leader and the replicas of each partition of a topic. */
export async function describePartitions(brokers: string[], topic: string): Promise<PartitionMetadata[]> {
  let partitions: PartitionMetadata[] = [];
  await administer(brokers, async (admin) => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    partitions = topics[0]?.partitions ?? [];
  });
  return partitions;
}
