import { execFileSync } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  findFreePort,
  startEmbeddedKafka,
  startEmbeddedPostgres,
  startEmbeddedRedis,
} from '@platform/embedded';
import { Kafka, logLevel } from 'kafkajs';
import { createDatabase, startBenchIdentity } from '../../identity.js';
import { nodeFlags, type ServiceProcess, startProcess } from '../../service-process.js';

/*
 * Nothing is pinned to a core here: crawl, identity, PostgreSQL, Redis, Kafka and the load share the cores as they would
 * on one small machine.
 */
const SECRET = 'benchmark-secret-of-the-crawl-service';
const PARTITIONS = 12;
const crawlFile = (name: string) =>
  fileURLToPath(new URL(`../../../../../services/crawl/dist/${name}`, import.meta.url));
const temporary = () => mkdtemp(join(tmpdir(), 'platform-bench-'));

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

export async function startBacking(): Promise<Backing> {
  // Start them one after the other, so that a missing server is reported before anything else runs.
  const open: { stop(): Promise<void> }[] = [];
  const stop = async () => {
    for (const one of open.toReversed()) await one.stop();
  };
  try {
    return await openBacking(open, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @param open - collects everything that was started, to be stopped at the end. */
async function openBacking(open: { stop(): Promise<void> }[], stop: () => Promise<void>): Promise<Backing> {
  const redis = await startEmbeddedRedis({ dataDir: await temporary(), isTemporary: true });
  open.push({ stop: redis.close });
  const broker = await startEmbeddedKafka({ dataDir: await temporary(), isTemporary: true });
  open.push({ stop: broker.close });
  const postgres = await startEmbeddedPostgres({
    dataDir: await temporary(),
    // An fsync per commit would measure the disk. Everything else is configured as in production.
    settings: { synchronous_commit: 'off', shared_buffers: '256MB', max_wal_size: '4GB' },
    isTemporary: true,
  });
  open.push(postgres);
  const identity = await startBenchIdentity(
    postgres,
    'bench_identity',
    { SERVICE_CLIENTS: `crawl:${SECRET}` },
    'load',
  );
  open.push(identity);
  const kafka = new Kafka({ brokers: [broker.brokers], clientId: 'bench', logLevel: logLevel.NOTHING });
  let databases = 0;

  async function createSite(name: string): Promise<Site> {
    const databaseUrl = await createDatabase(postgres, `bench_crawl_${name}`);
    const topic = `sync-events-${name}`;
    const environment = {
      PATH: process.env.PATH,
      DATABASE_URL: databaseUrl,
      REDIS_URL: `${redis.url}/${(databases += 1)}`,
      KAFKA_BROKERS: broker.brokers,
      KAFKA_TOPIC: topic,
      IDENTITY_URL: identity.url,
      SERVICE_CLIENT_SECRET: SECRET,
      HOST: '127.0.0.1',
      LOG_LEVEL: 'error',
      NODE_ENV: 'production',
    };
    execFileSync(process.execPath, [crawlFile('cli.js'), 'migrate'], { env: environment, stdio: 'ignore' });
    const admin = kafka.admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic, numPartitions: PARTITIONS }], waitForLeaders: true });
    await admin.disconnect();
    const start = async () => {
      const port = await findFreePort();
      const program = [...nodeFlags(256), crawlFile('server.js')];
      const env = { ...environment, PORT: String(port) };
      const service = await startProcess(program, port, '/health/ready', env, 'load');
      open.push(service);
      return service;
    };
    return { databaseUrl, topic, start };
  }

  return {
    session: identity.session,
    createOrganisation: identity.createOrganisation,
    kafka,
    redis: { host: '127.0.0.1', port: redis.port, db: 0 },
    createSite,
    stop,
  };
}
