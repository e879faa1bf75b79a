import type { Prisma, Transaction } from '../../prisma.js';

/** The prefix of the ids of browsers; the ids of devices are digests alone. */
export const BROWSER_PREFIX = 'browser:';

/**
 * Records that the account signed in from the device.
 *
 * @returns `isNew` when the account hasn't signed in from it before; `isFirst` when it hasn't from any device.
 */
export async function recordDevice(
  db: Prisma | Transaction,
  userId: string,
  deviceId: string,
  at: Date,
): Promise<{ readonly isNew: boolean; readonly isFirst: boolean }> {
  // Both parts of the statement see the table as it was before it. An inserted row has an xmax of 0.
  const [row] = await db.$queryRaw<{ isNew: boolean; isFirst: boolean }[]>`
    with noted as (
      insert into known_clients as known (user_id, client, seen_at)
      values (${userId}::uuid, ${deviceId}, ${at.toISOString()}::timestamptz)
      on conflict (user_id, client) do update set seen_at = greatest(known.seen_at, excluded.seen_at)
      returning (xmax = 0) as is_new
    )
    select is_new as "isNew",
           not exists (select from known_clients where user_id = ${userId}::uuid) as "isFirst"
    from noted`;
  return row ?? { isNew: false, isFirst: false };
}

/** Returns whether the account of the address has signed in from the device. One statement, whether or not it exists. */
export async function hasDevice(db: Prisma | Transaction, email: string, deviceId: string): Promise<boolean> {
  const [row] = await db.$queryRaw<[{ isKnown: boolean }]>`
    select exists (
      select from known_clients join users on users.id = known_clients.user_id
      where users.email = ${email} and users.removed_at is null and known_clients.client = ${deviceId}
    ) as "isKnown"`;
  return row.isKnown;
}

/** Deletes the devices, or browsers, that were seen longest ago, beyond the number to keep. */
export const pruneDevices = (
  db: Prisma | Transaction,
  userId: string,
  { areBrowsers, keep }: { readonly areBrowsers: boolean; readonly keep: number },
): Promise<unknown> => db.$executeRaw`
    delete from known_clients where user_id = ${userId}::uuid and client in (
      select client from known_clients
      where user_id = ${userId}::uuid and starts_with(client, ${BROWSER_PREFIX}) = ${areBrowsers}
      order by seen_at desc offset ${keep}
    )`;
