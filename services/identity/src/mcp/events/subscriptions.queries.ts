import type { FactType } from '@platform/events';
import type pg from 'pg';
import type { Prisma as PrismaTypes } from '../../generated/prisma/client.js';
import type { Prisma, Transaction } from '../../resources.js';
import type { EventArguments } from './event-types.js';

/** The credential that a subscription was made with: a token, or the connection of an application. */
export interface Holder {
  readonly credentialKind: 'pat' | 'oauth';
  readonly credentialId: string;
}

/** Finds the connection of an access token; undefined for that of an application that acts by itself. */
export async function findConnection(db: pg.Pool, accessTokenId: string): Promise<string | undefined> {
  const { rows } = await db.query<{ id: string | null }>({
    name: 'connection_of_access_token',
    text: 'select grant_id::text as id from oauth_access_tokens where id = $1',
    values: [accessTokenId],
  });
  return rows[0]?.id ?? undefined;
}

/** Finds the last position up to which the facts of the organisation are older. */
export async function findPositionBefore(
  db: pg.Pool,
  orgId: string,
  { after, before }: { readonly after: string; readonly before: Date },
): Promise<string> {
  // From the newest back: what lies between is sent.
  const { rows } = await db.query<{ position: string }>({
    name: 'position_before',
    text: `select position::text from outbox.events where org_id = $1 and position > $2 and created_at < $3
      order by position desc limit 1`,
    values: [orgId, after, before],
  });
  return rows[0]?.position ?? after;
}

const select = {
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
