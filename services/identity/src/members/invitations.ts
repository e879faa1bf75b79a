import { requireSession } from '@platform/auth';
import { type App, type AppError, type Clock, conflict, errorResponses, IdPath } from '@platform/service-kit';
import { Type } from 'typebox';
import { requireAdminRole } from '../base/authority.js';
import { type Caller, getCaller } from '../base/caller/actor.js';
import { always } from '../base/confirmation.js';
import { issueInvitationToken, type OneTimeSecretContext } from '../mails/one-time-secrets/service.js';
import { type LinkBase, toInviteLink } from '../mails/outbox/emails.js';
import type { Outbox } from '../mails/outbox/outbox.js';
import { findAddressee } from '../mails/outbox/queries.js';
import type { Prisma } from '../prisma.js';
import { invitationAccepted, userNotFound } from './members/errors.js';
import { changeAsAdministrator } from './organisation/administration.js';
import { findSmtpConfiguration } from './smtp/queries.js';

interface InvitationContext {
  readonly prisma: Prisma;
  readonly secrets: OneTimeSecretContext;
  readonly outbox: Outbox;
  readonly links: LinkBase;
  readonly clock: Clock;
}

const invitationLapsed = (): AppError =>
  conflict('INVITATION_LAPSED', 'The invitation has lapsed: invite the address again');

const RepeatedInvitation = Type.Object(
  {
    delivery: Type.Union([Type.Literal('mail'), Type.Literal('link')]),
    inviteLink: Type.Union([Type.String(), Type.Null()], {
      description: 'Only while the organisation has no SMTP server: the link to hand to the invitee.',
    }),
    expiresAt: Type.String({ format: 'date-time' }),
  },
  { title: 'RepeatedInvitation' },
);
type RepeatedInvitation = Type.Static<typeof RepeatedInvitation>;

/**
 * Mails an invitation again, with the same link and the same end. An organisation without an SMTP server gets the link
 * instead, to hand over: its administrators could as well create the member with a password (USER-9).
 *
 * @throws AppError 404; 409 INVITATION_ACCEPTED or INVITATION_LAPSED.
 */
async function repeatInvitation(
  ctx: InvitationContext,
  caller: Caller,
  userId: string,
): Promise<RepeatedInvitation> {
  const { secrets, outbox, links } = ctx;
  const { orgId, fullName, client } = caller;
  const repeated = await changeAsAdministrator(ctx, caller, async ({ tx, at, record }) => {
    const user = await findAddressee(tx, { userId, email: null });
    if (user?.orgId !== orgId) throw userNotFound();
    if (user.passwordHash !== null) throw invitationAccepted();
    const issued = await issueInvitationToken(secrets, tx, user, at);
    if (!issued) throw invitationLapsed();
    const isMailed = outbox.isEnabled && (await findSmtpConfiguration(tx, orgId)) !== null;
    const mail = { kind: 'invitation', to: { userId }, detail: { invitedBy: fullName } } as const;
    if (isMailed) await outbox.add(tx, { ...mail, requestId: client.requestId }, at);
    const delivery = isMailed ? ('mail' as const) : ('link' as const);
    await record({ action: 'user.invited', subjectId: userId, detail: { again: delivery } });
    const inviteLink = isMailed ? null : toInviteLink(links, issued.token);
    return { delivery, inviteLink, expiresAt: issued.expiresAt.toISOString() };
  });
  outbox.wake();
  return repeated;
}

/**
 * Registers repeating an invitation, for administrators with a session: whoever has its link can log in as the invitee.
 * Members are invited with the feature `users`.
 */
export function registerInvitations(app: App, ctx: InvitationContext): void {
  app.post(
    '/api/v1/users/:id/invitation',
    {
      onRequest: [app.authenticate, requireSession, requireAdminRole],
      config: { needsConfirmation: always },
      schema: {
        operationId: 'repeatInvitation',
        tags: ['Users'],
        summary: 'Send an invitation again, or get its link where there is no SMTP server',
        description:
          'The link of the invitation before ends. A member who has accepted is 409 `INVITATION_ACCEPTED`.',
        params: IdPath,
        response: {
          200: RepeatedInvitation,
          ...errorResponses(400, 401, 403, 404, 409, invitationAccepted(), invitationLapsed()),
        },
      },
    },
    (request) => repeatInvitation(ctx, getCaller(request), request.params.id),
  );
}
