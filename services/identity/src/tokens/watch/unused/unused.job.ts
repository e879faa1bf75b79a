import type pg from 'pg';
import { type Clock, createPeriodicTask, type Logger } from '@platform/service-kit';
import type { StartJob } from '../../../base/start-job.js';
import { storeAlert } from '../../../mails/alerts.js';
import type { Outbox } from '../../../mails/outbox/outbox.js';
import { findAdministrators } from '../../../members/organisation/administration.js';
import type { Prisma } from '../../../prisma.js';
import { platformRevoker, revokeTokens } from '../../revoke.js';
import { checkUse, findWarnedTokens, forgetUnused, type WarnedToken } from './unused.sql.js';

const EVERY_MS = 60_000;
const BATCH = 500;

/*
 * The life of a token whose organisation revokes what is unused:
 *
 *   looked at   when its use is not known for long enough; if it was used, it is looked at again later
 *   noted       in `unused_tokens`: the next digest of its owner warns about it, in the transaction that marks it
 *   warned      a week later it is revoked, unless it was used, or the policy changed: then it is looked at again
 */

/** Finds the tokens to warn owners about, and revokes tokens that stay unused for a week after the warning. [PAT-36] */
export function createUnusedJob(deps: {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}) {
  const { pool, prisma, outbox, clock, log } = deps;

  async function revoke({ id: tokenId, orgId, name, account, days }: WarnedToken, at: Date): Promise<void> {
    const administrators = (await findAdministrators(prisma, orgId)).map(({ id }) => id);
    await revokeTokens(pool, {
      tokenId,
      ownerId: undefined,
      by: platformRevoker(orgId),
      reason: 'unused',
      keepsDescendants: true,
      onlyIfUnused: true,
      at,
      report: (client, { ownerId }) =>
        storeAlert(client, outbox, {
          topic: 'token-unused',
          causedBy: ownerId ?? orgId,
          recipients: ownerId === null ? administrators : [ownerId],
          tokenOwnerId: ownerId,
          alert: {
            notice: 'tokenUnused',
            name,
            account: account ?? '',
            state: 'revokedUnused',
            days: String(days ?? 0),
          },
          client: null,
          isMerged: true,
          at,
        }),
    });
  }

  /** A token that cannot be revoked is tried again in the next run, and holds up no other one. */
  async function revokeWarned(signal: AbortSignal): Promise<void> {
    const failed: string[] = [];
    while (!signal.aborted) {
      const now = new Date(clock());
      const tokens = await findWarnedTokens(pool, { now, except: failed, limit: BATCH });
      if (tokens.length === 0) return;
      for (const token of tokens) {
        if (signal.aborted) return;
        try {
          if (token.isRevocable) await revoke(token, now);
          // Whatever it was, it is not waiting any more: revoked, or used in between.
          await forgetUnused(pool, [token.id]);
        } catch (error) {
          failed.push(token.id);
          log.warn({ err: error, tokenId: token.id }, 'failed to revoke an unused token; retrying');
        }
      }
      outbox.wake();
    }
  }

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await checkUse(pool, new Date(clock()), BATCH)) > 0);
    await revokeWarned(signal);
  }

  return createPeriodicTask({
    intervalMs: EVERY_MS,
    run,
    onError: (error) => log.warn({ err: error }, 'failed to find unused tokens; retrying'),
  });
}

/** Starts the job that revokes unused tokens. Without a mail service, nobody could be warned, and nothing is revoked. */
export function startUnusedTokens(
  deps: Parameters<typeof createUnusedJob>[0] & { readonly startJob: StartJob },
): void {
  if (!deps.outbox.isEnabled) return;
  const job = createUnusedJob(deps);
  // It looks at once, too.
  const start = (): void => {
    job.start();
    job.wake();
  };
  deps.startJob('unused tokens', { start, stop: job.stop });
}
