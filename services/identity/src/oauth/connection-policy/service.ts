import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import type { Prisma } from '../../prisma.js';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { findChanges } from '../../audit/changes.js';
import { insertAuditEntries } from '../../audit/record.sql.js';
import { revokeGrants } from '../connections/revoke.queries.js';
import { changeAsAdministrator } from '../../members/organisation/administration.js';
import {
  type ConnectionBreach,
  type ConnectionPolicy,
  DEFAULT_CONNECTION_POLICY,
  findConnectionBreaches,
} from './policy.js';
import { findConnectionPolicy, saveConnectionPolicy } from './queries.js';
import {
  type ActiveConnection,
  findActiveConnections,
  findConnections,
  findStoredPolicy,
} from './connections.sql.js';
import type { AffectedConnection, ConnectionPolicyBody, SavedConnectionPolicy } from './schemas.js';

const BATCH = 1_000;
const MAX_LISTED = 1_000;
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

type Affected = ActiveConnection & { readonly breaches: ConnectionBreach[] };

const toAffected = ({ id, clientId, name, userId, email, breaches }: Affected): AffectedConnection => ({
  id,
  clientId,
  name,
  userId,
  ownerEmail: email,
  breaches,
});

const toAuditForm = (policy: ConnectionPolicy) => ({
  clientKinds: policy.clientKinds.join(' '),
  hosts: policy.hosts.join(' '),
  additionalHosts: policy.additionalHosts.join(' '),
  connectableBy: policy.connectableBy,
  maxLifetimeDays: policy.maxLifetimeDays,
});
const auditFields = ['clientKinds', 'hosts', 'additionalHosts', 'connectableBy', 'maxLifetimeDays'] as const;

/** The context of the policy with which administrators say which applications their members may connect. */
export interface ConnectionPolicyContext {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  /** The hosts of documents that the operator allows. */
  readonly clientHosts: readonly string[];
  readonly clock: Clock;
}

async function findAffected(
  { pool, clientHosts }: ConnectionPolicyContext,
  orgId: string,
  policy: ConnectionPolicy,
  now: Date,
): Promise<Affected[]> {
  const affected: Affected[] = [];
  let before = LAST_ID;
  for (;;) {
    const batch = await findActiveConnections(pool, { orgId, now, before, limit: BATCH });
    for (const connection of batch) {
      const breaches = findConnectionBreaches(policy, connection, { now: now.getTime(), clientHosts });
      if (breaches.length > 0 && !connection.isOrphaned) affected.push({ ...connection, breaches });
    }
    if (batch.length < BATCH) return affected;
    before = batch.at(-1)?.id ?? before;
  }
}

const storePolicy = (ctx: ConnectionPolicyContext, caller: Caller, policy: ConnectionPolicy): Promise<void> =>
  changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    const { orgId } = caller;
    const before = await findConnectionPolicy(tx, orgId);
    await saveConnectionPolicy(tx, orgId, policy, at);
    const changes = findChanges(toAuditForm(before), toAuditForm(policy), auditFields);
    await record({ action: 'configuration.connection_policy_saved', subjectId: orgId, changes });
  });

/** Ends connections in one transaction of a few statements. */
const endBatch = (
  { prisma }: ConnectionPolicyContext,
  caller: Caller,
  ids: readonly string[],
  at: Date,
): Promise<unknown> =>
  prisma.$transaction(async (tx) => {
    const { orgId } = caller;
    const revocation = { orgId, userId: undefined, by: caller.userId, reason: 'policy', at };
    const ended = await revokeGrants(tx, { ids, ...revocation });
    const entry = {
      orgId,
      action: 'connected_app.revoked',
      actor: toActor(caller),
      reason: 'policy',
      at,
    } as const;
    await insertAuditEntries(
      tx,
      ended.map(({ id, clientId, userId }) => ({ ...entry, subjectId: id, detail: { clientId, userId } })),
    );
  });

export function getConnectionPolicy(
  { prisma }: ConnectionPolicyContext,
  { orgId }: { readonly orgId: string },
): Promise<ConnectionPolicy> {
  return findConnectionPolicy(prisma, orgId);
}

/**
 * Saves the policy, then ends the connections that it does not allow. Connections made meanwhile get no tokens, and
 * neither do the remaining ones when this fails: saving the policy again ends them.
 *
 * @param isDryRun - changes nothing, and returns the same.
 */
export async function changeConnectionPolicy(
  ctx: ConnectionPolicyContext,
  caller: Caller,
  body: ConnectionPolicyBody,
  isDryRun: boolean,
): Promise<SavedConnectionPolicy> {
  const policy = {
    ...body,
    clientKinds: [...new Set(body.clientKinds)],
    hosts: [...new Set(body.hosts)],
    additionalHosts: [...new Set(body.additionalHosts)],
  };
  const at = new Date(ctx.clock());
  if (!isDryRun) await storePolicy(ctx, caller, policy);
  const affected = await findAffected(ctx, caller.orgId, policy, at);
  const ids = isDryRun ? [] : affected.map(({ id }) => id);
  for (let ended = 0; ended < ids.length; ended += BATCH)
    await endBatch(ctx, caller, ids.slice(ended, ended + BATCH), at);
  return {
    policy,
    endedCount: affected.length,
    ended: affected.slice(0, MAX_LISTED).map(toAffected),
  };
}

/**
 * Finds which of the connections get no more tokens, because the policy of the organisation or the operator's list of hosts has
 * changed, their member has another role, or they last too long.
 */
export async function findBreachedConnections(
  pool: pg.Pool,
  orgId: string,
  ids: readonly string[],
  conditions: { readonly now: number; readonly clientHosts: readonly string[] },
): Promise<ReadonlySet<string>> {
  const [policy = DEFAULT_CONNECTION_POLICY, connections] = await Promise.all([
    findStoredPolicy(pool, orgId),
    findConnections(pool, orgId, ids),
  ]);
  const breached = connections.filter(
    (connection) => findConnectionBreaches(policy, connection, conditions).length > 0,
  );
  return new Set(breached.map(({ id }) => id));
}
