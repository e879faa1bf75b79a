import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isDatabaseUnavailable } from './database.js';

/** A database may start with us, and a new pod's network policies may come late. */
const WAIT_MS = 30_000;
const RETRY_DELAY_MS = 500;

/**
 * Makes the first connection of a program, again and again while the database can't be reached. A process that ended
 * at the first lost packet would be started again with growing delays.
 *
 * @throws what the last try failed with, once the time is over; at once what waiting doesn't mend, such as a wrong password.
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
