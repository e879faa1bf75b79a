import type pg from 'pg';
import type { Prisma, Transaction } from '../../resources.js';
import { readAllowList } from '../allow-lists/ranges.js';
import { selectFamilyMembers } from '../token-revocation/queries.js';
import { DEFAULT_POLICY, type PolicySubject, type TokenPolicy, type UnusedRule } from './policy.js';

const policyFields = {
  allowList: true,
  maxLifetimeDays: true,
  allowsNever: true,
  deniedScopes: true,
  revokeFamilyOnReuse: true,
  revokeUnusedDays: true,
} as const;

export async function findTokenPolicy(db: Prisma | Transaction, orgId: string): Promise<TokenPolicy> {
  const policy = await db.tokenPolicy.findUnique({ where: { orgId }, select: policyFields });
  // PostgreSQL leaves out the prefix length of a single address.
  return policy ? { ...policy, allowList: readAllowList(policy.allowList) } : DEFAULT_POLICY;
}

/** A policy as it was read, so that a statement can check that it is still the same. */
export interface CurrentPolicy extends TokenPolicy {
  /** The time at which it was saved: each save changes it. */
  readonly version: Date;
}

/** Returns the policy, which is stored when there is none yet: a statement can lock only a row that there is. */
export async function findCurrentPolicy(db: Prisma, orgId: string): Promise<CurrentPolicy> {
  const find = () =>
    db.tokenPolicy.findUnique({ where: { orgId }, select: { ...policyFields, updatedAt: true } });
  let found = await find();
  if (!found) {
    await db.tokenPolicy.createMany({ data: [{ orgId, updatedAt: NEVER_SAVED }], skipDuplicates: true });
    found = await find();
  }
  if (!found) throw new Error(`the policy of the organisation ${orgId} is missing`);
  const { updatedAt: version, ...policy } = found;
  return { ...policy, allowList: readAllowList(policy.allowList), version };
}

/** The time of a policy that nobody has saved. */
const NEVER_SAVED = new Date(0);

export interface SavedState extends UnusedRule {
  readonly updatedAt: Date;
}

export async function findSavedState(db: Transaction, orgId: string): Promise<SavedState> {
  const select = { revokeUnusedDays: true, unusedFrom: true, updatedAt: true } as const;
  const none = { revokeUnusedDays: null, unusedFrom: null, updatedAt: NEVER_SAVED };
  return (await db.tokenPolicy.findUnique({ where: { orgId }, select })) ?? none;
}

export interface SavedPolicy extends TokenPolicy, SavedState {
  /** The administrator in whose name the tokens are revoked that it does not allow; null when they are kept. */
  readonly revokingBy: string | null;
  /** The time of this save while they are being revoked. */
  readonly revokingVersion: Date | null;
}

export const saveTokenPolicy = (db: Transaction, orgId: string, policy: SavedPolicy): Promise<unknown> =>
  db.tokenPolicy.upsert({ where: { orgId }, create: { orgId, ...policy }, update: policy });

/**
 * Returns the SQL that locks the policy of the organisation `$2` while it is still the one of `version`. Saving it waits for
 * the statement, and then finds what it created; a statement that waits for a save finds no row.
 *
 * @param version - the parameter.
 */
export const lockPolicy = (version: string, after: string): string => `
  select policy.org_id from ${after} cross join token_policies policy
  where policy.org_id = $2 and policy.updated_at = ${version}::timestamptz for share of policy`;

export interface ActiveToken extends PolicySubject {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  /** Empty for a service account. */
  readonly ownerEmail: string;
  /** The name of the member or the service account. */
  readonly ownerFullName: string;
}

const columns = `
  t.id, t.name, t.scopes, t.allow_list as "allowList", t.created_at as "createdAt", t.expires_at as "expiresAt",
  used.last_used_at as "lastUsedAt", used.address as "lastAddress",
  coalesce(t.owner_id, t.service_account_id) as "ownerId", coalesce(u.email, '') as "ownerEmail",
  coalesce(u.full_name, a.name) as "ownerFullName"`;
const joins = `
  join personal_access_tokens t using (id)
  left join users u on u.id = t.owner_id
  left join service_accounts a on a.id = t.service_account_id
  left join token_last_used used on used.token_id = t.id`;

const activeTokens = `
  select ${columns}
  from (
    select id from personal_access_tokens
    where org_id = $1 and status = 'active' and (expires_at is null or expires_at > $2) and id < $3
    order by id desc limit $4
  ) page ${joins}
  order by t.id desc`;

/** Finds a batch of the organisation's active tokens, newest first, by the index `tokens_of_org`. */
export async function findActiveTokens(
  db: pg.Pool,
  batch: { readonly orgId: string; readonly now: Date; readonly before: string; readonly limit: number },
): Promise<ActiveToken[]> {
  const { orgId, now, before, limit } = batch;
  const { rows } = await db.query<ActiveToken>(activeTokens, [orgId, now, before, limit]);
  return rows;
}

const familyTokens = `
  with recursive family as (
    select id from unnest($1::uuid[]) as root (id)
    union
    ${selectFamilyMembers('true')}
  )
  select ${columns} from family ${joins}
  where t.status = 'active' and (t.expires_at is null or t.expires_at > $2) order by t.id desc`;

/** Finds the active tokens with those that a revocation of them would revoke as well, newest first. */
export async function findFamilies(
  db: pg.Pool,
  tokenIds: readonly string[],
  now: Date,
): Promise<ActiveToken[]> {
  const { rows } = await db.query<ActiveToken>(familyTokens, [tokenIds, now]);
  return rows;
}
