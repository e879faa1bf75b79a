import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type EmbeddedKafka, findFreePort, startEmbeddedKafka, startEmbeddedRedis } from '@platform/embedded';
import { startOwnPostgres, waitFor } from '@platform/testing';
import pg from 'pg';
import { runCommand } from '../../test/platform/command.js';
import { startNginx } from '../../test/platform/nginx.js';
import { createReplica, type Replica } from '../../test/platform/replica.js';
import { type SmtpServer, startSmtpServer } from '../../test/platform/smtp-server.js';

/** The processes of the platform: three services, crawl with its API and its workers apart. */
export const PROGRAMS = ['identity', 'mail', 'crawl', 'worker'] as const;
export type Program = (typeof PROGRAMS)[number];
const SERVICES = ['identity', 'mail', 'crawl'] as const;
type Service = (typeof SERVICES)[number];

export const TOPIC = 'sync-events';
export const ADMIN = { email: 'admin@example.com', password: 'a-good-password' };
const REPLICAS = 2;
/** An orchestrator takes about as long until it starts a container again. */
const RESTART_PAUSE_MS = 1_000;

/** A store that a fault stops or kills; it keeps its address and its data. */
interface Store {
  start(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export type Rig = Awaited<ReturnType<typeof startRig>>;

/**
 * Starts two replicas of each service and two crawl workers behind the repository's nginx template, over a PostgreSQL, a
 * Redis with a replica and a Sentinel, a Kafka and an SMTP server. A process that dies is started again, as Compose and Kubernetes do.
 */
export async function startRig() {
  const folder = await mkdtemp(join(tmpdir(), 'platform-ledger-'));
  const closers: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).toReversed()) await closer().catch(() => undefined);
  };
  try {
    return { ...(await startIn(folder, closers)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startIn(folder: string, closers: (() => Promise<unknown>)[]) {
  const postgres = await startOwnPostgres({ max_connections: '200' });
  closers.push(() => postgres.close());
  const redis = await startEmbeddedRedis({ dataDir: join(folder, 'redis'), isTemporary: true });
  closers.push(() => redis.close());
  const replica = await startEmbeddedRedis({ dataDir: join(folder, 'redis-replica'), isTemporary: true });
  closers.push(() => replica.close());
  await replica.command(`REPLICAOF 127.0.0.1 ${redis.port}`);
  const sentinel = await startEmbeddedRedis({
    dataDir: join(folder, 'sentinel'),
    isTemporary: true,
    sentinelOf: redis,
  });
  closers.push(() => sentinel.close());
  const kafka = await startEmbeddedKafka({ dataDir: join(folder, 'kafka'), isTemporary: true });
  closers.push(() => kafka.close());
  const smtp = await startSmtpServer(await findFreePort());
  closers.push(() => smtp.goAway());

  const ports = Object.fromEntries(
    await Promise.all(PROGRAMS.map(async (name) => [name, await findPorts()] as const)),
  ) as Record<Program, number[]>;
  const nginx = await startNginx(
    Object.fromEntries(SERVICES.map((name) => [name, ports[name].map((port) => `127.0.0.1:${port}`)])),
  );
  closers.push(() => nginx.stop());
  const environments = getEnvironments({
    gateway: nginx.url,
    internal: nginx.internalUrl,
    databaseUrl: (name) => postgres.url(name),
    sentinel: `127.0.0.1:${sentinel.port}`,
    kafka,
    smtp,
  });
  for (const name of SERVICES) {
    await query(postgres.url(), `create database ${name}`);
    const { code, stderr } = await runCommand(name, ['migrate'], environments[name]);
    if (code !== 0) throw new Error(`The migration of ${name} failed:\n${stderr}`);
  }

  const deaths: string[] = [];
  const running = PROGRAMS.flatMap((program) =>
    ports[program].map((port, index) =>
      keepRunning(
        `${program} ${index + 1}`,
        createReplica(program === 'worker' ? 'crawl' : program, port, environments[program]),
        (name) => deaths.push(name),
      ),
    ),
  );
  closers.push(() => Promise.all(running.map((one) => one.close())));
  // The others ask identity before they are ready.
  for (const isFirst of [true, false])
    await Promise.all(
      running.filter(({ name }) => name.startsWith('identity') === isFirst).map((one) => one.start()),
    );
  const stores: Readonly<Record<'PostgreSQL' | 'Redis' | 'Kafka', Store>> = {
    PostgreSQL: postgres,
    Redis: redis,
    Kafka: kafka,
  };
  return {
    url: nginx.url,
    smtp,
    brokers: kafka.brokers,
    stores,
    /** Makes the replica of Redis the master; the old one stays up as its replica. */
    failOverRedis: () =>
      waitFor(async () => (await sentinel.command('SENTINEL FAILOVER main')) === '+OK', {
        what: 'the failover of Redis',
      }),
    processes: running,
    /** The processes that ended by themselves rather than by a fault of the plan. */
    deaths: deaths as readonly string[],
    queryIdentity: (text: string) => query(postgres.url('identity'), text),
  };
}

const findPorts = async (): Promise<number[]> => {
  const ports: number[] = [];
  while (ports.length < REPLICAS) ports.push(await findFreePort());
  return ports;
};

interface Addresses {
  readonly gateway: string;
  readonly internal: string;
  databaseUrl(name: string): string;
  readonly sentinel: string;
  readonly kafka: EmbeddedKafka;
  readonly smtp: SmtpServer;
}

function getEnvironments(addresses: Addresses): Record<Program, NodeJS.ProcessEnv> {
  const { gateway, internal, databaseUrl, sentinel, kafka, smtp } = addresses;
  const secret = randomBytes(32).toString('hex');
  const keys = `k1:${randomBytes(32).toString('base64')}`;
  const common = (name: Service) => ({
    NODE_ENV: 'production',
    LOG_LEVEL: 'warn',
    DATABASE_URL: databaseUrl(name),
    PUBLIC_URL: gateway,
    TRUST_PROXY: '127.0.0.1',
  });
  const client = (name: Service) => ({
    ...common(name),
    IDENTITY_URL: internal,
    SERVICE_CLIENT_SECRET: secret,
    ENCRYPTION_KEYS: keys,
  });
  const crawl = {
    ...client('crawl'),
    REDIS_URL: 'redis://main/0',
    REDIS_SENTINELS: sentinel,
    KAFKA_BROKERS: kafka.brokers,
    KAFKA_TOPIC: TOPIC,
    KAFKA_PARTITIONS: '3',
  };
  return {
    identity: {
      ...common('identity'),
      ENCRYPTION_KEYS: keys,
      SERVICE_CLIENTS: `mail:${secret},crawl:${secret}`,
      MAIL_URL: internal,
      CRAWL_URL: internal,
      BOOTSTRAP_ADMIN_EMAIL: ADMIN.email,
      BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
    },
    mail: { ...client('mail'), SMTP_ALLOWED_TARGETS: `127.0.0.1:${smtp.port}` },
    crawl: { ...crawl, ROLE: 'api' },
    worker: { ...crawl, ROLE: 'worker' },
  };
}

/** Starts a process again when it ends by itself, and reports that. */
function keepRunning(name: string, replica: Replica, onDeath: (name: string) => void) {
  let isWanted = true;
  let isFaulted = false;
  async function watch(): Promise<void> {
    const { exited } = replica;
    await exited;
    if (!isWanted || isFaulted) return;
    onDeath(name);
    await startAgain();
  }
  async function start(): Promise<void> {
    const started = replica.start();
    void watch();
    await started;
  }
  async function startAgain(): Promise<void> {
    await delay(RESTART_PAUSE_MS);
    // A process that can't start yet ends, which `watch` sees.
    if (isWanted) await start().catch(() => undefined);
  }
  return {
    name,
    start,
    /** Kills it, and returns when it is ready again. */
    async killOnce(): Promise<void> {
      isFaulted = true;
      await replica.kill();
      isFaulted = false;
      await startAgain();
    },
    async close(): Promise<void> {
      isWanted = false;
      await replica.kill();
    },
  };
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}
