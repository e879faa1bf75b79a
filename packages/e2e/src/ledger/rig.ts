import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type EmbeddedKafka,
  type EmbeddedRedis,
  findFreePort,
  startEmbeddedKafka,
  startEmbeddedRedis,
} from '@platform/embedded';
import { startOwnPostgres, waitFor } from '@platform/testing';
import pg from 'pg';
import { runCommand } from '../../test/platform/command.js';
import { startNginx } from '../../test/platform/nginx.js';
import { createReplica, type Replica } from '../../test/platform/replica.js';
import { startSmtpServer } from '../../test/platform/smtp-server.js';
import { PROCESSES, type Program, PROGRAMS } from './plan.js';
import { type Proxy, startProxy } from './proxy.js';

const SERVICES = ['identity', 'mail', 'crawl'] as const;

export const TOPIC = 'sync-events';
export const ADMIN = { email: 'admin@example.com', password: 'a-good-password' };
const HOST = '127.0.0.1';
/** An orchestrator takes about as long until it starts a container again. */
const RESTART_PAUSE_MS = 1_000;

/** A store that a fault stops or kills; it keeps its address and its data. */
interface Store {
  start(): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export type Rig = Awaited<ReturnType<typeof startRig>>;
type RigProcess = ReturnType<typeof keepRunning>;

/**
 * Starts two replicas of each service and two crawl workers behind the repository's nginx template, over a PostgreSQL, a
 * Redis with a replica and a Sentinel, a Kafka of two brokers and an SMTP server, with a proxy before each of these. A
 * process that dies is started again, as Compose and Kubernetes do.
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
  const openProxy = async (target: number, ownPort?: number): Promise<Proxy> => {
    const proxy = await startProxy(target, ownPort);
    closers.push(() => proxy.close());
    return proxy;
  };
  const [postgres, redis, kafka] = await Promise.all([
    startPostgres(closers),
    startRedis(folder, closers, openProxy),
    startKafka(folder, closers, openProxy),
  ]);
  const smtp = await startSmtpServer(await findFreePort());
  closers.push(() => smtp.goAway());
  const smtpProxy = await openProxy(smtp.port);

  const ports = new Map<string, number>();
  for (const name of PROCESSES) ports.set(name, await findFreePort());
  const nginx = await startNginx(
    Object.fromEntries(
      SERVICES.map((service) => [
        service,
        PROCESSES.filter((name) => toProgram(name) === service).map((name) => `${HOST}:${ports.get(name)}`),
      ]),
    ),
  );
  closers.push(() => nginx.stop());
  const services = await openProxy(Number(new URL(nginx.internalUrl).port));
  const environments = getEnvironments({
    gateway: nginx.url,
    internal: `http://${HOST}:${services.port}`,
    sentinel: redis.sentinel,
    brokers: kafka.brokers,
    smtpPort: smtpProxy.port,
  });
  for (const name of SERVICES) {
    await query(postgres.url(), `create database ${name}`);
    const env = { ...environments[name], DATABASE_URL: postgres.url(name) };
    const { code, stderr } = await runCommand(name, ['migrate'], env);
    if (code !== 0) throw new Error(`The migration of ${name} failed:\n${stderr}`);
  }

  const deaths: string[] = [];
  const processes = new Map<string, RigProcess>();
  const links: Record<string, readonly Proxy[]> = {
    Kafka: kafka.proxies,
    SMTP: [smtpProxy],
    services: [services],
  };
  for (const name of PROCESSES) {
    const program = toProgram(name);
    const database = await openProxy(postgres.port);
    links[`PostgreSQL of ${name}`] = [database];
    links['PostgreSQL'] = [...(links['PostgreSQL'] ?? []), database];
    const url = new URL(postgres.url(program === 'worker' ? 'crawl' : program));
    url.port = String(database.port);
    const env = { ...environments[program], DATABASE_URL: url.href };
    const replica = createReplica(program === 'worker' ? 'crawl' : program, ports.get(name) ?? 0, env);
    processes.set(
      name,
      keepRunning(replica, () => deaths.push(name)),
    );
  }
  const running = [...processes];
  closers.push(() => Promise.all(running.map(([, one]) => one.close())));
  // The others ask identity before they are ready.
  for (const isFirst of [true, false])
    await Promise.all(
      running.filter(([name]) => name.startsWith('identity') === isFirst).map(([, one]) => one.start()),
    );
  return {
    url: nginx.url,
    smtp,
    smtpPort: smtpProxy.port,
    brokers: kafka.brokers,
    /** Returns the store of this name; Redis is the one that is the master now. */
    findStore: async (name: string): Promise<Store> =>
      find(name, { PostgreSQL: postgres, Redis: (await redis.findMaster()).server, ...kafka.stores }),
    /** Returns the proxies of these connections; those to Redis lead to the one that is the master now. */
    findLinks: async (name: string): Promise<readonly Proxy[]> =>
      find(name, { ...links, Redis: [(await redis.findMaster()).proxy] }),
    findProcess: (name: string): RigProcess => find(name, Object.fromEntries(processes)),
    failOverRedis: redis.failOver,
    /** The processes that ended by themselves rather than by a fault of the plan. */
    deaths: deaths as readonly string[],
    queryIdentity: (text: string) => query(postgres.url('identity'), text),
    /** Returns the versions of the stores, by name. */
    async findStoreVersions(): Promise<Record<string, string>> {
      const [row] = await query(postgres.url(), 'show server_version');
      const { server } = await redis.findMaster();
      return {
        PostgreSQL: String(row?.['server_version']),
        Redis: /_version:(\S+)/.exec(await server.command('INFO server'))?.[1] ?? 'unknown',
      };
    },
  };
}

const toProgram = (name: string): Program =>
  PROGRAMS.find((program) => name.startsWith(program)) ?? PROGRAMS[0];

function find<Item>(name: string, items: Readonly<Record<string, Item>>): Item {
  const item = items[name];
  if (item === undefined) throw new Error(`The rig has no ${name}`);
  return item;
}

type Closers = (() => Promise<unknown>)[];
type OpenProxy = (target: number, ownPort?: number) => Promise<Proxy>;

async function startPostgres(closers: Closers) {
  const postgres = await startOwnPostgres({ max_connections: '200' });
  closers.push(() => postgres.close());
  return postgres;
}

/** Starts two Redis, the second a replica, and a Sentinel. All know each other by the addresses of the proxies. */
async function startRedis(folder: string, closers: Closers, openProxy: OpenProxy) {
  const start = async (name: string, options: { sentinelOf?: { port: number } } = {}) => {
    const redis = await startEmbeddedRedis({ dataDir: join(folder, name), isTemporary: true, ...options });
    closers.push(() => redis.close());
    return redis;
  };
  const nodes: { readonly server: EmbeddedRedis; readonly proxy: Proxy }[] = [];
  for (const name of ['redis-1', 'redis-2']) {
    const server = await start(name);
    const proxy = await openProxy(server.port);
    nodes.push({ server, proxy });
    await server.command(`CONFIG SET replica-announce-port ${proxy.port}`);
    const [master] = nodes;
    if (master && master.server !== server) await server.command(`REPLICAOF ${HOST} ${master.proxy.port}`);
    // A restart keeps both.
    await server.command('CONFIG REWRITE');
  }
  const sentinel = await start('sentinel', { sentinelOf: { port: nodes[0]?.proxy.port ?? 0 } });
  return {
    sentinel: `${HOST}:${sentinel.port}`,
    async findMaster() {
      const reply = await sentinel.command('SENTINEL GET-MASTER-ADDR-BY-NAME main');
      const port = Number(reply.split('\r\n').at(-1));
      const master = nodes.find(({ proxy }) => proxy.port === port);
      if (!master) throw new Error(`Sentinel answered ${reply}`);
      return master;
    },
    /** Makes the replica of Redis the master; the old one stays up as its replica. */
    async failOver(): Promise<void> {
      await waitFor(async () => (await sentinel.command('SENTINEL FAILOVER main')) === '+OK', {
        what: 'the failover of Redis',
      });
    },
  };
}

/** Starts two brokers that advertise the addresses of their proxies. The first is the controller as well. */
async function startKafka(folder: string, closers: Closers, openProxy: OpenProxy) {
  const brokers: EmbeddedKafka[] = [];
  const proxies: Proxy[] = [];
  for (const name of ['kafka-1', 'kafka-2']) {
    const [port, proxyPort] = [await findFreePort(), await findFreePort()];
    proxies.push(await openProxy(port, proxyPort));
    const broker = await startEmbeddedKafka({
      dataDir: join(folder, name),
      isTemporary: true,
      port,
      settings: {
        'advertised.listeners': `PLAINTEXT://${HOST}:${proxyPort}`,
        'default.replication.factor': '2',
        // Soon after a broker has gone, its partitions have another leader; soon after it is back, they have it again.
        'leader.imbalance.check.interval.seconds': '5',
      },
      ...(brokers[0] && { join: brokers[0] }),
    });
    brokers.push(broker);
    closers.push(() => broker.close());
  }
  const [first, second] = brokers as [EmbeddedKafka, EmbeddedKafka];
  return {
    brokers: proxies.map(({ port }) => `${HOST}:${port}`),
    proxies,
    stores: { Kafka: first, 'Kafka broker 2': second } satisfies Record<string, Store>,
  };
}

interface Addresses {
  readonly gateway: string;
  readonly internal: string;
  readonly sentinel: string;
  readonly brokers: readonly string[];
  readonly smtpPort: number;
}

function getEnvironments(addresses: Addresses): Record<Program, NodeJS.ProcessEnv> {
  const { gateway, internal, sentinel, brokers, smtpPort } = addresses;
  const secret = randomBytes(32).toString('hex');
  const keys = `k1:${randomBytes(32).toString('base64')}`;
  const common = {
    NODE_ENV: 'production',
    LOG_LEVEL: 'warn',
    // A busy machine may need longer than the default.
    DATABASE_TIMEOUT_MS: '5000',
    PUBLIC_URL: gateway,
    TRUST_PROXY: HOST,
    ENCRYPTION_KEYS: keys,
  };
  const client = {
    ...common,
    IDENTITY_URL: internal,
    IDENTITY_TIMEOUT_MS: '5000',
    SERVICE_CLIENT_SECRET: secret,
  };
  const crawl = {
    ...client,
    REDIS_URL: 'redis://main/0',
    REDIS_SENTINELS: sentinel,
    KAFKA_BROKERS: brokers.join(','),
    KAFKA_TOPIC: TOPIC,
    KAFKA_PARTITIONS: '3',
    // The shortest lease: short pauses outlast it, too.
    STALLED_INTERVAL_MS: '5000',
  };
  return {
    identity: {
      ...common,
      SERVICE_CLIENTS: `mail:${secret},crawl:${secret}`,
      MAIL_URL: internal,
      CRAWL_URL: internal,
      BOOTSTRAP_ADMIN_EMAIL: ADMIN.email,
      BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
    },
    mail: { ...client, SMTP_ALLOWED_TARGETS: `${HOST}:${smtpPort}` },
    crawl: { ...crawl, ROLE: 'api' },
    worker: { ...crawl, ROLE: 'worker' },
  };
}

/** Starts a process again when it ends by itself, and reports that when it had been ready. */
function keepRunning(replica: Replica, onDeath: () => void) {
  let isWanted = true;
  let isFaulted = false;
  let isReady = false;
  async function watch(): Promise<void> {
    const { exited } = replica;
    await exited;
    if (!isWanted || isFaulted) return;
    if (isReady) onDeath();
    await startAgain();
  }
  async function start(changes?: NodeJS.ProcessEnv, outputFile?: string): Promise<void> {
    isReady = false;
    const started = replica.start(changes, outputFile);
    void watch();
    await started;
    isReady = true;
  }
  async function startAgain(changes?: NodeJS.ProcessEnv, outputFile?: string): Promise<void> {
    await delay(RESTART_PAUSE_MS);
    // A process that can't start yet ends, which `watch` sees.
    if (isWanted) await start(changes, outputFile).catch(() => undefined);
  }
  return {
    start,
    pause: replica.pause,
    resume: replica.resume,
    /** Kills it, and returns when it is ready again, with these changes of its environment from now on. */
    async restart(changes?: NodeJS.ProcessEnv, outputFile?: string): Promise<void> {
      isFaulted = true;
      await replica.kill();
      isFaulted = false;
      await startAgain(changes, outputFile);
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
