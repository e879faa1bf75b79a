import { toIsoTime } from '@platform/events';
import { inTransaction } from '@platform/service-kit';
import type pg from 'pg';
import { insertFactsOfEntries } from '../audit/record.sql.js';
import { WRONG_CODES_PER_DAY, WRONG_CODES_WINDOW_MS } from '../mails/one-time-secrets/secret.js';
import { withdrawLapsedInvitations } from '../members/members/queries.js';

/*
 * Each statement handles a bounded batch in the order of an index, and skips rows that another replica has locked.
 */

const due = `status = 'active' and expires_at <= $1`;

/*
 * Locks the owners of the next batch. Whatever changes a family has its owner locked, so the next statements see the
 * family in its final state: no child is moved to a token that another replica expires or revokes at the same time. Locked
 * owners are left for a later batch, so that no two replicas deadlock.
 */
const lockOwners = `
  with next as materialized (
    select owner_id, service_account_id from personal_access_tokens where ${due} order by expires_at limit $2
  ), member as (
    select id from users where id in (select owner_id from next) for no key update skip locked
  ), account as (
    select id from service_accounts where id in (select service_account_id from next) for no key update skip locked
  )
  select id from member union all select id from account`;

const lockDue = `
  select id from personal_access_tokens where ${due} and coalesce(owner_id, service_account_id) = any($3::uuid[])
  order by expires_at limit $2 for update skip locked`;

/*
 * The children of a token that was rotated get its successor as their parent, so that they are revoked with that one.
 * Those of a token that expires get its own parent, since a session can rotate them into tokens that outlive it. A successor
 * that ends in the same batch passes them on.
 */
const moveChildren = `
  with recursive due as materialized (
    select id, coalesce(successor_id, parent_id) as next_parent_id from personal_access_tokens where id = any($1::uuid[])
  ), successors as (
    select id, next_parent_id from due
    union all
    select successors.id, due.next_parent_id from successors join due on due.id = successors.next_parent_id
  ), moved as materialized (
    select child.id, successors.next_parent_id
    from successors join personal_access_tokens child on child.parent_id = successors.id and child.status = 'active'
    where not exists (select from due where due.id = successors.next_parent_id) and child.id <> all($1)
    limit $2
  )
  update personal_access_tokens child set parent_id = moved.next_parent_id from moved where child.id = moved.id`;

const markEnded = `
  with marked as (
    update personal_access_tokens
    set status = case when successor_id is null then 'expired' else 'revoked' end::token_status,
        revoked_at = case when successor_id is not null then expires_at end,
        revoked_reason = case when successor_id is not null then 'rotated' end
    where id = any($1::uuid[])
    returning id, org_id, successor_id
  ), entry as (
    insert into audit_entries (id, org_id, action, subject_id, reason, created_at)
    select uuid_v7($2), org_id, 'token.revoked', id, 'rotated', $2 from marked where successor_id is not null
    returning *
  ) ${insertFactsOfEntries('entry')}`;

/**
 * Marks a batch of expired tokens, and revokes predecessors that a rotation left a grace period. As long as they have many
 * children, a batch of these is moved instead: a token is marked when it has none left, and however many one member has
 * created, no statement takes longer than others.
 *
 * @returns how many tokens were changed. Expired tokens are rejected before that as well.
 */
export const expireTokens = (pool: pg.Pool, now: Date, limit: number): Promise<number> =>
  inTransaction(pool, async (client) => {
    const owners = await client.query<{ id: string }>(lockOwners, [now, limit]);
    if (owners.rows.length === 0) return 0;
    const ownerIds = owners.rows.map(({ id }) => id);
    const { rows } = await client.query<{ id: string }>(lockDue, [now, limit, ownerIds]);
    const ids = rows.map(({ id }) => id);
    const { rowCount: movedCount } = await client.query(moveChildren, [ids, limit]);
    if (movedCount === limit) return limit;
    await client.query(markEnded, [ids, now]);
    return ids.length;
  });

/** @returns how many members were removed because they hadn't accepted their invitation in time. */
export async function expireInvitations(db: pg.Pool, now: Date, limit: number): Promise<number> {
  const { text, values } = withdrawLapsedInvitations(now, limit);
  const { rowCount } = await db.query(text, values);
  return rowCount ?? 0;
}

const purgeSecrets = `
  delete from one_time_secrets where (purpose, subject) in (
    select purpose, subject from one_time_secrets where expires_at <= $1
      -- A row with wrong guesses is kept for a day, so that they keep counting.
      and (purpose <> 'login_code' or tries_left >= $3
           or coalesce(tries_since <= $1::timestamptz - make_interval(secs => $4), true))
    order by expires_at limit $2 for update skip locked
  )`;

export async function deleteSecrets(db: pg.Pool, expiredBefore: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(purgeSecrets, [
    expiredBefore,
    limit,
    WRONG_CODES_PER_DAY,
    WRONG_CODES_WINDOW_MS / 1_000,
  ]);
  return rowCount ?? 0;
}

/*
 * A token that rotated itself is kept as long as a token that came of it is active, so that a report of its leaked value
 * still ends that one.
 */
const purgeEndedTokens = `
  with due as materialized (
    select id, coalesce(lineage_id, id) as lineage_id, coalesce(revoked_at, expires_at) as ended_at
    from personal_access_tokens
    where status <> 'active' and coalesce(revoked_at, expires_at) between $3 and $1
    order by coalesce(revoked_at, expires_at) limit $2 for update skip locked
  ), deleted as (
    delete from personal_access_tokens where id in (
      select id from due where not exists (
        select from personal_access_tokens successor where successor.lineage_id = due.lineage_id and successor.status = 'active'))
    returning id
  )
  select count(*)::int as "dueCount", max(ended_at) as "lastEndedAt", (select count(*)::int from deleted) as "deletedCount"
  from due`;

interface DueTokens {
  readonly dueCount: number;
  readonly deletedCount: number;
  readonly lastEndedAt: Date;
}

/**
 * Deletes tokens that ended before then, with their last use and where it came from. Each batch begins where the one before
 * it ended, so that no number of tokens that are kept keeps later ones from being deleted.
 */
export async function deleteEndedTokens(db: pg.Pool, endedBefore: Date, limit: number): Promise<void> {
  for (let from = new Date(0); ;) {
    const { rows } = await db.query<DueTokens>(purgeEndedTokens, [endedBefore, limit, from]);
    const [batch] = rows;
    if (!batch || batch.dueCount < limit) return;
    if (batch.deletedCount === 0 && batch.lastEndedAt.getTime() === from.getTime()) return;
    from = batch.lastEndedAt;
  }
}

/** Deletes a batch of rows. @returns how many. */
type DeleteBatch<T> = (db: pg.Pool, before: T, limit: number) => Promise<number>;

/**
 * @param key - the columns of the table's primary key.
 * @param dueBy.only - a condition of the index that has the column.
 */
function createDeletion<T>(
  table: string,
  key: string,
  dueBy: {
    readonly column: string;
    readonly operator: '<' | '<=';
    readonly only?: string;
  },
): DeleteBatch<T> {
  const { column, operator, only = 'true' } = dueBy;
  const sql = `
    delete from ${table} where (${key}) in (
      select ${key} from ${table} where ${column} ${operator} $1 and ${only}
      order by ${column} limit $2 for update skip locked
    )`;
  return async (db, before, limit) => (await db.query(sql, [before, limit])).rowCount ?? 0;
}

const expired = { column: 'expires_at', operator: '<=' } as const;
/** The value is a UUIDv7: rows from before its time are deleted. */
const olderId = { column: 'id', operator: '<' } as const;

export const deleteSessions = createDeletion<Date>('sessions', 'id', expired);
/** Deletes sign-ins that nobody completed in time. */
export const deletePendingSignIns = createDeletion<Date>('pending_sign_ins', 'token_hash', expired);
export const deleteServerSignIns = createDeletion<Date>('mcp_sign_ins', 'state_hash', expired);
export const deleteProviderSignIns = createDeletion<Date>('provider_sign_ins', 'state_hash', expired);
/** Deletes challenges that no passkey has answered in time. */
export const deletePasskeyChallenges = createDeletion<Date>('passkey_challenges', 'holder', expired);
/** Deletes counts whose window has ended; the time is in milliseconds since the epoch. */
export const deleteRateLimits = createDeletion<number>('rate_limits', 'key', {
  column: 'expire',
  operator: '<=',
});
export const deleteServiceCredentials = createDeletion<Date>('service_credentials', 'id', expired);
export const deleteToolCalls = createDeletion<string>('tool_calls', 'id', olderId);
/** Deletes the counts of calls that are no longer kept. */
export const deleteToolCallHours = createDeletion<Date>('tool_call_hours', 'org_id, tool, hour', {
  column: 'hour',
  operator: '<',
});
export const deleteToolCallAgents = createDeletion<Date>('tool_call_agents', 'org_id, hour, user_id, agent', {
  column: 'hour',
  operator: '<',
});
export const deleteConnectionSteps = createDeletion<string>('connection_steps', 'id', olderId);
/** Deletes the steps of attempts to connect that belong to nobody. */
export const deleteUnownedSteps = createDeletion<string>('connection_steps', 'id', {
  ...olderId,
  only: 'user_id is null',
});
const created = { column: 'created_at', operator: '<' } as const;
/** Deletes deliveries after their retention, and deliveries whose facts are no longer kept. */
export const deleteDelivered = createDeletion<Date>('fact_deliveries', 'id', {
  ...created,
  only: `state = 'delivered'`,
});
export const deleteDeliveries = createDeletion<Date>('fact_deliveries', 'id', created);
export const deleteAuditEntries = createDeletion<string>('audit_entries', 'id', olderId);
export const deleteAccessTokens = createDeletion<Date>('oauth_access_tokens', 'id', expired);
/** Deletes authorization codes, refresh tokens and interactions. */
export const deleteArtifacts = createDeletion<Date>('oauth_artifacts', 'model, id_hash', expired);

/* A refresh token can expire after its grant. */
const purgeGrants = `
  with due as materialized (
    select id from oauth_grants where expires_at <= $1 order by expires_at limit $2 for update skip locked
  ), tokens as (
    delete from oauth_access_tokens where grant_id in (select id from due)
  ), artifacts as (
    delete from oauth_artifacts where grant_id in (select id from due)
  )
  delete from oauth_grants where id in (select id from due)`;

/** @returns how many connections were deleted, with all that belongs to them, that would have expired before then. */
export async function deleteGrants(db: pg.Pool, before: Date, limit: number): Promise<number> {
  const { rowCount } = await db.query(purgeGrants, [before, limit]);
  return rowCount ?? 0;
}

/*
 * Connections are reported a week before they expire; those that last for less than two weeks, when half of that has passed.
 */
const reportExpiringGrants = `
  with due as materialized (
    select g.id from oauth_grants g join users u on u.id = g.user_id join oauth_clients c on c.id = g.client_id
    where g.revoked_at is null and not g.is_expiry_reported and u.removed_at is null and c.removed_at is null
      and g.expires_at > $1 and g.expires_at <= $1::timestamptz + interval '7 days'
      and $1 >= g.created_at + (g.expires_at - g.created_at) / 2
    order by g.expires_at limit $2 for update of g skip locked
  ), reported as (
    update oauth_grants g set is_expiry_reported = true from due where g.id = due.id returning g.*
  ), entry as (
    insert into audit_entries (id, org_id, action, subject_id, detail, created_at)
    select uuid_v7($1), org_id, 'connected_app.expiring', id, jsonb_build_object('clientId', client_id, 'userId', user_id,
      'expiresAt', ${toIsoTime('expires_at')}), $1 from reported
    returning *
  ) ${insertFactsOfEntries('entry')}`;

/** @returns how many connections that expire soon were reported. */
export async function reportGrants(db: pg.Pool, now: Date, limit: number): Promise<number> {
  return (await db.query(reportExpiringGrants, [now, limit])).rowCount ?? 0;
}

/*
 * The subquery looks up each client that is due; "not exists" can be planned as a join that reads all connections.
 *
 * @param isDue - matches the clients that were last used by the time $1.
 */
function createClientDeletion(isDue: string): DeleteBatch<Date> {
  const sql = `
    delete from oauth_clients where id in (
      select id from oauth_clients c
      where ${isDue} and (select true from oauth_grants g where g.client_id = c.id limit 1) is null
      limit $2 for update skip locked
    )`;
  return async (db, before, limit) => (await db.query(sql, [before, limit])).rowCount ?? 0;
}

/** Deletes clients that had registered themselves before then and were never connected. */
export const deleteUnusedClients = createClientDeletion(
  `kind = 'registered' and last_used_at is null and created_at <= $1`,
);
/** Deletes clients that describe themselves and were last used before then, except clients that an operator has disabled. */
export const deleteIdleClients = createClientDeletion(
  `kind <> 'application' and disabled_at is null and coalesce(last_used_at, created_at) <= $1`,
);

/*
 * A subscription to events also ends with its credential: nothing is sent after that, whether or not it was deleted. A token that
 * was revoked, or has expired, is not active any more.
 */
const purgeSubscriptions = `
  delete from fact_destinations where id in (
    select d.id from fact_destinations d
      left join personal_access_tokens t on d.credential_kind = 'pat' and t.id = d.credential_id and t.status = 'active'
      left join oauth_grants g on d.credential_kind = 'oauth' and g.id = d.credential_id and g.revoked_at is null
    where d.form = 'subscription' and (d.ends_at <= $1 or coalesce(t.id, g.id) is null)
    order by d.id limit $2 for update of d skip locked
  )`;

/** @returns how many subscriptions that have ended were deleted. */
export async function deleteSubscriptions(db: pg.Pool, now: Date, limit: number): Promise<number> {
  return (await db.query(purgeSubscriptions, [now, limit])).rowCount ?? 0;
}
