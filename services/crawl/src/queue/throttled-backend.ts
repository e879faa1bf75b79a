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
 * BullMQ's PostgreSQL backend, kept from spinning, and from sleeping too long. Three things in 6.7 turn a worker into a busy
 * loop, gigabytes of log lines included, none of which its Redis backend does:
 *
 *   - the schema is checked once per connection, and a check that failed (a time-out under load)
 *     is remembered: every later query fails at once, for good;
 *   - after an error that isn't named ECONNREFUSED the worker tries again without a pause;
 *   - while a queue is at its global concurrency, a worker with room of its own is told again and
 *     again that a job is waiting.
 */

const ERROR_PAUSE_MS = 200;
const QUICK_MS = 10;
const MAX_QUICK_RETURNS = 5;
const QUICK_PAUSE_MS = 25;

/** What BullMQ waits for before it tries again. */
async function asConnectionError(error: unknown): Promise<unknown> {
  if (!isDatabaseUnavailable(error)) return error;
  await delay(ERROR_PAUSE_MS);
  return Object.assign(new Error('the queue can not be asked', { cause: error }), { code: 'ECONNREFUSED' });
}

/** The pool, as BullMQ uses one. */
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

/** The schema was checked at the service's start. */
class CheckedConnection extends PostgresConnection {
  override waitUntilReady(): Promise<void> {
    return Promise.resolve();
  }
}

class ThrottledBackend extends PostgresQueueBackend {
  /**
   * Seconds; as on Redis. A worker sleeps until the next job is due, by a timer that knows nothing of the wall clock: when
   * that is set forward, or the host slept, this is how late a job may be. BullMQ would let it sleep for an hour.
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

/** For BullMQ's constructors; all share the pool. */
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
