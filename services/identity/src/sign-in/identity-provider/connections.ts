import type { Clock } from '@platform/service-kit';
import type { Prisma, Transaction } from '../../prisma.js';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { lockOrganisation } from '../../members/organisation/organisation.sql.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import {
  hasAdministrator,
  isProviderRequired,
} from '../../members/organisation/provider-requirement.queries.js';
import { lockFactors } from '../second-factor/queries.js';
import { changeAsAdministrator } from '../../members/organisation/administration.js';
import { userNotFound } from '../../members/members/errors.js';
import { noAdministratorLeft, notLinked, providerIsRequired } from './errors.js';
import { notifyMember } from './notices.js';
import { endSessions } from '../sessions/queries.js';
import { deleteProviderSignIns, findLink } from './queries.js';
import type { OwnConnection } from './schemas.js';

export function createConnections(deps: {
  readonly prisma: Prisma;
  readonly outbox: Outbox;
  readonly clock: Clock;
}) {
  const { prisma, outbox, clock } = deps;

  /** The caller holds the lock of the organisation. */
  async function unlink(
    tx: Transaction,
    caller: Caller,
    userId: string,
    {
      kind,
      keptId,
    }: { readonly kind: 'providerUnlinked' | 'providerUnlinkedByOwner'; readonly keptId?: string },
  ): Promise<void> {
    const { orgId, client } = caller;
    const at = new Date(clock());
    if (!(await lockFactors(tx, { orgId, userId }))) throw userNotFound();
    if (!(await findLink(tx, { orgId, userId }))) throw notLinked();
    const sessionsEnded = String(
      await endSessions(tx, userId, at, { ...(keptId !== undefined && { keptId }), isOfProvider: true }),
    );
    await deleteProviderSignIns(tx, { orgId, userId });
    const entry = { orgId, actor: toActor(caller), subjectId: userId, detail: { sessionsEnded }, at };
    await insertAuditEntry(tx, { ...entry, action: 'identity_provider.unlinked' });
    await notifyMember(deps, tx, userId, kind, { client, at });
  }

  return {
    /** Disconnects a member, for an administrator. @throws AppError 403 ADMIN_REQUIRED; 404; 409 NOT_LINKED, NO_ADMINISTRATOR_LEFT. */
    async disconnect(caller: Caller, userId: string): Promise<void> {
      await changeAsAdministrator(deps, caller, async ({ tx }) => {
        await unlink(tx, caller, userId, { kind: 'providerUnlinked' });
        if (!(await hasAdministrator(tx, caller.orgId))) throw noAdministratorLeft();
      });
      outbox.wake();
    },

    /** Returns whether the caller's account is connected, and whether it has to be. */
    async getOwn(caller: Caller): Promise<OwnConnection> {
      const link = await findLink(prisma, caller);
      return {
        connection: link && { issuer: link.issuer, connectedAt: link.createdAt.toISOString() },
        isRequired: await isProviderRequired(prisma, caller.userId),
      };
    },

    /**
     * Disconnects the caller's account; the session of the request goes on. A member
     * who never chose a password chooses one by mail, or signs in with the provider again.
     *
     * @throws AppError 409 NOT_LINKED, PROVIDER_REQUIRED.
     */
    async disconnectOwn(caller: Caller): Promise<void> {
      const { orgId, userId, credentialId } = caller;
      await prisma.$transaction(async (tx) => {
        // Nobody requires the provider meanwhile.
        await lockOrganisation(tx, orgId);
        if (await isProviderRequired(tx, userId)) throw providerIsRequired();
        await unlink(tx, caller, userId, { kind: 'providerUnlinkedByOwner', keptId: credentialId });
      });
      outbox.wake();
    },
  };
}

/**
 * The connections of accounts with identities at the provider. Disconnecting ends the sessions that the provider opened,
 * and the member is mailed. The next identity with the member's verified address is connected again.
 */
export type Connections = ReturnType<typeof createConnections>;
