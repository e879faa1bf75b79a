import type { Logger } from '@platform/service-kit';
import { DEFAULT_SCHEMA, Queue, type QueueOptions, Worker, type WorkerOptions } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createErrorReporter } from './error-reporter.js';
import type { CrawlJob, CrawlJobData } from './job.js';
import { createThrottledBackend, throttledPool } from './throttled-backend.js';

export type CrawlQueue = Pick<
  Queue<CrawlJobData>,
  'addBulk' | 'close' | 'getJobState' | 'setGlobalConcurrency' | 'waitUntilReady'
> &
  ErrorSource;
export type CrawlWorker = Pick<Worker<CrawlJobData>, 'close'> & ErrorSource;
interface ErrorSource {
  on(event: 'error', listener: (error: Error) => void): unknown;
}
export type Processor = (job: CrawlJob) => Promise<unknown>;

/** The place where BullMQ keeps the queues: Redis or PostgreSQL. */
export interface QueueBackend {
  /** Resolves when the first connection is open, or has failed: commands before that would fail at once. */
  connect(): Promise<void>;
  /** Rejects while the backend is unavailable. */
  ping(): Promise<unknown>;
  /** Whether jobs can be lost while the rows remain: by a flush, a restart or a failover. */
  readonly isVolatile: boolean;
  /**
   * Calls `rebuild` when the backend's data is not that of the last complete rebuild.
   *
   * @param rebuild - resolves with whether it is complete; if not, it is called again the next time.
   * @returns whether it was called.
   */
  afterDataLoss(rebuild: () => Promise<boolean>): Promise<boolean>;
  queue(name: string, options: Omit<QueueOptions, 'connection'>): CrawlQueue;
  worker(name: string, processor: Processor, options: Omit<WorkerOptions, 'connection'>): CrawlWorker;
  close(): Promise<void>;
}

const PREFIX = 'crawl';
const COMMAND_TIMEOUT_MS = 1_500;
/** Holds the id of the server that the queues were last rebuilt on. A flush removes it; a restart changes the id of the server. */
const COMPARED_KEY = `${PREFIX}:compared-on`;

const getServerId = (info: string): string => /^run_id:(\w+)/m.exec(info)?.[1] ?? 'unknown';

function createRedisBackend(redisUrl: string, log: Logger): QueueBackend {
  const retryStrategy = (times: number) => Math.min(times * 100, 1_000);
  const forQueues = new Redis(redisUrl, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: COMMAND_TIMEOUT_MS,
    retryStrategy,
  });
  let forWorkers: Redis | undefined;
  // Every queue reports the errors of this connection, too.
  forQueues.on('error', createErrorReporter(log, 'The connection of the queues to Redis failed'));
  const workersConnection = () => {
    if (!forWorkers) {
      forWorkers = new Redis(redisUrl, { maxRetriesPerRequest: null, retryStrategy });
      forWorkers.on('error', () => undefined);
    }
    return forWorkers;
  };
  const connected = new Promise<void>((resolve) => {
    forQueues.once('ready', resolve).once('close', resolve);
  });
  return {
    connect: () => connected,
    ping: () => forQueues.ping(),
    isVolatile: true,
    async afterDataLoss(rebuild) {
      const [info, comparedOn] = await Promise.all([forQueues.info('server'), forQueues.get(COMPARED_KEY)]);
      const serverId = getServerId(info);
      if (comparedOn === serverId) return false;
      if (await rebuild()) await forQueues.set(COMPARED_KEY, serverId);
      return true;
    },
    queue: (name, options) =>
      new Queue<CrawlJobData>(name, {
        ...options,
        connection: forQueues,
        prefix: PREFIX,
        skipWaitingForReady: true,
      }),
    worker: (name, processor, options) =>
      new Worker<CrawlJobData>(name, processor, {
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
    ping: () => pool.query('select 1'),
    // The jobs are lost, and restored, together with the rows.
    isVolatile: false,
    afterDataLoss: () => Promise.resolve(false),
    queue: (name, options) => new Queue(name, { ...options, connection }, createThrottledBackend),
    worker: (name, processor, options) =>
      new Worker(name, processor, { ...options, connection }, createThrottledBackend),
    close: () => pool.end(),
  };
}

export function createQueueBackend(options: {
  readonly redisUrl: string | undefined;
  readonly databaseUrl: string;
  /** The largest number of workers, each of which holds a connection. */
  readonly maxWorkers: number;
  readonly log: Logger;
}): QueueBackend {
  return options.redisUrl === undefined
    ? createPostgresBackend(options.databaseUrl, options.maxWorkers, options.log)
    : createRedisBackend(options.redisUrl, options.log);
}
