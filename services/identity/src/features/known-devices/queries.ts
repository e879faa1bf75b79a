import type { Prisma, Transaction } from '../../resources.js';

/**
 * Notes that the account signed in from the client.
 *
 * @returns whether that is new; `isFirst` when the account has never signed in from any.
 */
export async function recordDevice(
  db: Transaction,
  userId: string,
  client: string,
  at: Date,
): Promise<{ readonly isNew: boolean; readonly isFirst: boolean }> {
  // Both parts of the statement see the table as it was before: xmax is 0 for an inserted row.
  const [row] = await db.$queryRaw<{ isNew: boolean; isFirst: boolean }[]>`
    with noted as (
      insert into known_clients as known (user_id, client, seen_at)
      values (${userId}::uuid, ${client}, ${at.toISOString()}::timestamptz)
      on conflict (user_id, client) do update set seen_at = greatest(known.seen_at, excluded.seen_at)
      returning (xmax = 0) as is_new
    )
    select is_new as "isNew",
           not exists (select from known_clients where user_id = ${userId}::uuid) as "isFirst"
    from noted`;
  return row ?? { isNew: false, isFirst: false };
}

/** Whether the account has signed in from the client. */
export const isKnownDeviceId = async (
  db: Prisma | Transaction,
  userId: string,
  client: string,
): Promise<boolean> =>
  (await db.knownClient.findUnique({
    where: { userId_client: { userId, client } },
    select: { userId: true },
  })) !== null;

/** Forgets those that were seen longest ago. */
export const pruneDevices = (db: Transaction, userId: string, keep: number): Promise<unknown> =>
  db.$executeRaw`
    delete from known_clients where user_id = ${userId}::uuid and client in (
      select client from known_clients where user_id = ${userId}::uuid order by seen_at desc offset ${keep}
    )`;
