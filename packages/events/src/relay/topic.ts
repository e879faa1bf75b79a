import type { Logger } from '@platform/service-kit';
import type { Kafka } from 'kafkajs';

interface TopicOptions {
  readonly topic: string;
  readonly partitions: number;
  readonly log: Pick<Logger, 'info'>;
}

/**
 * Creates the topic when it is missing and this client may do so; returns how many partitions it has. Any broker can report
 * that number; only creating a topic needs the broker that Kafka names.
 */
export async function ensureTopic(kafka: Kafka, { topic, partitions, log }: TopicOptions): Promise<number> {
  const admin = kafka.admin();
  const countPartitions = async () => {
    const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
    return topics[0]?.partitions.length ?? 0;
  };
  try {
    await admin.connect();
    const present = await countPartitions().catch(ignoreMissing);
    if (present > 0) return present;
    // Without a replication factor, the broker uses its default.
    const wanted = { topic, numPartitions: partitions };
    const isNew = await admin.createTopics({ topics: [wanted], waitForLeaders: true }).catch(ignoreDenied);
    if (isNew) log.info({ topic, partitions }, 'Kafka topic created');
    const count = await countPartitions();
    if (count === 0) throw new Error(`the topic ${topic} does not exist, and may not be created`);
    return count;
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}

function ignoreMissing(error: unknown): number {
  if ((error as { type?: string }).type === 'UNKNOWN_TOPIC_OR_PARTITION') return 0;
  throw error;
}

// Many clusters let only their operators create topics. The topic then exists already, or the next request fails.
function ignoreDenied(error: unknown): false {
  const { errors = [error], type } = error as { errors?: { type?: string }[]; type?: string };
  const isDenied = [type, ...errors.map((each) => (each as { type?: string }).type)].some((each) =>
    /AUTHORIZATION_FAILED|POLICY_VIOLATION/.test(each ?? ''),
  );
  if (!isDenied) throw error;
  return false;
}
