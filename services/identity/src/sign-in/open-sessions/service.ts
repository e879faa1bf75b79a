import { type Clock, notFound } from '@platform/service-kit';
import type { Prisma, Transaction } from '../../prisma.js';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { toDeviceName } from '../../base/caller/client.js';
import { endOwnSession, endSessions, findOpenSessions } from '../sessions/queries.js';
import { changeAsAdministrator } from '../../members/organisation/administration.js';
import { userNotFound } from '../../members/members/errors.js';
import { findMember } from '../../members/members/queries.js';
import type { OpenSession } from './schemas.js';

/** More sessions than a person can look through; the newest are shown. */
const MAX_LISTED = 100;

export interface OpenSessionContext {
  readonly prisma: Prisma;
  readonly clock: Clock;
}

async function findSessionsOf(
  { prisma, clock }: OpenSessionContext,
  { orgId, credentialId }: Caller,
  userId: string,
): Promise<OpenSession[]> {
  const rows = await findOpenSessions(prisma, { orgId, userId }, new Date(clock()), MAX_LISTED);
  return rows.map(({ id, createdAt, expiresAt, address, userAgent }) => ({
    id,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    address,
    client: toDeviceName(userAgent ?? undefined),
    current: id === credentialId,
  }));
}

/** Several sessions that end together are one entry. */
async function recordEnded(
  tx: Transaction,
  caller: Caller,
  { userId, count, at }: { readonly userId: string; readonly count: number; readonly at: Date },
): Promise<void> {
  if (count === 0) return;
  await insertAuditEntry(tx, {
    orgId: caller.orgId,
    action: 'sessions.ended',
    actor: toActor(caller),
    subjectId: userId,
    detail: { sessionsEnded: String(count) },
    at,
  });
}

/** Lists the caller's own open sessions, newest first. */
export function listOwnSessions(ctx: OpenSessionContext, caller: Caller): Promise<OpenSession[]> {
  return findSessionsOf(ctx, caller, caller.userId);
}

/** Ends one of the caller's own sessions. @throws AppError 404 for an unknown, foreign or ended one. */
export async function endSessionOfCaller(
  { clock, prisma }: OpenSessionContext,
  caller: Caller,
  sessionId: string,
): Promise<void> {
  const at = new Date(clock());
  await prisma.$transaction(async (tx) => {
    if (!(await endOwnSession(tx, caller, sessionId, at))) throw notFound('Session not found');
    const entry = { orgId: caller.orgId, actor: toActor(caller), subjectId: sessionId, at };
    await insertAuditEntry(tx, { ...entry, action: 'session.ended' });
  });
}

/** Ends all of the caller's sessions but the one of the request. @returns how many. */
export async function endOtherSessions(
  { clock, prisma }: OpenSessionContext,
  caller: Caller,
): Promise<number> {
  const { userId, credentialId } = caller;
  const at = new Date(clock());
  return prisma.$transaction(async (tx) => {
    const count = await endSessions(tx, userId, at, { keptId: credentialId });
    await recordEnded(tx, caller, { userId, count, at });
    return count;
  });
}

/** Lists a member's open sessions. @throws AppError 404. */
export async function listMemberSessions(
  ctx: OpenSessionContext,
  caller: Caller,
  userId: string,
): Promise<OpenSession[]> {
  if (!(await findMember(ctx.prisma, caller.orgId, userId))) throw userNotFound();
  return findSessionsOf(ctx, caller, userId);
}

/** Ends all sessions of a member. @returns how many. @throws AppError 403 ADMIN_REQUIRED; 404. */
export async function endMemberSessions(
  ctx: OpenSessionContext,
  caller: Caller,
  userId: string,
): Promise<number> {
  return changeAsAdministrator(ctx, caller, async ({ tx, at }) => {
    if (!(await findMember(tx, caller.orgId, userId))) throw userNotFound();
    const count = await endSessions(tx, userId, at);
    await recordEnded(tx, caller, { userId, count, at });
    return count;
  });
}
