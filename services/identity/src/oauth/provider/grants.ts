import type { Clock } from '@platform/service-kit';
import OidcProvider from 'oidc-provider';
import type pg from 'pg';
import type { Prisma } from '../../prisma.js';
import { platformActor } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { revokeGrants } from '../connections/revoke.queries.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import { storeAlert } from '../../mails/alerts.js';
import type { GrantStore } from './adapter.js';
import { findClientName, findGrantPayload } from './grants.sql.js';

/** Returns true when the client has asked to end the grant (RFC 7009), and false when a used code or token came again. */
const isRevocation = (): boolean => OidcProvider.ctx?.oidc.route === 'revocation';

const getReuseReason = (): string =>
  OidcProvider.ctx?.oidc.params?.['grant_type'] === 'refresh_token'
    ? 'refresh token used again'
    : 'authorization code used again';

/** Creates the store of grants for the provider. */
export function createGrantStore(deps: {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly outbox: Outbox;
  readonly clock: Clock;
}): GrantStore {
  const { pool, prisma, outbox, clock } = deps;
  return {
    find: (id) => findGrantPayload(pool, id),
    async end(id, isByClient = isRevocation()) {
      const at = new Date(clock());
      const isReuse = !isByClient;
      const reason = isReuse ? getReuseReason() : 'revoked by the client';
      await prisma.$transaction(async (tx) => {
        const revocation = { ids: [id], orgId: undefined, userId: undefined, by: null, reason, at };
        const [ended] = await revokeGrants(tx, revocation);
        if (!ended) return;
        const { orgId, userId, clientId } = ended;
        await insertAuditEntry(tx, {
          orgId,
          action: 'connected_app.revoked',
          actor: platformActor,
          subjectId: id,
          reason,
          detail: { clientId, userId },
          at,
        });
        if (!isReuse) return;
        await storeAlert(tx, outbox, {
          topic: 'grant-reused',
          causedBy: userId,
          recipients: [userId],
          alert: { notice: 'grantReused', application: await findClientName(tx, clientId) },
          client: null,
          reportsTheft: true,
          at,
        });
      });
      outbox.wake();
    },
  };
}
