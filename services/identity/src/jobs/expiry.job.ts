import { createOutboxRetention } from '@platform/events';
import type pg from 'pg';
import { type Clock, createPeriodicTask, DAY_MS, firstIdAt, type Logger } from '@platform/service-kit';
import type { StartJob } from '../base/start-job.js';
import {
  deleteAccessTokens,
  deleteArtifacts,
  deleteAuditEntries,
  deleteConnectionSteps,
  deleteDelivered,
  deleteDeliveries,
  deleteEndedTokens,
  deleteGrants,
  deleteIdleClients,
  deletePasskeyChallenges,
  deletePendingSignIns,
  deleteProviderSignIns,
  deleteRateLimits,
  deleteSecrets,
  deleteServerSignIns,
  deleteServiceCredentials,
  deleteSessions,
  deleteSubscriptions,
  deleteToolCallAgents,
  deleteToolCallHours,
  deleteToolCalls,
  deleteUnownedSteps,
  deleteUnusedClients,
  expireInvitations,
  expireTokens,
  reportGrants,
} from './jobs.sql.js';
import { passDeletedFacts } from '../destinations/claim.sql.js';
import { expireMails } from '../mails/outbox/outbox.sql.js';
import { UNOWNED_MS } from '../oauth/attempts/service.js';
import { GRANT_SECONDS } from '../oauth/provider/lifetimes.js';

const EVERY_MS = 60_000;
/** Facts, and what became of them; deliveries that were accepted are not kept quite so long. */
const FACT_DAYS = 14;
const DELIVERED_DAYS = 3;
/** Attempts to connect, of members. */
const ATTEMPT_DAYS = 14;
const BATCH = 1_000;

/** Repeats a step until a batch is not full. */
const inBatches = (deleteBatch: () => Promise<number>) => async (): Promise<void> => {
  while ((await deleteBatch()) === BATCH);
};

/**
 * Marks expired tokens, so that lists and counters can leave them out cheaply; deletes expired sessions, OAuth tokens,
 * codes, links, subscriptions to events and unsent mails; reports connections that expire soon; removes members whose invitation has lapsed; deletes tool calls, ended tokens, connections,
 * clients that nobody connects any more, and facts and audit entries past their retention. A step that fails is retried on the next
 * run, and does not block the others.
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
  /** Whether facts are published to Kafka, and kept until they are. */
  readonly hasKafka?: boolean;
}) {
  const { pool, clock, log } = deps;
  const retentionMs = FACT_DAYS * DAY_MS;
  const facts = createOutboxRetention({
    pool,
    log,
    clock,
    retentionMs,
    isPublishedOnly: deps.hasKafka ?? false,
    beforeDeletion: (last) => passDeletedFacts(pool, last, new Date(clock())),
  });

  async function deleteMails(now: Date): Promise<void> {
    for (let count = BATCH; count === BATCH;) {
      count = await expireMails(pool, now, BATCH);
      if (count > 0) log.warn({ mails: count }, 'deleted mails that expired before they could be sent');
    }
  }

  function createSteps(): Record<string, () => Promise<void>> {
    const now = new Date(clock());
    const daysAgo = (days: number) => new Date(now.getTime() - days * DAY_MS);
    const endedBefore = daysAgo(deps.auditDays);
    // A client last used before then has no connection left: the last one has expired, and was deleted since.
    const usedBefore = new Date(endedBefore.getTime() - GRANT_SECONDS * 1_000 - DAY_MS);
    const countedFrom = daysAgo(deps.toolCallDays);
    const toolCallsFrom = firstIdAt(countedFrom.getTime());
    const attemptsFrom = firstIdAt(daysAgo(ATTEMPT_DAYS).getTime());
    const unownedFrom = firstIdAt(now.getTime() - UNOWNED_MS);
    const auditFrom = firstIdAt(endedBefore.getTime());
    return {
      'expired tokens': async () => {
        // A batch leaves out the tokens of locked owners.
        while ((await expireTokens(pool, now, BATCH)) > 0);
      },
      'ended tokens': () => deleteEndedTokens(pool, endedBefore, BATCH),
      'lapsed invitations': inBatches(() => expireInvitations(pool, now, BATCH)),
      sessions: inBatches(() => deleteSessions(pool, now, BATCH)),
      'pending sign-ins': inBatches(() => deletePendingSignIns(pool, now, BATCH)),
      'provider sign-ins': inBatches(() => deleteProviderSignIns(pool, now, BATCH)),
      'sign-ins at MCP servers': inBatches(() => deleteServerSignIns(pool, now, BATCH)),
      'passkey challenges': inBatches(() => deletePasskeyChallenges(pool, now, BATCH)),
      'rate limits': inBatches(() => deleteRateLimits(pool, now.getTime(), BATCH)),
      'service credentials': inBatches(() => deleteServiceCredentials(pool, now, BATCH)),
      'access tokens': inBatches(() => deleteAccessTokens(pool, now, BATCH)),
      'OAuth artifacts': inBatches(() => deleteArtifacts(pool, now, BATCH)),
      'connections that expire soon': inBatches(() => reportGrants(pool, now, BATCH)),
      grants: inBatches(() => deleteGrants(pool, endedBefore, BATCH)),
      'unused clients': inBatches(() => deleteUnusedClients(pool, daysAgo(1), BATCH)),
      'idle clients': inBatches(() => deleteIdleClients(pool, usedBefore, BATCH)),
      'one-time secrets': inBatches(() => deleteSecrets(pool, now, BATCH)),
      mails: () => deleteMails(now),
      'event subscriptions': inBatches(() => deleteSubscriptions(pool, now, BATCH)),
      'tool calls': inBatches(() => deleteToolCalls(pool, toolCallsFrom, BATCH)),
      'hours of tool calls': inBatches(() => deleteToolCallHours(pool, countedFrom, BATCH)),
      'agents of tool calls': inBatches(() => deleteToolCallAgents(pool, countedFrom, BATCH)),
      'attempts to connect': inBatches(() => deleteConnectionSteps(pool, attemptsFrom, BATCH)),
      'attempts of nobody': inBatches(() => deleteUnownedSteps(pool, unownedFrom, BATCH)),
      facts: async () => void (await facts.sweep()),
      'delivered facts': inBatches(() => deleteDelivered(pool, daysAgo(DELIVERED_DAYS), BATCH)),
      'deliveries of facts': inBatches(() => deleteDeliveries(pool, daysAgo(FACT_DAYS), BATCH)),
      'audit entries': inBatches(() => deleteAuditEntries(pool, auditFrom, BATCH)),
    };
  }

  async function sweep(): Promise<void> {
    for (const [what, step] of Object.entries(createSteps()))
      await step().catch((error: unknown) => {
        log.warn({ err: error, what }, 'failed to delete expired data; retrying');
      });
  }
  const task = createPeriodicTask({
    intervalMs: EVERY_MS,
    run: sweep,
    onError: (error) => {
      log.warn({ err: error }, 'failed to delete expired data; retrying');
    },
  });
  return { sweep, start: task.start, stop: task.stop };
}

/** Starts the job that deletes what has expired. */
export function startExpiry(
  deps: Parameters<typeof createExpiryJob>[0] & { readonly startJob: StartJob },
): void {
  deps.startJob('expiry', createExpiryJob(deps));
}
