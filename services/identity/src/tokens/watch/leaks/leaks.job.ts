import { type Clock, createPeriodicTask, inTransaction, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import type { Prisma } from '../../../prisma.js';
import { platformActor } from '../../../base/caller/actor.js';
import { insertAuditEntry } from '../../../audit/record.sql.js';
import { findAdministrators } from '../../../members/organisation/administration.js';
import type { Outbox } from '../../../mails/outbox/outbox.js';
import { revokeLineage } from '../../revoke.js';
import { storeAlert } from '../../../mails/alerts.js';
import {
  deleteLeakReport,
  findLeakedTokens,
  hasLeakReports,
  isFirstReport,
  type LeakedToken,
} from './leaks.sql.js';

const EVERY_MS = 5_000;
const BATCH = 1_000;

/**
 * Revokes the tokens that were reported as leaked, and notifies their owners and the administrators. A report is deleted in
 * the transaction that stores the mails, so that each is sent once, whichever replica dies in between.
 */
export function createLeaksJob(deps: {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}) {
  const { pool, prisma, outbox, clock, log } = deps;

  async function settle({ reportId, ...token }: LeakedToken): Promise<void> {
    const { tokenId, orgId, ownerId, url } = token;
    const at = new Date(clock());
    // A rotation since the report, or by the token itself, may be that of whoever found the token.
    const lineage = {
      tokenId,
      orgId,
      reason: 'leaked',
      rotatedSince: token.reportedAt,
      at,
    };
    await inTransaction(pool, (client) => revokeLineage(client, lineage));
    await prisma.$transaction(async (tx) => {
      const isFirst = await isFirstReport(tx, orgId, tokenId);
      if (!(await deleteLeakReport(tx, reportId))) return;
      const entry = { orgId, action: 'token.leaked', actor: platformActor, subjectId: tokenId, at } as const;
      await insertAuditEntry(tx, { ...entry, ...(url !== null && { detail: { url } }) });
      if (!isFirst) return;
      const administrators = await findAdministrators(tx, orgId);
      const owners = ownerId === null ? [] : [ownerId];
      await storeAlert(tx, outbox, {
        topic: 'token-leaked',
        causedBy: ownerId ?? orgId,
        recipients: [...new Set([...owners, ...administrators.map(({ id }) => id)])],
        tokenOwnerId: ownerId,
        alert: { notice: 'tokenLeaked', name: token.name, owner: token.ownerName, url: url ?? '' },
        client: null,
        reportsTheft: true,
        at,
      });
    });
    outbox.wake();
  }

  /** A report that cannot be settled is tried again in the next run, and holds up no other one. */
  async function run(signal: AbortSignal): Promise<void> {
    let hasFailed = false;
    while (!signal.aborted && !hasFailed && (await hasLeakReports(pool)))
      for (const token of await findLeakedTokens(pool, BATCH))
        try {
          await settle(token);
        } catch (error) {
          hasFailed = true;
          log.warn({ err: error, tokenId: token.tokenId }, 'failed to revoke a leaked token; retrying');
        }
  }

  return createPeriodicTask({
    intervalMs: EVERY_MS,
    run,
    onError: (error) => log.warn({ err: error }, 'failed to read the reports of leaked tokens; retrying'),
  });
}
