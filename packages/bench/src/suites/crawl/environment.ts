import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedKafka, startEmbeddedRedis } from '@platform/embedded';
import { Kafka, logLevel } from 'kafkajs';
import type { Fixture } from '../../runner/fixture.js';
import { ENCRYPTION_KEYS, startIdentity } from '../../servers/identity.js';
import { setUpService } from '../../servers/service.js';

/*
 * Nothing is pinned to a core here: crawl, identity, PostgreSQL, Redis, Kafka and the load share the cores as they would
 * on one small machine.
 */
const SECRET = 'benchmark-secret-of-the-crawl-service';
const PARTITIONS = 12;
const POLL_MS = 100;

/** Starts what all crawl services of the suite share. */
export async function startBacking(fixture: Fixture) {
  const { folder, keep } = fixture;
  // Start them one after the other, so that a missing server is reported before anything else runs.
  const redis = await startEmbeddedRedis({ dataDir: join(folder, 'redis'), isTemporary: true });
  keep({ stop: redis.close });
  const broker = await startEmbeddedKafka({ dataDir: join(folder, 'kafka'), isTemporary: true });
  keep({ stop: broker.close });
  const identity = await startIdentity(
    fixture,
    'bench_identity_of_crawl',
    { SERVICE_CLIENTS: `crawl:${SECRET}` },
    'load',
  );
  const kafka = new Kafka({ brokers: [broker.brokers], clientId: 'bench', logLevel: logLevel.NOTHING });
  return { redis, brokers: broker.brokers, identity, kafka, sites: 0 };
}

/** A crawl service with its own database, queue and topic. */
export type Site = Awaited<ReturnType<typeof createSite>>;

export async function createSite(fixture: Fixture, name: string) {
  const backing = await fixture.share(startBacking);
  const topic = `sync-events-${name}`;
  const service = await setUpService(fixture, 'crawl', `bench_crawl_${name}`, {
    REDIS_URL: `${backing.redis.url}/${(backing.sites += 1)}`,
    KAFKA_BROKERS: backing.brokers,
    KAFKA_TOPIC: topic,
    IDENTITY_URL: backing.identity.url,
    SERVICE_CLIENT_SECRET: SECRET,
    ENCRYPTION_KEYS,
  });
  const admin = backing.kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: PARTITIONS }], waitForLeaders: true });
  await admin.disconnect();
  return {
    databaseUrl: service.databaseUrl,
    redis: backing.redis,
    kafka: backing.kafka,
    topic,
    start: async () => fixture.keep(await service.start('load')),
  };
}

/** The service without schedules, which several measurements use. */
export const startSmall = async (fixture: Fixture) => (await createSite(fixture, 'small')).start();

/** Polls until the condition holds, or the time is over. @returns whether it holds. */
export async function waitUntil(
  isMet: () => boolean | Promise<boolean>,
  timeoutMs: number,
): Promise<boolean> {
  const deadline = performance.now() + timeoutMs;
  while (!(await isMet())) {
    if (performance.now() > deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}
