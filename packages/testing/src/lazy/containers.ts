import { setTimeout as delay } from 'node:timers/promises';
import type { LazyService } from '../environment.js';

/** A server of a test run. */
export interface LazyServer {
  /** `host:port` of Kafka's brokers, comma-separated; the URL of Redis. */
  readonly address: string;
  readonly source: 'given' | 'testcontainers' | 'embedded';
  stop(): Promise<void>;
}

const KAFKA_IMAGE = 'confluentinc/cp-kafka:7.9.1';
const REDIS_IMAGE = 'redis:7-alpine';
const TIMEOUT_MS = 120_000;

/** Starts a container; throws when the engine cannot provide the image in time. */
export async function startContainer(service: LazyService): Promise<LazyServer> {
  const timer = new AbortController();
  const late = delay(TIMEOUT_MS, undefined, { signal: timer.signal }).then(() => {
    throw new Error(`nothing after ${TIMEOUT_MS / 1000} s`);
  });
  try {
    return await Promise.race([service === 'kafka' ? startKafka() : startRedis(), late]);
  } finally {
    timer.abort();
    late.catch(() => undefined);
  }
}

async function startKafka(): Promise<LazyServer> {
  const { KafkaContainer } = await import('@testcontainers/kafka');
  const container = await new KafkaContainer(KAFKA_IMAGE).withKraft().start();
  const address = `${container.getHost()}:${container.getMappedPort(9093)}`;
  return { address, source: 'testcontainers', stop: async () => void (await container.stop()) };
}

async function startRedis(): Promise<LazyServer> {
  const { GenericContainer } = await import('testcontainers');
  const container = await new GenericContainer(REDIS_IMAGE).withExposedPorts(6379).start();
  const address = `redis://${container.getHost()}:${container.getMappedPort(6379)}`;
  return { address, source: 'testcontainers', stop: async () => void (await container.stop()) };
}
