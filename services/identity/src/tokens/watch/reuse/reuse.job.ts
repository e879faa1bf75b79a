import type pg from 'pg';
import { type Clock, createPeriodicTask, DAY_MS, inTransaction, type Logger } from '@platform/service-kit';
import type { StartJob } from '../../../base/start-job.js';
import type { RefusedUses } from '../../../credentials/liveness/refused-uses.js';
import { storeAlert } from '../../../mails/alerts.js';
import type { Outbox } from '../../../mails/outbox/outbox.js';
import { findAdministrators } from '../../../members/organisation/administration.js';
import type { Prisma } from '../../../prisma.js';
import { findTokenPolicy } from '../../policy/queries.js';
import { revokeLineage } from '../../revoke.js';
import { claimReuse, claimReuseNotice, findReusedTokens, type ReusedToken } from './reuse.sql.js';

const EVERY_MS = 5_000;
const BATCH = 100;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';
/** The owner, or the administrators for a service account, is notified once in this time, however often the old token is tried. */
const NOTICE_EVERY_MS = DAY_MS;

/**
 * Reacts to the use of a rotated token after its end: revokes the lineage with its descendants where the organisation's
 * policy demands it, and notifies the owner when and from where. The reaction is one transaction, which ends the row that was
 * stored with the audit entry, so that it happens once, whichever replica dies in between. [PAT-27]
 */
function createReuseJob(deps: {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}) {
  const { pool, prisma, outbox, clock, log } = deps;

  async function react(token: ReusedToken): Promise<void> {
    const { tokenId, orgId, ownerId, name } = token;
    const { revokeFamilyOnReuse } = await findTokenPolicy(prisma, orgId);
    const recipients =
      ownerId === null ? (await findAdministrators(prisma, orgId)).map(({ id }) => id) : [ownerId];
    const at = new Date(clock());
    await inTransaction(pool, async (client) => {
      const reuse = await claimReuse(client, tokenId);
      if (!reuse) return;
      if (revokeFamilyOnReuse)
        await revokeLineage(client, { tokenId, orgId, reason: 'reuse of a rotated token', at });
      const before = new Date(at.getTime() - NOTICE_EVERY_MS);
      if (!(await claimReuseNotice(client, tokenId, at, before))) return;
      await storeAlert(client, outbox, {
        topic: 'token-reused',
        causedBy: ownerId ?? orgId,
        recipients,
        tokenOwnerId: ownerId,
        alert: { notice: 'tokenReused', name, ...(revokeFamilyOnReuse && { revoked: 'yes' }) },
        client: { address: reuse.address ?? 'unknown', userAgent: reuse.userAgent ?? undefined },
        reportsTheft: true,
        at: reuse.usedAt,
      });
    });
    outbox.wake();
  }

  /** A reaction that fails is tried again in the next run, and holds up no other one. */
  async function run(signal: AbortSignal): Promise<void> {
    let tokens: ReusedToken[] = [];
    do {
      tokens = await findReusedTokens(pool, tokens.at(-1)?.tokenId ?? FIRST_ID, BATCH);
      for (const token of tokens) {
        if (signal.aborted) return;
        await react(token).catch((error: unknown) =>
          log.warn(
            { err: error, tokenId: token.tokenId },
            'failed to react to the use of a rotated token; retrying',
          ),
        );
      }
    } while (tokens.length === BATCH);
  }

  return createPeriodicTask({
    intervalMs: EVERY_MS,
    run,
    onError: (error) => log.warn({ err: error }, 'failed to find the uses of rotated tokens; retrying'),
  });
}

/** Starts the reactions to rotated tokens that are used after their end. */
export function startTokenReuses(
  deps: Parameters<typeof createReuseJob>[0] & {
    readonly refusedUses: Pick<RefusedUses, 'onReuse'>;
    readonly startJob: StartJob;
  },
): void {
  const job = createReuseJob(deps);
  deps.startJob('reused tokens', job);
  deps.refusedUses.onReuse(job.wake);
}
