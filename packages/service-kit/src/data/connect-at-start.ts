import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isDatabaseUnavailable } from './database.js';

/** A database may start together with the service, and the network policies of a new pod may apply late. */
const WAIT_MS = 30_000;
const RETRY_DELAY_MS = 500;

/**
 * Opens the first connection of a program, and retries while the database cannot be reached. A process that exited
 * instead would be restarted with growing delays.
 *
 * @throws the error of the last attempt when the time is over; at once an error that waiting cannot fix, such as a wrong
 *   password.
 */
export async function connectAtStart<Connection>(
  connect: () => Promise<Connection>,
  log: Pick<Logger, 'warn'>,
  waitMs = WAIT_MS,
): Promise<Connection> {
  const deadline = performance.now() + waitMs;
  let isTold = false;
  for (;;)
    try {
      return await connect();
    } catch (error) {
      if (!isDatabaseUnavailable(error) || performance.now() + RETRY_DELAY_MS > deadline) throw error;
      if (!isTold)
        log.warn({ err: error }, `the database can't be reached: trying again for ${waitMs / 1_000} s`);
      isTold = true;
      await delay(RETRY_DELAY_MS);
    }
}
