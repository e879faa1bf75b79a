import type { ListWindow } from '@platform/service-kit';
import type { Prisma as Client } from '../../resources.js';
import { type Account, accountFields } from './queries.js';

export async function countMembers(db: Client, orgId: string): Promise<number> {
  const counters = await db.organisationCounters.findUnique({ where: { orgId }, select: { members: true } });
  return Number(counters?.members ?? 0);
}

/** A member with the fields of the administrators' list. */
export interface MemberRow extends Account {
  readonly undeliverableReason: string | null;
  readonly isDeliveryUnknown: boolean;
  readonly totpFactor: { readonly userId: string } | null;
  readonly passkeys: readonly { readonly id: string }[];
  readonly providerLink: { readonly userId: string } | null;
}
const memberFields = {
  ...accountFields,
  undeliverableReason: true,
  isDeliveryUnknown: true,
  totpFactor: { select: { userId: true } },
  passkeys: { select: { id: true } },
  providerLink: { select: { userId: true } },
} as const;

/** Finds a page of members, newest first; an index-only scan finds the ids of the page. */
export async function findMembers(db: Client, orgId: string, window: ListWindow): Promise<MemberRow[]> {
  const page = await db.user.findMany({
    where: { orgId, removedAt: null, ...(window.beforeId !== undefined && { id: { lt: window.beforeId } }) },
    orderBy: { id: window.isFromEnd ? 'asc' : 'desc' },
    skip: window.offset,
    take: window.count,
    select: { id: true },
  });
  return db.user.findMany({
    where: { orgId, id: { in: page.map(({ id }) => id) } },
    orderBy: { id: 'desc' },
    select: memberFields,
  });
}
