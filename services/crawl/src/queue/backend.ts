import { assertWritable, type Logger, refuseStandby } from '@platform/service-kit';
import { DEFAULT_SCHEMA, Queue, type QueueOptions, Worker, type WorkerOptions } from 'bullmq';
import type { Redis, RedisOptions } from 'ioredis';
import pg from 'pg';
import { createErrorReporter } from './error-reporter.js';
import { assertSuitable, connectRedis, type RedisAddress } from './redis.js';
import { createCheckedBackend, throttledPool } from './throttled-backend.js';

export type CrawlQueue = Pick<Queue, 'addBulk' | 'close' | 'getWaitingCount' | 'waitUntilReady'> &
  ErrorSource;
export type CrawlWorker = Pick<Worker, 'close'> & ErrorSource;
interface ErrorSource {
  on(event: 'error', listener: (error: Error) => void): unknown;
}
export type Processor = () => Promise<unknown>;

/** The place where BullMQ keeps the queues: Redis or PostgreSQL. */
export interface QueueBackend {
  /**
   * Resolves when the first connection is open, or has failed: commands before that would fail at once.
   *
   * @throws ConfigError for a server with which the queues cannot work.
   */
  connect(): Promise<void>;
  /** Writes. Rejects while the backend is unavailable, or takes no writes: full, read-only or a replica. */
  probe(): Promise<unknown>;
  queue(name: string, options: Omit<QueueOptions, 'connection'>): CrawlQueue;
  worker(name: string, processor: Processor, options: Omit<WorkerOptions, 'connection'>): CrawlWorker;
  close(): Promise<void>;
}

const PREFIX = 'crawl';
const COMMAND_TIMEOUT_MS = 1_500;

function createRedisBackend(address: RedisAddress, log: Logger): QueueBackend {
  // Every queue reports the errors of this connection, too.
  const report = createErrorReporter(log, 'The connection of the queues to Redis failed');
  // BullMQ reads this option of a connection. It would look at the server once for each queue and worker.
  const checked: RedisOptions & { readonly skipVersionCheck: true } = { skipVersionCheck: true };
  const forQueues = connectRedis(
    address,
    {
      ...checked,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: COMMAND_TIMEOUT_MS,
      connectTimeout: COMMAND_TIMEOUT_MS,
      sentinelCommandTimeout: COMMAND_TIMEOUT_MS,
    },
    report,
  );
  let forWorkers: Redis | undefined;
  const workersConnection = () =>
    (forWorkers ??= connectRedis(address, { ...checked, maxRetriesPerRequest: null }, () => undefined));
  const closed = new Promise<void>((resolve) => forQueues.once('close', resolve));
  const inspected = new Promise<void>((resolve, reject) => {
    forQueues.once('ready', () => void assertSuitable(forQueues, log).then(resolve, reject));
  });
  return {
    async connect() {
      await Promise.race([inspected, closed]);
      // A server that comes later and is not suitable ends the process, too: nobody handles this.
      void inspected.then(() => undefined);
    },
    probe: () => forQueues.set(`${PREFIX}:probe`, '', 'EX', 60),
    queue: (name, options) =>
      new Queue(name, {
        ...options,
        connection: forQueues,
        prefix: PREFIX,
        skipWaitingForReady: true,
      }),
    worker: (name, processor, options) =>
      new Worker(name, processor, {
        ...options,
        connection: workersConnection(),
        prefix: PREFIX,
      }),
    async close() {
      forQueues.disconnect();
      forWorkers?.disconnect();
      await Promise.resolve();
    },
  };
}

function createPostgresBackend(databaseUrl: string, maxWorkers: number, log: Logger): QueueBackend {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    application_name: 'crawl-queues',
    options: `-c search_path=${DEFAULT_SCHEMA}`,
    // One connection per worker to listen on, and some for commands.
    max: maxWorkers + 8,
    connectionTimeoutMillis: COMMAND_TIMEOUT_MS,
    query_timeout: 5_000,
    keepAlive: true,
    verify: refuseStandby,
  });
  // Every queue and worker listens for the pool's errors.
  pool.setMaxListeners(0);
  pool.on('connect', (client) => {
    client.on('error', () => undefined);
  });
  pool.on('error', (error) => {
    log.warn({ err: error }, 'idle queue connection lost');
  });
  const connection = throttledPool(pool);
  return {
    // The pool connects when it is used.
    connect: () => Promise.resolve(),
    probe: () => assertWritable(pool),
    queue: (name, options) => new Queue(name, { ...options, connection }, createCheckedBackend),
    worker: (name, processor, options) =>
      new Worker(name, processor, { ...options, connection }, createCheckedBackend),
    close: () => pool.end(),
  };
}

export function createQueueBackend(options: {
  readonly redis: RedisAddress | undefined;
  readonly databaseUrl: string;
  /** The largest number of workers, each of which holds a connection. */
  readonly maxWorkers: number;
  readonly log: Logger;
}): QueueBackend {
  return options.redis === undefined
    ? createPostgresBackend(options.databaseUrl, options.maxWorkers, options.log)
    : createRedisBackend(options.redis, options.log);
}
