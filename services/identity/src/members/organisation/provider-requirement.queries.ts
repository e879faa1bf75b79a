import { Prisma } from '../../generated/prisma/client.js';
import type { Prisma as Client, Transaction } from '../../prisma.js';

/** A condition on `users`: the organisation requires the account to sign in with its provider. */
const isRequired = Prisma.sql`exists (
  select from identity_providers provider
    join identity_domains domain on domain.org_id = provider.org_id and domain.verified_at is not null
  where provider.org_id = users.org_id and provider.is_required and domain.domain = split_part(users.email, '@', -1))`;

/** Returns the organisation that has verified the domain of the address, if it requires its provider for accounts there. */
export async function findRequiringOrganisation(
  db: Client | Transaction,
  email: string,
): Promise<string | undefined> {
  const rows = await db.$queryRaw<{ orgId: string }[]>`
    select provider.org_id::text as "orgId"
    from identity_domains domain join identity_providers provider on provider.org_id = domain.org_id
    where domain.domain = split_part(${email}, '@', -1) and domain.verified_at is not null and provider.is_required`;
  return rows[0]?.orgId;
}

/** Returns whether the account may sign in with the organisation's provider only. */
export async function isProviderRequired(db: Client | Transaction, userId: string): Promise<boolean> {
  const rows = await db.$queryRaw<unknown[]>`
    select 1 from users where id = ${userId}::uuid and ${isRequired}`;
  return rows.length > 0;
}

/** Returns whether the account is connected with an identity at the organisation's provider. */
export const isProviderConnected = async (
  db: Client | Transaction,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
): Promise<boolean> =>
  (await db.providerLink.findFirst({ where: { orgId, userId }, select: { userId: true } })) !== null;

/**
 * Returns whether an administrator other than the user can sign in. Where the provider is required, that is one who has
 * done so before.
 */
export async function hasAdministrator(db: Transaction, orgId: string, exceptId?: string): Promise<boolean> {
  const rows = await db.$queryRaw<unknown[]>`
    select 1 from users
    where org_id = ${orgId}::uuid and role = 'admin' and removed_at is null and password_hash is not null
      and id is distinct from ${exceptId ?? null}::uuid
      and (exists (select from provider_links link where link.user_id = users.id) or not ${isRequired})
    limit 1`;
  return rows.length > 0;
}

/** Lets members sign in without the provider again. @returns false when it was not required. */
export const releaseRequirement = async (db: Transaction, orgId: string, updatedAt: Date): Promise<boolean> =>
  (
    await db.identityProvider.updateMany({
      where: { orgId, isRequired: true },
      data: { isRequired: false, updatedAt },
    })
  ).count > 0;
