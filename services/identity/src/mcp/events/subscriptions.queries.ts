import type { FactType } from '@platform/events';
import type { Prisma as PrismaTypes } from '../../generated/prisma/client.js';
import type { Prisma, Transaction } from '../../prisma.js';
import type { EventArguments } from './event-types.js';

/** The credential that a subscription was made with: a token, or the connection of an application. */
export interface Holder {
  readonly credentialKind: 'pat' | 'oauth';
  readonly credentialId: string;
}

export const select = {
  id: true,
  orgId: true,
  subscriptionKey: true,
  url: true,
  event: true,
  arguments: true,
  secretSealed: true,
  endsAt: true,
  position: true,
} as const;

export type SubscriptionRow = PrismaTypes.FactDestinationGetPayload<{ select: typeof select }>;

export const findByKey = (
  db: Prisma | Transaction,
  orgId: string,
  subscriptionKey: string,
): Promise<SubscriptionRow | null> =>
  db.factDestination.findFirst({ where: { orgId, subscriptionKey }, select });

export const findById = (
  db: Prisma,
  {
    id,
    orgId,
    ownerId,
  }: {
    readonly id: string;
    readonly orgId: string;
    /** Undefined matches any owner. */
    readonly ownerId: string | undefined;
  },
): Promise<SubscriptionRow | null> =>
  db.factDestination.findFirst({
    where: { id, orgId, form: 'subscription', ...(ownerId !== undefined && { ownerId }) },
    select,
  });

/** Counts the live subscriptions of an account, and those of its organisation. */
export async function countSubscriptions(
  db: Prisma | Transaction,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
  now: Date,
): Promise<{ readonly ofAccount: number; readonly ofOrganisation: number }> {
  const where = { orgId, form: 'subscription', endsAt: { gt: now } };
  const ofAccount = await db.factDestination.count({ where: { ...where, ownerId: userId } });
  return { ofAccount, ofOrganisation: await db.factDestination.count({ where }) };
}

export interface NewSubscription extends Holder {
  readonly id: string;
  readonly orgId: string;
  readonly subscriptionKey: string;
  readonly ownerId: string;
  readonly url: string;
  readonly event: string;
  readonly arguments: EventArguments;
  readonly filter: object | undefined;
  readonly types: readonly FactType[];
  readonly secretSealed: string;
  readonly endsAt: Date;
  readonly createdAt: Date;
  /** The position after which its facts come. */
  readonly position: string;
}

/** Inserts a subscription. Its receiver has accepted the challenge, and so will accept events. */
export const insertSubscription = (
  tx: Transaction,
  { position, types, arguments: args, filter, ...fields }: NewSubscription,
): Promise<unknown> =>
  tx.factDestination.create({
    data: {
      ...fields,
      form: 'subscription',
      description: '',
      types: [...types],
      arguments: { ...args },
      ...(filter && { filter }),
      position: BigInt(position),
      servedAt: fields.createdAt,
      isAccepting: true,
    },
    select: { id: true },
  });

/** Refreshes a subscription; what waits is sent at once. @returns false when it was removed meanwhile. */
export const refreshSubscription = async (
  db: Prisma | Transaction,
  id: string,
  fields: { readonly secretSealed: string; readonly endsAt: Date },
): Promise<boolean> => {
  const data = { ...fields, resumeAt: null };
  return (await db.factDestination.updateMany({ where: { id }, data })).count === 1;
};

/** @returns false when the subscription was removed already. */
export const deleteSubscription = async (db: Prisma | Transaction, id: string): Promise<boolean> =>
  (await db.factDestination.deleteMany({ where: { id, form: 'subscription' } })).count === 1;
