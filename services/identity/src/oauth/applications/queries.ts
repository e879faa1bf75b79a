import type { Bounds, Role } from '@platform/auth';
import type { ListWindow } from '@platform/service-kit';
import { Prisma as PrismaTypes } from '../../generated/prisma/client.js';
import { escapeLike } from '../../base/escape-like.js';
import type { Prisma, Transaction } from '../../prisma.js';

const serviceAccountFields = { id: true, name: true, role: true, createdAt: true, lastUsedAt: true } as const;

const fields = {
  id: true,
  name: true,
  grantTypes: true,
  scopes: true,
  redirectUris: true,
  authMethod: true,
  jwks: true,
  createdAt: true,
  lastUsedAt: true,
  disabledAt: true,
  bounds: true,
  serviceAccount: { select: serviceAccountFields },
  secrets: {
    where: { revokedAt: null },
    orderBy: { id: 'asc' },
    select: { id: true, createdAt: true, lastUsedAt: true },
  },
} as const satisfies PrismaTypes.OauthClientSelect;

export type ApplicationRow = PrismaTypes.OauthClientGetPayload<{ select: typeof fields }>;

const own = (orgId: string) => ({ orgId, kind: 'application', removedAt: null }) as const;

/**
 * Matches the applications with a part of their name, client id or redirect addresses. An organisation has few of them,
 * and all are read to count them.
 */
async function matching(
  db: Prisma,
  orgId: string,
  q: string | undefined,
): Promise<PrismaTypes.OauthClientWhereInput> {
  if (q === undefined) return own(orgId);
  const found = { contains: escapeLike(q), mode: 'insensitive' } as const;
  const redirecting = await db.$queryRaw<{ id: string }[]>`
    select id from oauth_clients
    where org_id = ${orgId}::uuid and removed_at is null
      and exists (select from unnest(redirect_uris) address where address ilike ${`%${escapeLike(q)}%`})`;
  const ids = redirecting.map(({ id }) => id);
  return { ...own(orgId), OR: [{ name: found }, { id: found }, { id: { in: ids } }] };
}

/** Returns the rows newest first; the index of the organisation's clients is in the order of their creation. */
export async function findApplications(
  db: Prisma,
  orgId: string,
  { isFromEnd, offset, count, beforeId }: ListWindow,
  q?: string,
): Promise<ApplicationRow[]> {
  const direction = isFromEnd ? 'asc' : 'desc';
  const rows = await db.oauthClient.findMany({
    where: {
      AND: [
        await matching(db, orgId, q),
        ...(beforeId === undefined ? [] : [await createdBefore(db, orgId, beforeId)]),
      ],
    },
    orderBy: [{ createdAt: direction }, { id: direction }],
    skip: offset,
    take: count,
    select: fields,
  });
  return isFromEnd ? rows.toReversed() : rows;
}

/** Matches the clients that come after this one in the list, even when it has been removed since. */
async function createdBefore(
  db: Prisma,
  orgId: string,
  id: string,
): Promise<PrismaTypes.OauthClientWhereInput> {
  const last = await db.oauthClient.findFirst({ where: { orgId, id }, select: { createdAt: true } });
  if (!last) return { id: { in: [] } };
  const { createdAt } = last;
  return { createdAt: { lte: createdAt }, OR: [{ createdAt: { lt: createdAt } }, { id: { lt: id } }] };
}

export const countApplications = async (db: Prisma, orgId: string, q: string | undefined): Promise<number> =>
  db.oauthClient.count({ where: await matching(db, orgId, q) });

export const findApplication = (
  db: Prisma | Transaction,
  orgId: string,
  id: string,
): Promise<ApplicationRow | null> =>
  db.oauthClient.findFirst({ where: { ...own(orgId), id }, select: fields });

export interface NewApplication {
  readonly id: string;
  readonly orgId: string;
  readonly name: string;
  readonly grantTypes: readonly string[];
  readonly scopes: readonly string[];
  readonly redirectUris: readonly string[];
  readonly authMethod: string;
  readonly jwks: object | null;
  readonly bounds: Bounds | null;
  readonly serviceAccount: { readonly id: string; readonly role: Role; readonly createdBy: string } | null;
  readonly createdAt: Date;
}

export async function insertApplication(db: Transaction, application: NewApplication): Promise<void> {
  const { serviceAccount, jwks, bounds, grantTypes, scopes, redirectUris, ...rest } = application;
  const { orgId, name, createdAt } = rest;
  if (serviceAccount)
    await db.serviceAccount.create({
      data: { ...serviceAccount, orgId, name, createdAt },
      select: { id: true },
    });
  await db.oauthClient.create({
    data: {
      ...rest,
      kind: 'application',
      grantTypes: [...grantTypes],
      scopes: [...scopes],
      redirectUris: [...redirectUris],
      ...(jwks && { jwks }),
      ...(bounds && { bounds }),
      serviceAccountId: serviceAccount?.id ?? null,
    },
    select: { id: true },
  });
}

export interface ApplicationChange {
  readonly name?: string;
  readonly scopes?: string[];
  readonly redirectUris?: string[];
  readonly jwks?: object;
  /** Null for no limit. */
  readonly bounds?: Bounds | null;
  readonly disabledAt?: Date | null;
}

export const updateApplication = (
  db: Transaction,
  id: string,
  { jwks, bounds, ...change }: ApplicationChange,
) =>
  db.oauthClient.update({
    where: { id },
    data: {
      ...change,
      ...(jwks && { jwks }),
      ...(bounds !== undefined && { bounds: bounds ?? PrismaTypes.DbNull }),
    },
    select: { id: true },
  });

export const updateServiceAccount = (
  db: Transaction,
  id: string,
  change: { readonly name?: string; readonly role?: Role; readonly removedAt?: Date },
): Promise<unknown> => db.serviceAccount.update({ where: { id }, data: change, select: { id: true } });

export const removeApplication = (db: Transaction, id: string, removedAt: Date): Promise<unknown> =>
  db.oauthClient.update({ where: { id }, data: { removedAt }, select: { id: true } });

/** Revokes the access tokens of an application, so that they stay ended when it is enabled again. */
export const revokeAccessTokens = (db: Transaction, clientId: string, revokedAt: Date): Promise<unknown> =>
  db.oauthAccessToken.updateMany({ where: { clientId, revokedAt: null }, data: { revokedAt } });

export const insertSecret = (
  db: Transaction,
  secret: {
    readonly id: string;
    readonly clientId: string;
    readonly secretHash: string;
    readonly createdAt: Date;
  },
): Promise<unknown> => db.oauthClientSecret.create({ data: secret, select: { id: true } });

/** @returns false when the application has no such active secret. */
export async function revokeSecret(
  db: Transaction,
  clientId: string,
  id: string,
  revokedAt: Date,
): Promise<boolean> {
  const { count } = await db.oauthClientSecret.updateMany({
    where: { id, clientId, revokedAt: null },
    data: { revokedAt },
  });
  return count > 0;
}
