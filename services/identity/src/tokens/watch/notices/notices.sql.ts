import type pg from 'pg';
import { ALL_NOTICES, type ExpiringToken, toDate } from './digest.js';

/** Notices that were due longer ago are not looked for, so that tokens of the distant past cost nothing. */
const MAX_AGE_DAYS = 30;

/*
 * The tokens with a notice that is due on the day `$1`, by the index `tokens_to_tell`. The last notice is due with the
 * expiry, before `$2`.
 */
const dueDay = `((expires_at at time zone 'UTC')::date - (case expiry_notices when 0 then 14 when 1 then 7 when 2 then 1 else 0 end))`;
const isDue = `expires_at is not null and expiry_notices < 4 and status <> 'revoked' and successor_id is null
  and (expiry_notices < ${ALL_NOTICES - 1} or expires_at <= $2)`;

/** The recipient of notices: a member, or the administrators of an organisation, about the tokens of its service accounts. */
export interface Holder {
  /** The id of the member or the organisation. */
  readonly id: string;
  readonly isOrganisation: boolean;
}
const holderId = 'coalesce(owner_id, org_id)';

const dueHolders = `
  select distinct holder_id as id, is_organisation as "isOrganisation" from (
    select ${holderId} as holder_id, owner_id is null as is_organisation from personal_access_tokens token
    where ${isDue} and ${dueDay} between $1::date - ${MAX_AGE_DAYS} and $1::date
      and (owner_id is null) = $5 and ${holderId} <> all($3)
      and not exists (
        select from token_digests digest where digest.holder_id = coalesce(token.owner_id, token.org_id) and digest.day >= $1
      )
    order by ${dueDay}, ${holderId} limit $4
  ) due`;

/**
 * Finds holders of tokens with notices that are due, who have not got their digest of the day.
 *
 * @param isOrganisation - whether organisations are wanted, or members.
 * @param limit - the number of tokens that are read.
 */
export async function findDueHolders(
  db: pg.Pool,
  search: {
    readonly now: Date;
    readonly except: readonly string[];
    readonly limit: number;
    readonly isOrganisation: boolean;
  },
): Promise<Holder[]> {
  const { now, except, limit, isOrganisation } = search;
  const { rows } = await db.query<Holder>(dueHolders, [toDate(now), now, except, limit, isOrganisation]);
  return rows;
}

/** Serialises the digests of a holder, those of members also with rotations and revocations. */
export const lockHolder = (client: pg.PoolClient, { id, isOrganisation }: Holder): Promise<unknown> =>
  client.query(`select from ${isOrganisation ? 'organisations' : 'users'} where id = $1 for no key update`, [
    id,
  ]);

const dueTokens = `
  select token.id, token.org_id as "orgId", token.name, account.name as account,
    token.created_at as "createdAt", expires_at as "expiresAt", mutes_notices as "isMuted"
  from personal_access_tokens token left join service_accounts account on account.id = token.service_account_id
  where ${isDue} and coalesce(owner_id, token.org_id) = $3 and (owner_id is null) = $4
    and ${dueDay} = any(array(select $1::date - ago from generate_series(0, ${MAX_AGE_DAYS}) ago))
    and account.removed_at is null
  order by token.id for no key update of token`;

/** Finds the holder's tokens with notices that are due. */
export async function findDueTokens(
  client: pg.PoolClient,
  { id, isOrganisation }: Holder,
  now: Date,
): Promise<ExpiringToken[]> {
  const { rows } = await client.query<ExpiringToken>(dueTokens, [toDate(now), now, id, isOrganisation]);
  return rows;
}

const administrators = `
  select id, false as "isOrganisation" from users
  where org_id = $1 and role = 'admin' and removed_at is null and password_hash is not null order by id`;

/** Finds the administrators of an organisation who can log in. */
export async function findAdministratorHolders(client: pg.PoolClient, orgId: string): Promise<Holder[]> {
  const { rows } = await client.query<Holder>(administrators, [orgId]);
  return rows;
}

const setNotices = `
  update personal_access_tokens token set expiry_notices = done.notices
  from unnest($1::uuid[], $2::smallint[]) as done (id, notices) where token.id = done.id`;

export const saveNotices = (
  client: pg.PoolClient,
  done: readonly { readonly id: string; readonly notices: number }[],
): Promise<unknown> =>
  client.query(setNotices, [done.map(({ id }) => id), done.map(({ notices }) => notices)]);

const claim = `
  insert into token_digests as digest (holder_id, day) values ($1, $2)
  on conflict (holder_id) do update set day = excluded.day where digest.day < excluded.day`;

/** @returns false when the holder has got the digest of the day. */
export async function claimDigest(client: pg.PoolClient, { id }: Holder, now: Date): Promise<boolean> {
  const { rowCount } = await client.query(claim, [id, toDate(now)]);
  return rowCount === 1;
}

/** Returns whether one of the holders has got the digest of the day. */
export async function hasDigest(
  client: pg.PoolClient,
  holders: readonly Holder[],
  now: Date,
): Promise<boolean> {
  const { rowCount } = await client.query(
    'select from token_digests where holder_id = any($1) and day >= $2 limit 1',
    [holders.map(({ id }) => id), toDate(now)],
  );
  return rowCount === 1;
}
