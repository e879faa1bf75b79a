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
 * BullMQ's PostgreSQL backend, kept from spinning. In version 6.7 two faults, none of which its Redis backend has, turn a
 * worker into a busy loop that fills the log:
 *
 *   - the schema is checked once per connection, and a failed check (a timeout under load) is remembered forever: every
 *     later query fails at once;
 *   - after an error whose code isn't ECONNREFUSED the worker tries again without a pause.
 */

const ERROR_PAUSE_MS = 200;

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

/** Creates the backend of a queue or worker; all share the pool. */
export const createCheckedBackend: BackendFactory<PostgresQueueBackend, PostgresConnectionOptions> = (
  name,
  options,
  { withBlockingConnection = false } = {},
) =>
  new PostgresQueueBackend(
    new CheckedConnection(options.connection),
    name,
    options,
    true,
    withBlockingConnection ? name : undefined,
  );
