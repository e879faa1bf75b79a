import type pg from 'pg';
import type { Prisma, Transaction } from '../../resources.js';
import { readAllowList } from '../allow-lists/ranges.js';
import { DEFAULT_POLICY, type TokenPolicy } from './policy.js';

const policyFields = {
  allowList: true,
  maxLifetimeDays: true,
  allowsNever: true,
  deniedScopes: true,
  revokeFamilyOnReuse: true,
} as const;

export async function findTokenPolicy(db: Prisma | Transaction, orgId: string): Promise<TokenPolicy> {
  const policy = await db.tokenPolicy.findUnique({ where: { orgId }, select: policyFields });
  // PostgreSQL leaves out the prefix length of a single address.
  return policy ? { ...policy, allowList: readAllowList(policy.allowList) } : DEFAULT_POLICY;
}

export const saveTokenPolicy = (
  db: Transaction,
  orgId: string,
  policy: TokenPolicy,
  at: Date,
): Promise<unknown> => {
  const data = { ...policy, updatedAt: at };
  return db.tokenPolicy.upsert({ where: { orgId }, create: { orgId, ...data }, update: data });
};

export interface ActiveToken {
  readonly id: string;
  readonly name: string;
  readonly scopes: string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly ownerId: string;
  readonly ownerEmail: string;
}

const activeTokens = `
  select t.id, t.name, t.scopes, t.created_at as "createdAt", t.expires_at as "expiresAt",
    coalesce(t.owner_id, t.service_account_id) as "ownerId", coalesce(u.email, '') as "ownerEmail"
  from (
    select id from personal_access_tokens
    where org_id = $1 and status = 'active' and (expires_at is null or expires_at > $2) and id < $3
    order by id desc limit $4
  ) page
    join personal_access_tokens t using (id)
    left join users u on u.id = t.owner_id
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
