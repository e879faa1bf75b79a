import { type AppError, type Clock, conflict } from '@platform/service-kit';
import { insertAuditEntry } from '../../audit/queries.js';
import { type Caller, toActor } from '../../base/caller/actor.js';
import type { OneTimeSecrets } from '../../mails/one-time-secrets/service.js';
import { type LinkBase, toInviteLink } from '../../mails/outbox/emails.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import { findAddressee } from '../../mails/outbox/queries.js';
import type { RepeatedInvitation } from './schemas.js';
import { invitationAccepted, userNotFound } from '../members/errors.js';
import { lockAdministration } from '../organisation/administration.js';
import { findSmtpConfiguration } from '../smtp/queries.js';
import type { Prisma } from '../../resources.js';

const invitationLapsed = (): AppError =>
  conflict('INVITATION_LAPSED', 'The invitation has lapsed: invite the address anew');

export function createInvitations(deps: {
  readonly prisma: Prisma;
  readonly secrets: OneTimeSecrets;
  readonly outbox: Outbox;
  readonly links: LinkBase;
  readonly clock: Clock;
}) {
  const { prisma, secrets, outbox, links, clock } = deps;
  return {
    /**
     * Mails an invitation again, with the same link and the same end. An organisation without an SMTP server gets the link
     * instead, to hand over: its administrators could as well create the member with a password (USER-9).
     *
     * @throws AppError 404; 409 INVITATION_ACCEPTED or INVITATION_LAPSED.
     */
    async repeat(caller: Caller, userId: string): Promise<RepeatedInvitation> {
      const { orgId, fullName, client } = caller;
      const at = new Date(clock());
      const repeated = await prisma.$transaction(async (tx) => {
        await lockAdministration(tx, caller);
        const user = await findAddressee(tx, { userId, email: null });
        if (user?.orgId !== orgId) throw userNotFound();
        if (user.passwordHash !== null) throw invitationAccepted();
        const issued = await secrets.issueInvitationToken(tx, user, at);
        if (!issued) throw invitationLapsed();
        const isMailed = outbox.isEnabled && (await findSmtpConfiguration(tx, orgId)) !== null;
        const mail = { kind: 'invitation', to: { userId }, detail: { invitedBy: fullName } } as const;
        if (isMailed) await outbox.add(tx, { ...mail, requestId: client.requestId }, at);
        const delivery = isMailed ? ('mail' as const) : ('link' as const);
        const entry = { orgId, actor: toActor(caller), subjectId: userId, detail: { again: delivery }, at };
        await insertAuditEntry(tx, { ...entry, action: 'user.invited' });
        const inviteLink = isMailed ? null : toInviteLink(links, issued.token);
        return { delivery, inviteLink, expiresAt: issued.expiresAt.toISOString() };
      });
      outbox.wake();
      return repeated;
    },
  };
}

export type Invitations = ReturnType<typeof createInvitations>;
