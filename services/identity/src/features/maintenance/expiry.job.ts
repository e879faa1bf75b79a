import type { Clock, Logger } from '@platform/service-kit';
import type pg from 'pg';
import { firstIdAt } from '../audit/first-id.js';
import {
  deleteAuditEntries,
  deleteMails,
  deleteSecrets,
  deleteServiceCredentials,
  deleteSessions,
  deleteToolCalls,
  expireTokens,
  expireInvitations,
} from './queries.js';

const EVERY_MS = 60_000;
const BATCH = 1_000;
const DAY_MS = 24 * 60 * 60_000;

/**
 * Marks tokens that have expired, so that lists and counters leave them out without looking, and
 * deletes sessions, codes, links and unsent mails that ended by time. Members whose invitation lapsed are
 * removed. Nothing depends on when it runs: whoever reads them asks for the expiry. Calls of remote tools and the audit are kept for so many days.
 */
export function createExpiryJob(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  /** Calls older than so many days are deleted. */
  readonly toolCallDays: number;
  /** Likewise the audit. At least 30: the database keeps younger entries. */
  readonly auditDays: number;
}) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  async function expireMails(now: Date): Promise<void> {
    for (let count = BATCH; count === BATCH;) {
      count = await deleteMails(deps.pool, now, BATCH);
      if (count > 0) deps.log.warn({ mails: count }, 'mails given up: their time is over');
    }
  }

  async function sweep(): Promise<void> {
    const now = new Date(deps.clock());
    while ((await expireTokens(deps.pool, now, BATCH)) === BATCH);
    while ((await expireInvitations(deps.pool, now, BATCH)) === BATCH);
    while ((await deleteSessions(deps.pool, now, BATCH)) === BATCH);
    while ((await deleteServiceCredentials(deps.pool, now, BATCH)) === BATCH);
    while ((await deleteSecrets(deps.pool, now, BATCH)) === BATCH);
    await expireMails(now);
    const keptFrom = firstIdAt(deps.clock() - deps.toolCallDays * DAY_MS);
    while ((await deleteToolCalls(deps.pool, keptFrom, BATCH)) === BATCH);
    const auditFrom = firstIdAt(deps.clock() - deps.auditDays * DAY_MS);
    while ((await deleteAuditEntries(deps.pool, auditFrom, BATCH)) === BATCH);
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
