import { join } from 'node:path';
import { startEmbeddedKafka, startEmbeddedRedis } from '@platform/embedded';
import { Kafka, logLevel } from 'kafkajs';
import { setUpService } from '../../built-service.js';
import { openFixture } from '../../fixture.js';
import { startBenchIdentity } from '../../identity.js';
import type { ServiceProcess } from '../../service-process.js';

/*
 * Nothing is pinned to a core here: crawl, identity, PostgreSQL, Redis, Kafka and the load share the cores as they would
 * on one small machine.
 */
const SECRET = 'benchmark-secret-of-the-crawl-service';
const PARTITIONS = 12;

/** A crawl service with its own database, queue and topic. */
export interface Site {
  readonly databaseUrl: string;
  readonly topic: string;
  /** Starts the service as in production and waits until it is ready. */
  start(): Promise<ServiceProcess>;
}

export interface Backing {
  /** The access token of an administrator's session. */
  readonly session: string;
  /** @returns the session of the administrator of another organisation. */
  createOrganisation(): Promise<string>;
  readonly kafka: Kafka;
  /** The Redis that BullMQ alone uses. */
  readonly redis: { readonly host: string; readonly port: number; readonly db: number };
  createSite(name: string): Promise<Site>;
  stop(): Promise<void>;
}

export const startBacking = (): Promise<Backing> =>
  openFixture(
    async ({ folder, postgres, keep }) => {
      // Start them one after the other, so that a missing server is reported before anything else runs.
      const redis = await startEmbeddedRedis({ dataDir: join(folder, 'redis'), isTemporary: true });
      keep({ stop: redis.close });
      const broker = await startEmbeddedKafka({ dataDir: join(folder, 'kafka'), isTemporary: true });
      keep({ stop: broker.close });
      const clients = { SERVICE_CLIENTS: `crawl:${SECRET}` };
      const identity = keep(await startBenchIdentity(postgres, 'bench_identity', clients, 'load'));
      const kafka = new Kafka({ brokers: [broker.brokers], clientId: 'bench', logLevel: logLevel.NOTHING });
      let databases = 0;

      async function createSite(name: string): Promise<Site> {
        const topic = `sync-events-${name}`;
        const service = await setUpService(postgres, 'crawl', `bench_crawl_${name}`, {
          REDIS_URL: `${redis.url}/${(databases += 1)}`,
          KAFKA_BROKERS: broker.brokers,
          KAFKA_TOPIC: topic,
          IDENTITY_URL: identity.url,
          SERVICE_CLIENT_SECRET: SECRET,
          LOG_LEVEL: 'error',
        });
        const admin = kafka.admin();
        await admin.connect();
        await admin.createTopics({ topics: [{ topic, numPartitions: PARTITIONS }], waitForLeaders: true });
        await admin.disconnect();
        const { databaseUrl } = service;
        return { databaseUrl, topic, start: async () => keep(await service.start('load')) };
      }

      const { session, createOrganisation } = identity;
      return {
        session,
        createOrganisation,
        kafka,
        redis: { host: '127.0.0.1', port: redis.port, db: 0 },
        createSite,
      };
    },
    { shared_buffers: '256MB', max_wal_size: '4GB' },
  );
