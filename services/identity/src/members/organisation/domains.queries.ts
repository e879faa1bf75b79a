import { insertFactsOfEntries } from '../../audit/record.sql.js';
import type { Transaction } from '../../prisma.js';

/*
 * Whose the addresses of a domain are. A domain that an organisation has verified is its own: no other one can create members
 * with such addresses, who could then not sign in with the provider of the organisation that they belong to.
 */

const toLock = (domain: string): string => `identity-domain:${domain}`;

/** Serialises the verification of a domain with other verifications, and with the creation of members in it. */
export const lockDomain = (db: Transaction, domain: string): Promise<unknown> =>
  db.$executeRaw`select pg_advisory_xact_lock(hashtextextended(${toLock(domain)}, 0))`;

/** Returns whether another organisation has verified the domain of the address; it stays as it is until the transaction ends. */
export async function isOfOtherOrganisation(db: Transaction, orgId: string, email: string): Promise<boolean> {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  await db.$executeRaw`select pg_advisory_xact_lock_shared(hashtextextended(${toLock(domain)}, 0))`;
  const where = { domain, verifiedAt: { not: null }, orgId: { not: orgId } };
  return (await db.identityDomain.findFirst({ where, select: { domain: true } })) !== null;
}

const withdraw = `
  with withdrawn as (
    update users set removed_at = $3::timestamptz
    where org_id <> $1::uuid and removed_at is null and password_hash is null
      and split_part(email, '@', -1) = $2
      and not exists (select from provider_links link where link.user_id = users.id)
    returning id, org_id
  ), entry as (
    insert into audit_entries (id, org_id, action, subject_id, reason, created_at)
    select uuid_v7($3::timestamptz), org_id, 'invitation.lapsed', id, 'another organisation has verified the domain', $3::timestamptz
    from withdrawn
    returning *
  ) ${insertFactsOfEntries('entry')}`;

/** Withdraws the invitations of other organisations to addresses of the domain that nobody has accepted. */
export const withdrawInvitations = (
  db: Transaction,
  { orgId, domain }: { readonly orgId: string; readonly domain: string },
  at: Date,
): Promise<unknown> => db.$executeRawUnsafe(withdraw, orgId, domain, at);
