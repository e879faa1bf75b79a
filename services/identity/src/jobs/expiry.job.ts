import type pg from 'pg';
import { type Clock, createPeriodicTask, DAY_MS, type Logger, type Shutdown } from '@platform/service-kit';
import { firstIdAt } from '../audit/first-id.js';
import {
  deleteAccessTokens,
  deleteArtifacts,
  deleteAuditEntries,
  deleteGrants,
  deleteIdleClients,
  deleteMails,
  deletePasskeyChallenges,
  deletePendingSignIns,
  deleteProviderSignIns,
  deleteRateLimits,
  deleteSecrets,
  deleteServiceCredentials,
  deleteSessions,
  deleteToolCalls,
  deleteUnusedClients,
  expireInvitations,
  expireTokens,
} from './queries.js';
import { GRANT_SECONDS } from '../oauth/provider/lifetimes.js';

const EVERY_MS = 60_000;
const BATCH = 1_000;

/**
 * Marks expired tokens, so that lists and counters can leave them out cheaply; deletes expired sessions, OAuth tokens,
 * codes, links and unsent mails; removes members whose invitation has lapsed; deletes tool calls, connections, clients that
 * nobody connects any more, and audit entries past their retention.
 * Correctness doesn't depend on when it runs, because every reader checks the expiry itself.
 */
export function createExpiryJob(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
  /** How many days tool calls are kept. */
  readonly toolCallDays: number;
  /** How many days audit entries are kept: at least 30, because the database refuses to delete younger ones. */
  readonly auditDays: number;
}) {
  async function expireMails(now: Date): Promise<void> {
    for (let count = BATCH; count === BATCH;) {
      count = await deleteMails(deps.pool, now, BATCH);
      if (count > 0) deps.log.warn({ mails: count }, 'deleted mails that expired before they could be sent');
    }
  }

  async function sweep(): Promise<void> {
    const now = new Date(deps.clock());
    // A batch leaves out the tokens of locked owners.
    while ((await expireTokens(deps.pool, now, BATCH)) > 0);
    while ((await expireInvitations(deps.pool, now, BATCH)) === BATCH);
    while ((await deleteSessions(deps.pool, now, BATCH)) === BATCH);
    while ((await deletePendingSignIns(deps.pool, now, BATCH)) === BATCH);
    while ((await deleteProviderSignIns(deps.pool, now, BATCH)) === BATCH);
    while ((await deletePasskeyChallenges(deps.pool, now, BATCH)) === BATCH);
    while ((await deleteRateLimits(deps.pool, now.getTime(), BATCH)) === BATCH);
    while ((await deleteServiceCredentials(deps.pool, now, BATCH)) === BATCH);
    while ((await deleteAccessTokens(deps.pool, now, BATCH)) === BATCH);
    while ((await deleteArtifacts(deps.pool, now, BATCH)) === BATCH);
    const endedBefore = new Date(deps.clock() - deps.auditDays * DAY_MS);
    while ((await deleteGrants(deps.pool, endedBefore, BATCH)) === BATCH);
    const registeredBefore = new Date(deps.clock() - DAY_MS);
    while ((await deleteUnusedClients(deps.pool, registeredBefore, BATCH)) === BATCH);
    // What was last used before then has no connection left: the last one has expired, and was deleted since.
    const usedBefore = new Date(endedBefore.getTime() - GRANT_SECONDS * 1_000 - DAY_MS);
    while ((await deleteIdleClients(deps.pool, usedBefore, BATCH)) === BATCH);
    while ((await deleteSecrets(deps.pool, now, BATCH)) === BATCH);
    await expireMails(now);
    const keptFrom = firstIdAt(deps.clock() - deps.toolCallDays * DAY_MS);
    while ((await deleteToolCalls(deps.pool, keptFrom, BATCH)) === BATCH);
    const auditFrom = firstIdAt(deps.clock() - deps.auditDays * DAY_MS);
    while ((await deleteAuditEntries(deps.pool, auditFrom, BATCH)) === BATCH);
  }
  const task = createPeriodicTask({
    intervalMs: EVERY_MS,
    run: sweep,
    onError: (error) => {
      deps.log.warn({ err: error }, 'failed to delete expired data; retrying');
    },
  });
  return { sweep, start: task.start, stop: task.stop };
}

/** Starts the job that deletes what has expired. */
export function startExpiry(
  deps: Parameters<typeof createExpiryJob>[0] & { readonly shutdown: Shutdown },
): void {
  const job = createExpiryJob(deps);
  job.start();
  deps.shutdown.on('workers', 'expiry', job.stop);
}
