import { firstIdAt, type PageWindow } from '@platform/service-kit';
import { Prisma } from '../generated/prisma/client.js';
import type { Prisma as Client } from '../prisma.js';

export interface AuditRow {
  readonly id: string;
  readonly action: string;
  readonly actorId: string | null;
  readonly credentialKind: string | null;
  readonly credentialId: string | null;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly requestId: string | null;
  readonly subjectId: string | null;
  readonly reason: string | null;
  readonly detail: unknown;
  readonly changes: unknown;
  readonly createdAt: Date;
}

export async function countAuditEntries(db: Client, orgId: string): Promise<number> {
  const counters = await db.organisationCounters.findUnique({
    where: { orgId },
    select: { auditEntries: true },
  });
  return Number(counters?.auditEntries ?? 0);
}

export const findByIds = (db: Client, orgId: string, ids: readonly string[]): Promise<AuditRow[]> =>
  db.auditEntry.findMany({
    where: { orgId, id: { in: [...ids] } },
    orderBy: { id: 'desc' },
    omit: { orgId: true },
  });

/** Finds the ids of the page by an index-only scan, then reads only the rows of that page. */
export async function findAuditEntries(db: Client, orgId: string, window: PageWindow): Promise<AuditRow[]> {
  const page = await db.auditEntry.findMany({
    where: { orgId },
    orderBy: { id: window.isFromEnd ? 'asc' : 'desc' },
    skip: window.offset,
    take: window.count,
    select: { id: true },
  });
  return findByIds(
    db,
    orgId,
    page.map(({ id }) => id),
  );
}

/** The conditions of a search; undefined matches every entry. */
export interface AuditFilter {
  readonly subjectId: string | undefined;
  readonly actorId: string | undefined;
  readonly action: string | undefined;
  /** Part of the name or address of whom or what it was done by or to, or of the IP address. */
  readonly q: string | undefined;
  /** Inclusive. */
  readonly from: Date | undefined;
  /** Exclusive. */
  readonly to: Date | undefined;
  /** The id before which the page begins, in lower case. */
  readonly beforeId: string | undefined;
}

/** The number of entries that one search reads at most, so that its cost doesn't grow with the audit. */
const MAX_SEARCHED = 20_000;

export interface AuditSearch {
  readonly total: number;
  readonly rows: AuditRow[];
  /** The oldest entry that was read; undefined when the search was complete. */
  readonly searchedFrom: { readonly id: string; readonly at: Date } | undefined;
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** Selects the `ids` whose names contain the text. Each table is looked up by its primary key, as in findAuditNames. */
const namedLike = (orgId: string, q: string | undefined): Prisma.Sql => {
  if (q === undefined) return Prisma.sql`select null as id where false`;
  const like = (name: Prisma.Sql) =>
    Prisma.sql`org_id = ${orgId}::uuid and strpos(lower(${name}), lower(${q})) > 0`;
  return Prisma.sql`
      select id::text from users where id in (select id from ids) and ${like(Prisma.sql`full_name || ' ' || email`)}
      union all select id::text from personal_access_tokens where id in (select id from ids) and ${like(Prisma.sql`name`)}
      union all select id::text from service_accounts where id in (select id from ids) and ${like(Prisma.sql`name`)}
      union all select id from oauth_clients where id in (select id::text from ids) and ${like(Prisma.sql`name`)}
      union all select id::text from groups where id in (select id from ids) and ${like(Prisma.sql`name`)}
      union all select id::text from mcp_servers where id in (select id from ids) and ${like(Prisma.sql`name`)}`;
};

/**
 * Reads the newest entries that match the most selective filter from its index, and applies the other filters to those.
 * Each of the three filters has an index ordered by time; without a filter, the organisation's index is used.
 */
export async function searchAuditEntries(
  db: Client,
  orgId: string,
  filter: AuditFilter,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<AuditSearch> {
  const conditions = [
    filter.subjectId === undefined ? undefined : Prisma.sql`subject_id = ${filter.subjectId}::uuid`,
    filter.actorId === undefined ? undefined : Prisma.sql`actor_id = ${filter.actorId}::uuid`,
    filter.action === undefined ? undefined : Prisma.sql`action = ${filter.action}`,
  ].filter((condition) => condition !== undefined);
  const [narrowest = Prisma.sql`true`, ...others] = conditions;
  // After a cursor nothing is counted: a search by one index reads no more than its page.
  const { q } = filter;
  if (q !== undefined)
    others.push(Prisma.sql`(strpos(lower(concat_ws(' ', address, detail ->> 'connector', detail ->> 'url')), lower(${q})) > 0
    or actor_id::text in (select id from named) or subject_id::text in (select id from named))`);
  const max = filter.beforeId !== undefined && others.length === 0 ? offset + limit + 1 : MAX_SEARCHED;
  const firstId = filter.from === undefined ? FIRST_ID : firstIdAt(filter.from.getTime());
  const toId = filter.to === undefined ? LAST_ID : firstIdAt(filter.to.getTime());
  const endId = filter.beforeId !== undefined && filter.beforeId < toId ? filter.beforeId : toId;
  const [found] = await db.$queryRaw<
    [{ total: number; searched: number; oldestId: string | null; oldest: Date | null; ids: string[] }]
  >`
    with searched as materialized (
      select id, subject_id, actor_id, action, address, created_at${q === undefined ? Prisma.empty : Prisma.sql`, detail`}
      from audit_entries
      where org_id = ${orgId}::uuid and id >= ${firstId}::uuid and id < ${endId}::uuid and ${narrowest}
      order by id desc limit ${max}
    ), ids as materialized (
      select actor_id as id from searched union select subject_id from searched
    ), named as materialized (${namedLike(orgId, q)}
    ), matching as materialized (
      select id from searched where ${Prisma.join([Prisma.sql`true`, ...others], ' and ')}
    )
    select (select count(*)::int from matching) as total,
           (select count(*)::int from searched) as searched,
           (select id::text from searched order by id limit 1) as "oldestId",
           (select min(created_at) from searched) as oldest,
           array(select id::text from matching order by id desc limit ${limit} offset ${offset}) as ids`;
  return {
    total: found.total,
    rows: await findByIds(db, orgId, found.ids),
    searchedFrom:
      found.searched < MAX_SEARCHED || max < MAX_SEARCHED || found.oldestId === null || found.oldest === null
        ? undefined
        : { id: found.oldestId, at: found.oldest },
  };
}

export interface AuditName {
  readonly kind: string;
  readonly name: string;
}

/**
 * Names what the ids of a page stand for (AUD-3), removed members and revoked tokens included; of a session, its member. Each table is
 * looked up by its primary key, and by the organisation. What no longer exists has no name.
 */
export async function findAuditNames(
  db: Client,
  orgId: string,
  ids: readonly string[],
): Promise<Record<string, AuditName>> {
  if (ids.length === 0) return {};
  const wanted = [...new Set(ids)];
  const rows = await db.$queryRaw<(AuditName & { id: string })[]>`
    select id::text, 'member' as kind, full_name as name from users
      where id = any(${wanted}::uuid[]) and org_id = ${orgId}::uuid
    union all select id::text, 'token', name from personal_access_tokens
      where id = any(${wanted}::uuid[]) and org_id = ${orgId}::uuid
    union all select sessions.id::text, 'session', users.full_name from sessions join users on users.id = sessions.user_id
      where sessions.id = any(${wanted}::uuid[]) and sessions.org_id = ${orgId}::uuid
    union all select id::text, 'service_account', name from service_accounts
      where id = any(${wanted}::uuid[]) and org_id = ${orgId}::uuid
    union all select id, 'application', name from oauth_clients
      where id = any(${wanted}::text[]) and org_id = ${orgId}::uuid
    union all select oauth_grants.id::text, 'connected_app', oauth_clients.name
      from oauth_grants join oauth_clients on oauth_clients.id = oauth_grants.client_id
      where oauth_grants.id = any(${wanted}::uuid[]) and oauth_grants.org_id = ${orgId}::uuid
    union all select id::text, 'group', name from groups
      where id = any(${wanted}::uuid[]) and org_id = ${orgId}::uuid
    union all select id::text, 'mcp_server', name from mcp_servers
      where id = any(${wanted}::uuid[]) and org_id = ${orgId}::uuid
    union all select id::text, 'destination', coalesce(nullif(description, ''), split_part(url, '/', 3)) from fact_destinations
      where id = any(${wanted}::uuid[]) and org_id = ${orgId}::uuid
    union all select id::text, 'organisation', name from organisations
      where id = any(${wanted}::uuid[]) and id = ${orgId}::uuid`;
  return Object.fromEntries(rows.map(({ id, kind, name }) => [id, { kind, name }]));
}
