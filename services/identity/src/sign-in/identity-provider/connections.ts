import type { Transaction } from '../../prisma.js';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { lockOrganisation } from '../../members/organisation/organisation.sql.js';
import {
  hasAdministrator,
  isProviderRequired,
} from '../../members/organisation/provider-requirement.queries.js';
import { lockFactors } from '../second-factor/queries.js';
import { changeAsAdministrator } from '../../members/organisation/administration.js';
import { userNotFound } from '../../members/members/errors.js';
import type { IdentityProviderContext } from './context.js';
import { noAdministratorLeft, notLinked, providerIsRequired } from './errors.js';
import { notifyMember } from './notices.js';
import { endSessions } from '../sessions/queries.js';
import { deleteProviderSignIns, findLink } from './queries.js';
import type { OwnConnection } from './schemas.js';

/** The caller holds the lock of the organisation. */
async function unlinkMember(
  ctx: IdentityProviderContext,
  tx: Transaction,
  caller: Caller,
  userId: string,
  {
    kind,
    keptId,
  }: { readonly kind: 'providerUnlinked' | 'providerUnlinkedByOwner'; readonly keptId?: string },
): Promise<void> {
  const { orgId, client } = caller;
  const at = new Date(ctx.clock());
  if (!(await lockFactors(tx, { orgId, userId }))) throw userNotFound();
  if (!(await findLink(tx, { orgId, userId }))) throw notLinked();
  const sessionsEnded = String(
    await endSessions(tx, userId, at, { ...(keptId !== undefined && { keptId }), isOfProvider: true }),
  );
  await deleteProviderSignIns(tx, { orgId, userId });
  const entry = { orgId, actor: toActor(caller), subjectId: userId, detail: { sessionsEnded }, at };
  await insertAuditEntry(tx, { ...entry, action: 'identity_provider.unlinked' });
  await notifyMember(ctx, tx, userId, kind, { client, at });
}

/** Disconnects a member, for an administrator. @throws AppError 403 ADMIN_REQUIRED; 404; 409 NOT_LINKED, NO_ADMINISTRATOR_LEFT. */
export async function disconnectMember(
  ctx: IdentityProviderContext,
  caller: Caller,
  userId: string,
): Promise<void> {
  await changeAsAdministrator(ctx, caller, async ({ tx }) => {
    await unlinkMember(ctx, tx, caller, userId, { kind: 'providerUnlinked' });
    if (!(await hasAdministrator(tx, caller.orgId))) throw noAdministratorLeft();
  });
  ctx.outbox.wake();
}

/** Returns whether the caller's account is connected, and whether it has to be. */
export async function getOwnConnection(
  { prisma }: IdentityProviderContext,
  caller: Caller,
): Promise<OwnConnection> {
  const link = await findLink(prisma, caller);
  return {
    connection: link && { issuer: link.issuer, connectedAt: link.createdAt.toISOString() },
    isRequired: await isProviderRequired(prisma, caller.userId),
  };
}

/**
 * Disconnects the caller's account; the session of the request goes on. A member
 * who never chose a password chooses one by mail, or signs in with the provider again.
 *
 * @throws AppError 409 NOT_LINKED, PROVIDER_REQUIRED.
 */
export async function disconnectOwn(ctx: IdentityProviderContext, caller: Caller): Promise<void> {
  const { orgId, userId, credentialId } = caller;
  await ctx.prisma.$transaction(async (tx) => {
    // Nobody requires the provider meanwhile.
    await lockOrganisation(tx, orgId);
    if (await isProviderRequired(tx, userId)) throw providerIsRequired();
    await unlinkMember(ctx, tx, caller, userId, { kind: 'providerUnlinkedByOwner', keptId: credentialId });
  });
  ctx.outbox.wake();
}
