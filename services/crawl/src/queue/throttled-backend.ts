import { setTimeout as delay } from 'node:timers/promises';
import { isDatabaseUnavailable } from '@platform/service-kit';
import {
  type BackendFactory,
  PostgresConnection,
  type PostgresConnectionOptions,
  PostgresQueueBackend,
} from 'bullmq';
import type pg from 'pg';

/*
 * BullMQ's PostgreSQL backend, kept from spinning and from sleeping too long. In version 6.7 three faults, none of
 * which its Redis backend has, turn a worker into a busy loop that fills the log:
 *
 *   - the schema is checked once per connection, and a failed check (a timeout under load) is remembered forever: every
 *     later query fails at once;
 *   - after an error whose code isn't ECONNREFUSED the worker tries again without a pause;
 *   - while a queue is at its global concurrency, a worker with free capacity is notified again and again that a
 *     job is waiting.
 */

const ERROR_PAUSE_MS = 200;
const QUICK_MS = 10;
const MAX_QUICK_RETURNS = 5;
const QUICK_PAUSE_MS = 25;

/** Pauses, and returns an error after which BullMQ tries again. */
async function asConnectionError(error: unknown): Promise<unknown> {
  if (!isDatabaseUnavailable(error)) return error;
  await delay(ERROR_PAUSE_MS);
  return Object.assign(new Error('the queue is unavailable', { cause: error }), { code: 'ECONNREFUSED' });
}

/** Wraps the pool so that errors of the connection are delayed. */
export function throttledPool(pool: pg.Pool): PostgresConnectionOptions {
  const query = async <T>(asked: Promise<T>): Promise<T> => {
    try {
      return await asked;
    } catch (error) {
      throw await asConnectionError(error);
    }
  };
  return {
    query: (text: string, values?: unknown[]) => query(pool.query(text, values)),
    connect: () => query(pool.connect()),
    on: pool.on.bind(pool),
    end: () => pool.end(),
    options: pool.options,
  };
}

/** Skips the check of the schema, which the service does at its start. */
class CheckedConnection extends PostgresConnection {
  override waitUntilReady(): Promise<void> {
    return Promise.resolve();
  }
}

class ThrottledBackend extends PostgresQueueBackend {
  /**
   * In seconds, as on Redis. A worker sleeps until the next job is due, using a timer that does not follow the wall
   * clock: when that is set forward, or the host was suspended, a job may be late by this. BullMQ's default is an
   * hour.
   */
  override get maximumBlockTimeout(): number {
    return 10;
  }

  private quickReturns = 0;

  override async waitForJob(
    blockTimeout: number,
  ): Promise<Awaited<ReturnType<PostgresQueueBackend['waitForJob']>>> {
    const since = performance.now();
    const found = await super.waitForJob(blockTimeout);
    this.quickReturns = performance.now() - since < QUICK_MS ? this.quickReturns + 1 : 0;
    if (this.quickReturns > MAX_QUICK_RETURNS) await delay(QUICK_PAUSE_MS);
    return found;
  }
}

/** Creates the backend of a queue or worker; all share the pool. */
export const createThrottledBackend: BackendFactory<PostgresQueueBackend, PostgresConnectionOptions> = (
  name,
  options,
  { withBlockingConnection = false } = {},
) =>
  new ThrottledBackend(
    new CheckedConnection(options.connection),
    name,
    options,
    true,
    withBlockingConnection ? name : undefined,
  );
