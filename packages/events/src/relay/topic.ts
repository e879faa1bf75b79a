import type { Logger } from '@platform/service-kit';
import type { Kafka } from 'kafkajs';

interface TopicOptions {
  readonly topic: string;
  readonly partitions: number;
  readonly log: Pick<Logger, 'info'>;
}

/** Creates the topic where it is missing and this client is allowed to; returns how many partitions it has. */
export async function ensureTopic(kafka: Kafka, { topic, partitions, log }: TopicOptions): Promise<number> {
  const admin = kafka.admin();
  try {
    await admin.connect();
    // Without a replication factor, the broker's default.
    const wanted = { topic, numPartitions: partitions };
    const isNew = await admin.createTopics({ topics: [wanted], waitForLeaders: true }).catch(ignoreDenied);
    if (isNew) log.info({ topic, partitions }, 'Kafka topic created');
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    const count = topics[0]?.partitions.length ?? 0;
    if (count === 0) throw new Error(`the topic ${topic} does not exist, and may not be created`);
    return count;
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}

// Many clusters let only their operators create topics; then it exists already, or the next question fails.
function ignoreDenied(error: unknown): false {
  const { errors = [error], type } = error as { errors?: { type?: string }[]; type?: string };
  const isDenied = [type, ...errors.map((each) => (each as { type?: string }).type)].some((each) =>
    /AUTHORIZATION_FAILED|POLICY_VIOLATION/.test(each ?? ''),
  );
  if (!isDenied) throw error;
  return false;
}
