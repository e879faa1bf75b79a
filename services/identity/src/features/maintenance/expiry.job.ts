import type { Clock, Logger } from '@platform/service-kit';
import type pg from 'pg';
import { deleteSessions, expireTokens } from './queries.js';

const EVERY_MS = 60_000;
const BATCH = 1_000;

/**
 * Marks tokens that have expired, so that lists and counters leave them out without looking, and
 * deletes sessions that ended by time. Nothing depends on when it runs: verification and lists ask
 * for the expiry themselves.
 */
export function createExpiryJob(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  async function sweep(): Promise<void> {
    const now = new Date(deps.clock());
    while ((await expireTokens(deps.pool, now, BATCH)) === BATCH);
    while ((await deleteSessions(deps.pool, now, BATCH)) === BATCH);
  }
  function run(): void {
    running ??= sweep()
      .catch((error: unknown) => {
        deps.log.warn({ err: error }, 'expired tokens not swept');
      })
      .finally(() => {
        running = undefined;
      });
  }
  return {
    sweep,
    start() {
      timer = setInterval(run, EVERY_MS).unref();
    },
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
