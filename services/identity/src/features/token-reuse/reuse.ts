import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import type { Prisma } from '../../resources.js';
import { findAdministrators } from '../configuration/queries.js';
import type { RefusedUse } from '../liveness/refused-uses.queries.js';
import type { Outbox } from '../outgoing-mails/outbox.js';
import { platformRevoker, revokeTokens } from '../token-revocation/queries.js';
import type { TokenPolicy } from '../token-policy/policy.js';
import { describeReuse } from '../token-alerts/alerts.js';
import { limitAlert } from '../token-alerts/limited-alerts.js';
import { storeAlert } from '../token-alerts/queries.js';
import { claimReuseNotice, findReusedToken } from './queries.js';

/** The owner, or the administrators for a service account, is told once in this time, however often the old token is tried. */
const NOTICE_EVERY_MS = 24 * 60 * 60_000;

/**
 * Reacts to the use of a rotated token after its end: revokes the lineage with its descendants where the organisation's
 * policy demands it, and tells the owner when and from where. Calling it again does nothing more.
 */
export const createReuseReaction =
  (deps: {
    readonly pool: pg.Pool;
    readonly prisma: Prisma;
    readonly outbox: Outbox;
    readonly clock: Clock;
    readonly getPolicy: (orgId: string) => Promise<TokenPolicy>;
  }) =>
  async ({ tokenId, address, userAgent, at: usedAt }: RefusedUse): Promise<void> => {
    const { pool, prisma, outbox, clock } = deps;
    const token = await findReusedToken(pool, tokenId);
    if (!token) return;
    const at = new Date(clock());
    const { revokeFamilyOnReuse } = await deps.getPolicy(token.orgId);
    if (revokeFamilyOnReuse)
      await revokeTokens(pool, {
        tokenId: token.newestId,
        ownerId: undefined,
        by: platformRevoker(token.orgId),
        reason: 'reuse of a rotated token',
        keepsDescendants: false,
        at,
      });
    await prisma.$transaction(async (tx) => {
      if (!(await claimReuseNotice(tx, tokenId, at, new Date(at.getTime() - NOTICE_EVERY_MS)))) return;
      const recipients =
        token.ownerId === null ? await findAdministrators(tx, token.orgId) : [{ id: token.ownerId }];
      const alert = limitAlert(outbox, {
        topic: 'token-reused',
        causedBy: token.ownerId ?? token.orgId,
        recipients: recipients.map(({ id }) => id),
        alert: describeReuse(token.name, revokeFamilyOnReuse),
        client: { address: address ?? 'unknown', userAgent },
        reportsTheft: true,
        at: usedAt,
      });
      await storeAlert(tx, alert, at);
    });
    outbox.wake();
  };
