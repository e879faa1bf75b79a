import type { Logger } from '@platform/service-kit';
import { DEFAULT_SCHEMA, Queue, type QueueOptions, Worker, type WorkerOptions } from 'bullmq';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createErrorReporter } from './error-reporter.js';
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
  /** Resolves when the first connection is open, or has failed: commands before that would fail at once. */
  connect(): Promise<void>;
  /** Rejects while the backend is unavailable. */
  ping(): Promise<unknown>;
  queue(name: string, options: Omit<QueueOptions, 'connection'>): CrawlQueue;
  worker(name: string, processor: Processor, options: Omit<WorkerOptions, 'connection'>): CrawlWorker;
  close(): Promise<void>;
}

const PREFIX = 'crawl';
const COMMAND_TIMEOUT_MS = 1_500;

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
    queue: (name, options) => new Queue(name, { ...options, connection }, createCheckedBackend),
    worker: (name, processor, options) =>
      new Worker(name, processor, { ...options, connection }, createCheckedBackend),
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
