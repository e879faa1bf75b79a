import { type Clock, type ListPage, type ListQuery, notFound, readListPage } from '@platform/service-kit';
import type pg from 'pg';
import type { Prisma } from '../../prisma.js';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { createDescribeBounds, type DescribeBounds } from '../../credentials/bounds/bounds.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import {
  countApps,
  type ConnectedAppRow,
  findApps,
  findOwnApps,
  MAX_COUNTED_APPS,
} from './connections.sql.js';
import { revokeGrants } from './revoke.queries.js';
import type { ConnectedApp, OwnedConnectedApp } from './schemas.js';

const toApp = (row: ConnectedAppRow, describeBounds: DescribeBounds): ConnectedApp => ({
  id: row.id,
  client: {
    id: row.client_id,
    kind: row.kind,
    name: row.name,
    host: row.kind === 'document' ? new URL(row.client_id).host : null,
  },
  scopes: row.scopes,
  bounds: describeBounds(row.bounds),
  createdAt: row.created_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
  lastUsedAt: row.last_used_at?.toISOString() ?? null,
  lastAddress: row.last_address,
});

const toOwnedApp = (row: ConnectedAppRow, describeBounds: DescribeBounds): OwnedConnectedApp => ({
  ...toApp(row, describeBounds),
  owner: { id: row.user_id, email: row.email, fullName: row.full_name },
});

/** The context of the functions for the applications that members have allowed to act for them. */
export interface ConnectedAppContext {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly clock: Clock;
}

async function revokeApp(
  { clock, prisma }: ConnectedAppContext,
  caller: Caller,
  id: string,
  userId: string | undefined,
  reason: string | null,
) {
  const at = new Date(clock());
  const { orgId } = caller;
  await prisma.$transaction(async (tx) => {
    const [ended] = await revokeGrants(tx, { ids: [id], orgId, userId, by: caller.userId, reason, at });
    if (!ended) throw notFound('Connected app not found');
    await insertAuditEntry(tx, {
      orgId,
      action: 'connected_app.revoked',
      actor: toActor(caller),
      subjectId: id,
      reason,
      detail: { clientId: ended.clientId, userId: ended.userId },
      at,
    });
  });
}

export async function listOwnApps(
  { pool, clock }: ConnectedAppContext,
  { orgId, userId }: Pick<Caller, 'orgId' | 'userId'>,
): Promise<ConnectedApp[]> {
  const rows = await findOwnApps(pool, userId, new Date(clock()));
  const describeBounds = await createDescribeBounds(pool, orgId, rows);
  return rows.map((row) => toApp(row, describeBounds));
}

export async function listApps(
  { clock, pool }: ConnectedAppContext,
  { orgId }: Pick<Caller, 'orgId'>,
  query: ListQuery,
): Promise<ListPage<OwnedConnectedApp>> {
  const now = new Date(clock());
  const page = await readListPage(query, {
    count: () => countApps(pool, orgId, now),
    maxCount: MAX_COUNTED_APPS,
    find: (window) => findApps(pool, orgId, now, window),
    toItem: (row) => row,
  });
  const describeBounds = await createDescribeBounds(pool, orgId, page.data);
  return { ...page, data: page.data.map((row) => toOwnedApp(row, describeBounds)) };
}

/** Ends a connection of the caller with all of its tokens, at once. @throws AppError 404. */
export function revokeOwnApp(
  ctx: ConnectedAppContext,
  caller: Caller,
  id: string,
  reason: string | null,
): Promise<void> {
  return revokeApp(ctx, caller, id, caller.userId, reason);
}

/** Ends a connection of any member of the organisation. @throws AppError 404. */
export function revokeAnyApp(
  ctx: ConnectedAppContext,
  caller: Caller,
  id: string,
  reason: string | null,
): Promise<void> {
  return revokeApp(ctx, caller, id, undefined, reason);
}
