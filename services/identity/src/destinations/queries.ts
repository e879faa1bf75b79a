import type { ListWindow } from '@platform/service-kit';
import type { Prisma as PrismaTypes } from '../generated/prisma/client.js';
import type { Prisma, Transaction } from '../prisma.js';

const select = {
  id: true,
  orgId: true,
  form: true,
  url: true,
  description: true,
  types: true,
  secretSealed: true,
  previousSecretUntil: true,
  secretHeader: true,
  isEnabled: true,
  disabledReason: true,
  failingSince: true,
  createdAt: true,
} as const;
export type DestinationRow = PrismaTypes.FactDestinationGetPayload<{ select: typeof select }>;

const before = ({ beforeId, isFromEnd, offset, count }: ListWindow) => ({
  ...(beforeId !== undefined && { id: { lt: beforeId } }),
  page: { orderBy: { id: isFromEnd ? 'asc' : 'desc' }, skip: offset, take: count } as const,
});
const newestFirst = <Row extends { readonly id: string }>(rows: Row[]): Row[] =>
  rows.toSorted((one, other) => (one.id < other.id ? 1 : -1));

/** The destinations of administrators, as distinct from the subscriptions of agents. */
const ofAdministrators = { form: { not: 'subscription' } } as const;

export async function findDestinations(
  db: Prisma,
  orgId: string,
  window: ListWindow,
): Promise<DestinationRow[]> {
  const { page, ...cursor } = before(window);
  const where = { orgId, ...ofAdministrators, ...cursor };
  return newestFirst(await db.factDestination.findMany({ where, ...page, select }));
}

export const findDestination = (
  db: Prisma | Transaction,
  orgId: string,
  id: string,
): Promise<DestinationRow | null> =>
  db.factDestination.findFirst({ where: { id, orgId, ...ofAdministrators }, select });

export const countDestinations = (db: Prisma | Transaction, orgId: string): Promise<number> =>
  db.factDestination.count({ where: { orgId, ...ofAdministrators } });

type NewDestination = Pick<
  DestinationRow,
  'id' | 'orgId' | 'form' | 'url' | 'description' | 'types' | 'isEnabled' | 'createdAt'
> &
  Partial<Pick<DestinationRow, 'secretSealed' | 'secretHeader'>>;

/** Inserts a destination. The next fact that becomes visible is the first one sent to it. */
export async function insertDestination(
  tx: Transaction,
  destination: NewDestination,
): Promise<DestinationRow> {
  const [head] = await tx.$queryRaw<[{ position: bigint }]>`select position from outbox.head`;
  const { position } = head;
  return tx.factDestination.create({
    data: { ...destination, position, servedAt: destination.createdAt },
    select,
  });
}

export const updateDestination = (
  tx: Transaction,
  id: string,
  fields: Partial<Omit<DestinationRow, 'id' | 'orgId' | 'createdAt'>> & {
    readonly failures?: number;
    readonly resumeAt?: Date | null;
    readonly claimedUntil?: null;
  },
): Promise<DestinationRow> => tx.factDestination.update({ where: { id }, data: fields, select });

/** @returns false when it is disabled already, was removed, or has another URL by now. */
export const disableDestination = async (
  tx: Transaction,
  { id, url }: Pick<DestinationRow, 'id' | 'url'>,
  disabledReason: string,
): Promise<boolean> => {
  const data = { isEnabled: false, disabledReason, claimedUntil: null };
  return (await tx.factDestination.updateMany({ where: { id, url, isEnabled: true }, data })).count === 1;
};

export const deleteDestination = (tx: Transaction, id: string): Promise<unknown> =>
  tx.factDestination.delete({ where: { id }, select: { id: true } });

const deliveryFields = {
  id: true,
  factId: true,
  type: true,
  facts: true,
  state: true,
  attempts: true,
  nextAttemptAt: true,
  createdAt: true,
} as const;
export type DeliveryRow = PrismaTypes.FactDeliveryGetPayload<{ select: typeof deliveryFields }>;

const ofDestination = (destination: DestinationRow, state: string | undefined) => ({
  destinationId: destination.id,
  orgId: destination.orgId,
  ...(state !== undefined && { state }),
});

/** A longer list is paged by its cursor. */
export const MAX_COUNTED = 1_000;

/** Counts the deliveries, up to {@link MAX_COUNTED}. */
export async function countDeliveries(
  db: Prisma,
  destination: DestinationRow,
  state: string | undefined,
): Promise<number> {
  const where = ofDestination(destination, state);
  return db.factDelivery.count({ where, take: MAX_COUNTED, orderBy: { id: 'desc' } });
}

export async function findDeliveries(
  db: Prisma,
  destination: DestinationRow,
  state: string | undefined,
  window: ListWindow,
): Promise<DeliveryRow[]> {
  const { page, ...cursor } = before(window);
  const where = { ...ofDestination(destination, state), ...cursor };
  return newestFirst(await db.factDelivery.findMany({ where, ...page, select: deliveryFields }));
}

/** Makes all pending deliveries due now. */
export const sendWaiting = (tx: Transaction, destination: DestinationRow, at: Date): Promise<unknown> =>
  tx.factDelivery.updateMany({ where: ofDestination(destination, 'waiting'), data: { nextAttemptAt: at } });

/** Has a delivery sent again at once, with all its attempts. @returns false when there is none with this id. */
export async function repeatDelivery(
  tx: Transaction,
  destination: DestinationRow,
  id: string,
  at: Date,
): Promise<boolean> {
  await updateDestination(tx, destination.id, { resumeAt: null });
  const { count } = await tx.factDelivery.updateMany({
    where: { id, ...ofDestination(destination, undefined) },
    data: { state: 'waiting', attemptCount: 0, nextAttemptAt: at },
  });
  return count === 1;
}
