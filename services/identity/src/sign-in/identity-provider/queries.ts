import { firstIdAt } from '@platform/service-kit';
import { deleteProviderMemberships } from '../../groups/queries.js';
import { lockDomain, withdrawInvitations } from '../../members/organisation/domains.queries.js';
import type { Prisma, Transaction } from '../../prisma.js';

type Db = Prisma | Transaction;

export interface StoredProvider {
  readonly orgId: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecretSealed: string | null;
  readonly scopes: string[];
  readonly secondFactorValues: string[];
  readonly isJustInTime: boolean;
  readonly isRequired: boolean;
  /** Null when the groups of people are not read. */
  readonly groupsClaim: string | null;
  readonly revision: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export const findProvider = (db: Db, orgId: string): Promise<StoredProvider | null> =>
  db.identityProvider.findUnique({ where: { orgId } });

/** Finds the provider of the organisation that has verified the domain. */
export async function findProviderOfDomain(db: Db, domain: string): Promise<StoredProvider | undefined> {
  const found = await db.identityDomain.findFirst({
    where: { domain, verifiedAt: { not: null } },
    select: { organisation: { select: { identityProvider: true } } },
  });
  return found?.organisation.identityProvider ?? undefined;
}

/** Reads the provider for a sign-in: it stays as it is until the transaction ends. */
export async function holdProvider(db: Transaction, orgId: string): Promise<StoredProvider | null> {
  await db.$queryRaw`select 1 from identity_providers where org_id = ${orgId}::uuid for share`;
  return findProvider(db, orgId);
}

/** Waits for the sign-ins that read the provider as it was. */
export async function lockProvider(db: Transaction, orgId: string): Promise<StoredProvider | null> {
  await db.$queryRaw`select 1 from identity_providers where org_id = ${orgId}::uuid for update`;
  return findProvider(db, orgId);
}

export const saveProvider = (
  db: Transaction,
  { orgId, createdAt, ...provider }: StoredProvider,
): Promise<StoredProvider> =>
  db.identityProvider.upsert({
    where: { orgId },
    create: { orgId, createdAt, ...provider },
    update: provider,
  });

export const deleteProvider = async (db: Transaction, orgId: string): Promise<boolean> =>
  (await db.identityProvider.deleteMany({ where: { orgId } })).count > 0;

/**
 * Deletes what the organisation's provider has proven, of all members or one: the sign-ins that are under way, which
 * subject is which member, and who is in its groups. The caller ends the sessions.
 */
export async function deleteProviderSignIns(
  db: Transaction,
  member: { readonly orgId: string; readonly userId?: string },
): Promise<void> {
  await db.pendingSignIn.deleteMany({ where: { ...member, method: 'provider' } });
  await db.providerLink.deleteMany({ where: member });
  await deleteProviderMemberships(db, member);
}

/** Finds the newest sign-in since then at which the groups of a member could not be taken over. */
export async function findGroupsKept(
  db: Db,
  orgId: string,
  since: Date,
): Promise<{ readonly reason: string; readonly userId: string; readonly at: string } | null> {
  const entry = await db.auditEntry.findFirst({
    where: { orgId, action: 'identity_provider.groups_kept', id: { gte: firstIdAt(since.getTime()) } },
    orderBy: { id: 'desc' },
    select: { reason: true, subjectId: true, createdAt: true },
  });
  return (
    entry && {
      reason: entry.reason ?? '',
      userId: entry.subjectId ?? '',
      at: entry.createdAt.toISOString(),
    }
  );
}

/** Finds the subject of the provider that an account belongs to. */
export const findLink = (
  db: Db,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
): Promise<{ readonly issuer: string; readonly subject: string; readonly createdAt: Date } | null> =>
  db.providerLink.findFirst({
    where: { userId, orgId },
    select: { issuer: true, subject: true, createdAt: true },
  });

export interface StoredDomain {
  readonly domain: string;
  readonly challenge: string;
  readonly verifiedAt: Date | null;
}
const domainFields = { domain: true, challenge: true, verifiedAt: true } as const;

export const findDomains = (db: Db, orgId: string): Promise<StoredDomain[]> =>
  db.identityDomain.findMany({ where: { orgId }, orderBy: { domain: 'asc' }, select: domainFields });

export const findDomain = (db: Db, orgId: string, domain: string): Promise<StoredDomain | null> =>
  db.identityDomain.findUnique({ where: { orgId_domain: { orgId, domain } }, select: domainFields });

export const isVerifiedDomain = async (db: Db, orgId: string, domain: string): Promise<boolean> =>
  (await db.identityDomain.findFirst({
    where: { orgId, domain, verifiedAt: { not: null } },
    select: { domain: true },
  })) !== null;

export const hasVerifiedDomain = async (db: Db, orgId: string): Promise<boolean> =>
  (await db.identityDomain.findFirst({
    where: { orgId, verifiedAt: { not: null } },
    select: { domain: true },
  })) !== null;

export const insertDomain = (
  db: Transaction,
  domain: {
    readonly orgId: string;
    readonly domain: string;
    readonly challenge: string;
    readonly createdAt: Date;
  },
): Promise<StoredDomain> => db.identityDomain.create({ data: domain, select: domainFields });

/** @returns false when another organisation has verified the domain. */
export async function markVerified(
  db: Transaction,
  { orgId, domain }: { readonly orgId: string; readonly domain: string },
  verified: { readonly verifiedAt: Date; readonly verifiedBy: 'dns' | 'command' },
): Promise<boolean> {
  // Of two organisations at the same moment, the second one sees the first.
  await lockDomain(db, domain);
  const where = { domain, verifiedAt: { not: null }, orgId: { not: orgId } };
  if (await db.identityDomain.findFirst({ where, select: { domain: true } })) return false;
  await db.identityDomain.updateMany({ where: { orgId, domain }, data: verified });
  await withdrawInvitations(db, { orgId, domain }, verified.verifiedAt);
  return true;
}

/** Returns the organisation that has verified the domain, which is one at most. */
export const findHolder = async (db: Db, domain: string): Promise<string | undefined> =>
  (
    await db.identityDomain.findFirst({
      where: { domain, verifiedAt: { not: null } },
      select: { orgId: true },
    })
  )?.orgId;

export const deleteVerifiedDomain = async (
  db: Transaction,
  orgId: string,
  domain: string,
): Promise<boolean> =>
  (await db.identityDomain.deleteMany({ where: { orgId, domain, verifiedAt: { not: null } } })).count > 0;

export const deleteDomain = async (db: Transaction, orgId: string, domain: string): Promise<boolean> =>
  (await db.identityDomain.deleteMany({ where: { orgId, domain } })).count > 0;
