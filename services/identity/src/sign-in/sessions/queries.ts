import { toDigest } from '@platform/auth';
import { isSessionOpen } from '../../base/open-session.js';
import { Prisma as Sql } from '../../generated/prisma/client.js';
import { advanceSessionGeneration } from '../../members/organisation/queries.js';
import type { Transaction, Prisma } from '../../prisma.js';
import type { FirstFactor } from './sign-in-outcome.js';

export interface NewSession {
  readonly id: string;
  readonly orgId: string;
  readonly userId: string;
  readonly tokenHash: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly address: string;
  readonly userAgent: string | null;
  readonly firstFactor: FirstFactor;
  /** Null for a session that no provider opened. */
  readonly providerGeneration: number | null;
  /** Null for a session with a second factor. */
  readonly singleFactorGeneration: number | null;
}

const open = Sql.raw(isSessionOpen('s', 'o'));

/** Finds the newest open sessions of the member, newest first. */
export const findOpenSessions = (
  db: Prisma | Transaction,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
  now: Date,
  limit: number,
): Promise<Pick<NewSession, 'id' | 'createdAt' | 'expiresAt' | 'address' | 'userAgent'>[]> => db.$queryRaw`
  select s.id::text, s.created_at as "createdAt", s.expires_at as "expiresAt", s.address, s.user_agent as "userAgent"
  from sessions s join organisations o on o.id = s.org_id
  where s.org_id = ${orgId}::uuid and s.user_id = ${userId}::uuid and ${open}
    and s.expires_at > ${now.toISOString()}::timestamptz
  order by s.id desc limit ${limit}`;

/** Ends an open session of the member. @returns false when the member has no such session. */
export async function endOwnSession(
  db: Transaction,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
  id: string,
  at: Date,
): Promise<boolean> {
  const count = await db.$executeRaw`
    update sessions s set ended_at = ${at.toISOString()}::timestamptz from organisations o
    where s.id = ${id}::uuid and s.org_id = ${orgId}::uuid and s.user_id = ${userId}::uuid and o.id = s.org_id and ${open}
      and s.expires_at > ${at.toISOString()}::timestamptz`;
  return count > 0;
}

export const insertSession = (db: Transaction, session: NewSession): Promise<unknown> =>
  db.session.create({ data: session, select: { id: true } });

/**
 * Ends the oldest open sessions of the member, beyond the number to keep.
 *
 * @returns how many were ended.
 */
export const endOldestSessions = (
  db: Transaction,
  userId: string,
  at: Date,
  keep: number,
): Promise<number> => db.$executeRaw`
  update sessions set ended_at = ${at.toISOString()}::timestamptz
  where ended_at is null and id in (
    select id from sessions
    where user_id = ${userId}::uuid and ended_at is null and expires_at > ${at.toISOString()}::timestamptz
    order by id desc offset ${keep}
  )`;

/** Notes that a browser was given the session. */
export const markBrowserSession = (
  db: Prisma,
  { orgId, userId }: Pick<NewSession, 'orgId' | 'userId'>,
  token: string,
): Promise<unknown> =>
  db.session.updateMany({
    where: { orgId, userId, tokenHash: toDigest(token), endedAt: null },
    data: { isBrowser: true },
  });

/** Notes that the member of a session that has just been opened authenticated before that. */
export const backdateAuthentication = (
  db: Transaction,
  { orgId, id: userId }: { readonly orgId: string; readonly id: string },
  token: string,
  at: Date,
): Promise<unknown> =>
  db.session.updateMany({
    where: { orgId, userId, tokenHash: toDigest(token), createdAt: { gt: at } },
    data: { authenticatedAt: at },
  });

/** @returns 1, or 0 when the session had ended already. */
export async function endSession(
  db: Prisma | Transaction,
  orgId: string,
  id: string,
  at: Date,
): Promise<number> {
  const { count } = await db.session.updateMany({
    where: { id, orgId, endedAt: null },
    data: { endedAt: at },
  });
  return count;
}

/**
 * Ends the open sessions of the user, except the one to keep; or only the ones opened by the provider.
 *
 * @returns how many were ended.
 */
export const endSessions = (
  db: Transaction,
  userId: string,
  at: Date,
  { keptId, isOfProvider = false }: { readonly keptId?: string; readonly isOfProvider?: boolean } = {},
): Promise<number> =>
  db.$executeRaw`
    update sessions s set ended_at = ${at.toISOString()}::timestamptz from organisations o
    where s.user_id = ${userId}::uuid and o.id = s.org_id and ${open}
      and (s.provider_generation is not null or not ${isOfProvider})
      and s.expires_at > ${at.toISOString()}::timestamptz and s.id is distinct from ${keptId ?? null}::uuid`;

/**
 * Ends the sessions of an organisation that were opened without a second factor, but for the one to keep.
 *
 * @returns how many were ended.
 */
export async function endSingleFactorSessions(
  db: Transaction,
  orgId: string,
  at: Date,
  keptId: string,
): Promise<number> {
  const count = await countOpenSessions(db, orgId, at, { column: 'single_factor_generation', keptId });
  const generation = await advanceSessionGeneration(db, orgId, 'singleFactorGeneration');
  await db.session.updateMany({
    where: { id: keptId, orgId, singleFactorGeneration: generation - 1 },
    data: { singleFactorGeneration: generation },
  });
  return count;
}

/** Ends the sessions that the provider of an organisation opened. @returns how many were ended. */
export async function endProviderSessions(db: Transaction, orgId: string, at: Date): Promise<number> {
  const count = await countOpenSessions(db, orgId, at, { column: 'provider_generation' });
  await advanceSessionGeneration(db, orgId, 'providerGeneration');
  return count;
}

async function countOpenSessions(
  db: Transaction,
  orgId: string,
  at: Date,
  {
    column,
    keptId,
  }: { readonly column: `${'provider' | 'single_factor'}_generation`; readonly keptId?: string },
): Promise<number> {
  const [row] = await db.$queryRaw<[{ count: number }]>`
    select count(*)::int as count
    from organisations o join users u on u.org_id = o.id join sessions s on s.user_id = u.id
    where o.id = ${orgId}::uuid and u.removed_at is null and ${open} and s.${Sql.raw(column)} is not null
      and s.expires_at > ${at.toISOString()}::timestamptz and s.id is distinct from ${keptId ?? null}::uuid`;
  return row.count;
}
