import { type Clock, conflict } from '@platform/service-kit';
import type { Prisma } from '../../resources.js';
import { type Caller, toActor } from '../audit/actor.js';
import { insertAuditEntry } from '../audit/queries.js';
import { describeRequest } from '../known-devices/client.js';
import type { Outbox } from '../outgoing-mails/outbox.js';
import { lockFactors } from '../second-factor/queries.js';
import { lockAdministration } from '../users/administration.js';
import { userNotFound } from '../users/errors.js';
import { noAdministratorLeft } from './errors.js';
import { endProviderSignIns, hasLink } from './queries.js';
import { hasAdministrator } from '../provider-requirement/queries.js';

/**
 * Takes the provider's subject away from a member's account, and ends the sessions that it opened. The next subject with
 * the member's verified address gets the account. The member is mailed.
 *
 * @throws AppError 403 ADMIN_REQUIRED; 404; 409 NOT_LINKED, NO_ADMINISTRATOR_LEFT.
 */
export type Unlink = (caller: Caller, userId: string) => Promise<void>;

export const createUnlink =
  (deps: { readonly prisma: Prisma; readonly outbox: Outbox; readonly clock: Clock }): Unlink =>
  async (caller, userId) => {
    const { prisma, outbox, clock } = deps;
    const { orgId, client } = caller;
    const at = new Date(clock());
    await prisma.$transaction(async (tx) => {
      await lockAdministration(tx, caller);
      if (!(await lockFactors(tx, { orgId, userId }))) throw userNotFound();
      if (!(await hasLink(tx, userId)))
        throw conflict('NOT_LINKED', 'The account is not connected with an identity at the provider');
      const sessionsEnded = String(await endProviderSignIns(tx, orgId, at, userId));
      if (!(await hasAdministrator(tx, orgId))) throw noAdministratorLeft();
      const entry = { orgId, actor: toActor(caller), subjectId: userId, detail: { sessionsEnded }, at };
      await insertAuditEntry(tx, { ...entry, action: 'identity_provider.unlinked' });
      const detail = {
        headline: 'Your account was disconnected from the identity provider',
        message: 'An administrator did this. Your next sign-in with the provider connects it again.',
        ...describeRequest(client, at),
      };
      const mail = { kind: 'token_alert', to: { userId }, detail, requestId: client.requestId } as const;
      await outbox.add(tx, mail, at);
    });
    outbox.wake();
  };
