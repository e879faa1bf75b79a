import type { Clock } from '@platform/service-kit';
import OidcProvider from 'oidc-provider';
import type pg from 'pg';
import type { Prisma } from '../../resources.js';
import { platformActor } from '../audit/actor.js';
import { insertAuditEntry } from '../audit/queries.js';
import type { GrantStore } from './adapter.js';
import { findGrantPayload, revokeGrant } from './grants.queries.js';

/** Says why the provider ends a grant: the client asked for it (RFC 7009), or a used code or token came again. */
const getReason = (): string =>
  OidcProvider.ctx?.oidc.route === 'revocation'
    ? 'revoked by the client'
    : 'code or refresh token used again';

/** Creates the store of grants for the provider. */
export function createGrantStore(deps: {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly clock: Clock;
}): GrantStore {
  const { pool, prisma, clock } = deps;
  return {
    find: (id) => findGrantPayload(pool, id),
    async end(id) {
      const at = new Date(clock());
      const reason = getReason();
      await prisma.$transaction(async (tx) => {
        const revocation = { id, orgId: undefined, userId: undefined, by: null, reason, at };
        const ended = await revokeGrant(tx, revocation);
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
      });
    },
  };
}
