import type { Clock } from '@platform/service-kit';
import type { Prisma, Transaction } from '../../prisma.js';
import type { AttemptLimits } from '../../base/rate-limits/attempt-limits.js';
import { allowMail, clearMailCooldowns } from '../../base/rate-limits/mail-limits.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { type ClientAddress, describeRequest } from '../../base/caller/client.js';
import { findPlace, isKnownDevice } from '../known-devices/service.js';
import type { LinkPurpose } from '../../mails/one-time-secrets/secret.js';
import {
  consumeToken,
  findLinkOwner,
  type OneTimeSecretContext,
  revokeSecrets,
} from '../../mails/one-time-secrets/service.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import { findPasswordFault, passwordRefused } from '../../base/common-passwords.js';
import { isProven, type Passwords } from '../../base/passwords.js';
import { endSessions } from '../sessions/queries.js';
import type { PassFirstFactor, SignInOutcome } from '../sessions/sign-in-outcome.js';
import { changePassword, setFirstPassword } from '../../members/members/queries.js';
import { normaliseEmail } from '../../members/members/service.js';
import { linkInvalid } from './errors.js';
import type { AcceptInvitationBody, LinkResponse, ResetPasswordBody } from './schemas.js';

export interface AccountFlowContext {
  readonly prisma: Prisma;
  readonly passwords: Passwords;
  readonly secrets: OneTimeSecretContext;
  readonly outbox: Outbox;
  readonly passFirstFactor: PassFirstFactor;
  readonly clock: Clock;
  readonly limits: {
    readonly code: AttemptLimits;
    readonly reset: AttemptLimits;
    readonly link: AttemptLimits;
  };
}

/** Doesn't look the account up, so that neither response nor timing reveals it: the sending job looks it up later. */
async function requestMail(
  { prisma, clock, outbox }: AccountFlowContext,
  kind: 'login_code' | 'password_reset',
  limit: AttemptLimits,
  typed: string,
  client: ClientAddress,
  browser: string | undefined,
): Promise<void> {
  const email = normaliseEmail(typed);
  const { address } = client;
  const place = await findPlace(prisma, email, browser);
  await limit.begin(email, { address, place });
  const at = new Date(clock());
  const detail = kind === 'password_reset' ? describeRequest(client, at) : {};
  await prisma.$transaction(async (tx) => {
    if (
      await allowMail(
        tx,
        { kind, email, address, at },
        async () => place !== undefined || isKnownDevice(tx, email, client),
      )
    )
      await outbox.add(tx, { kind, to: { email }, detail, requestId: client.requestId }, at);
  });
  outbox.wake();
}

/** Consumes the link and runs what it authorises, both in one transaction. */
async function followLink<T>(
  ctx: AccountFlowContext,
  purpose: LinkPurpose,
  { token, password }: ResetPasswordBody,
  address: string,
  run: (tx: Transaction, userId: string, passwordHash: string, at: Date) => Promise<T | undefined>,
): Promise<T> {
  await ctx.limits.link.begin(token, { address });
  // Hashing is expensive: an invalid token must not cause it.
  const link = await findLinkOwner(ctx.secrets, token);
  if (link?.purpose !== purpose) throw linkInvalid();
  const fault = findPasswordFault(password, link);
  if (fault !== undefined) {
    // Whoever has the link guesses nothing.
    await ctx.limits.link.succeed(token, { address });
    throw passwordRefused('password', fault);
  }
  const hashing = ctx.passwords.hash(password, isProven);
  const passwordHash = await ctx.limits.link.check(token, { address }, hashing);
  const done = await ctx.prisma.$transaction(async (tx) => {
    const userId = await consumeToken(ctx.secrets, tx, purpose, token);
    const result = userId && (await run(tx, userId, passwordHash, new Date(ctx.clock())));
    if (!result) throw linkInvalid();
    return result;
  });
  ctx.outbox.wake();
  await ctx.limits.link.succeed(token, { address });
  return done;
}

/**
 * Mails a code if the account exists, without revealing whether it does.
 *
 * @param browser - the secret of the browser that asks.
 * @throws AppError 429.
 */
export function requestCode(
  ctx: AccountFlowContext,
  email: string,
  client: ClientAddress,
  browser?: string,
): Promise<void> {
  return requestMail(ctx, 'login_code', ctx.limits.code, email, client, browser);
}

/**
 * Mails a link to choose a new password if the account exists, without revealing whether it does. A member who hasn't
 * accepted their invitation gets the invitation again.
 *
 * @throws AppError 429.
 */
export function requestReset(
  ctx: AccountFlowContext,
  email: string,
  client: ClientAddress,
  browser?: string,
): Promise<void> {
  return requestMail(ctx, 'password_reset', ctx.limits.reset, email, client, browser);
}

/** Returns the account that the link belongs to. @throws AppError 400 LINK_INVALID; 429. */
export async function describeLink(
  { limits, secrets }: AccountFlowContext,
  token: string,
  address: string,
): Promise<LinkResponse['link']> {
  await limits.link.begin(token, { address });
  const link = await findLinkOwner(secrets, token);
  if (!link) throw linkInvalid();
  await limits.link.succeed(token, { address });
  return link;
}

/** Changes the password and ends all sessions of the account; its tokens stay. @throws AppError 400 LINK_INVALID; 429. */
export async function resetPassword(
  ctx: AccountFlowContext,
  body: ResetPasswordBody,
  client: ClientAddress,
): Promise<void> {
  await followLink(ctx, 'password_reset', body, client.address, async (tx, userId, passwordHash, at) => {
    const user = await changePassword(tx, userId, passwordHash);
    if (!user) return undefined;
    await revokeSecrets(tx, userId);
    await clearMailCooldowns(tx, user.email);
    const sessionsEnded = String(await endSessions(tx, userId, at));
    // The link authenticated the member.
    const actor = { actorId: userId, credential: null, client };
    const entry = { orgId: user.orgId, actor, subjectId: userId, reason: 'reset' };
    await insertAuditEntry(tx, { ...entry, action: 'password.changed', detail: { sessionsEnded }, at });
    return user;
  });
}

/**
 * Activates the invited account and signs it in.
 *
 * @returns the session, or the step that is missing; the account is active in both cases.
 * @throws AppError 400 LINK_INVALID; 429.
 */
export function acceptInvitation(
  ctx: AccountFlowContext,
  body: AcceptInvitationBody,
  client: ClientAddress,
): Promise<SignInOutcome> {
  return followLink(ctx, 'invitation', body, client.address, async (tx, userId, passwordHash, at) => {
    const user = await setFirstPassword(tx, userId, passwordHash, body.fullName?.trim());
    if (!user) return undefined;
    await revokeSecrets(tx, userId);
    await clearMailCooldowns(tx, user.email);
    const actor = { actorId: userId, credential: null, client };
    // Before the audit entry, whose counter a change of the sign-in settings locks while it waits for sign-ins.
    const outcome = await ctx.passFirstFactor(tx, { ...user, passwordHash }, client, 'invitation');
    const entry = { orgId: user.orgId, actor, subjectId: userId };
    await insertAuditEntry(tx, { ...entry, action: 'invitation.accepted', at });
    await ctx.outbox.add(tx, { kind: 'account_created', to: { userId }, requestId: client.requestId }, at);
    return outcome;
  });
}
