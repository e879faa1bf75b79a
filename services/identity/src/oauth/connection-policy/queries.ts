import type { Prisma, Transaction } from '../../prisma.js';
import { type ConnectionPolicy, DEFAULT_CONNECTION_POLICY } from './policy.js';

const fields = {
  clientKinds: true,
  hosts: true,
  additionalHosts: true,
  connectableBy: true,
  maxLifetimeDays: true,
} as const;

export const findConnectionPolicy = async (
  db: Prisma | Transaction,
  orgId: string,
): Promise<ConnectionPolicy> =>
  (await db.connectionPolicy.findUnique({ where: { orgId }, select: fields })) ?? DEFAULT_CONNECTION_POLICY;

export async function saveConnectionPolicy(
  db: Transaction,
  orgId: string,
  { clientKinds, hosts, additionalHosts, ...policy }: ConnectionPolicy,
  updatedAt: Date,
): Promise<void> {
  const lists = { clientKinds: [...clientKinds], hosts: [...hosts], additionalHosts: [...additionalHosts] };
  const data = { ...policy, ...lists, updatedAt };
  await db.connectionPolicy.upsert({ where: { orgId }, create: { orgId, ...data }, update: data });
}
