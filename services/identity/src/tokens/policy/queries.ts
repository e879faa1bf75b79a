import type { Prisma, Transaction } from '../../prisma.js';
import { readAllowList } from '../../credentials/allow-lists/ranges.js';
import { DEFAULT_POLICY, type TokenPolicy, type UnusedRule } from './policy.js';

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

export async function findUnusedRule(db: Transaction, orgId: string): Promise<UnusedRule> {
  const select = { revokeUnusedDays: true, unusedFrom: true } as const;
  const none = { revokeUnusedDays: null, unusedFrom: null };
  return (await db.tokenPolicy.findUnique({ where: { orgId }, select })) ?? none;
}

export const saveTokenPolicy = (
  db: Transaction,
  orgId: string,
  policy: TokenPolicy & UnusedRule & { readonly updatedAt: Date },
): Promise<unknown> =>
  db.tokenPolicy.upsert({ where: { orgId }, create: { orgId, ...policy }, update: policy });
