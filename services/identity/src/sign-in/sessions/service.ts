import { type Clock, validationError } from '@platform/service-kit';
import type { Prisma } from '../../prisma.js';
import type { AttemptLimits } from '../../base/rate-limits/attempt-limits.js';
import { clearMailCooldowns } from '../../base/rate-limits/mail-limits.js';
import { toActor, type Caller } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import type { ClientAddress } from '../../base/caller/client.js';
import { findPlace, isKnownDevice, recordBrowser } from '../known-devices/service.js';
import { findRequiringOrganisation } from '../../members/organisation/provider-requirement.queries.js';
import { areCodesEnabled } from '../../members/organisation/queries.js';
import { type OneTimeSecretContext, verifyLoginCode } from '../../mails/one-time-secrets/service.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import { type Account, findUserByEmail, lockUnchangedAccount } from '../../members/members/queries.js';
import { normaliseEmail } from '../../members/members/service.js';
import { providerRequired, wrongCredentials } from './errors.js';
import type { FailedSignIns } from './failed-sign-ins.js';
import type { Passwords } from '../../base/passwords.js';
import { endSession, markBrowserSession } from './queries.js';
import type { LoginBody, LoginResponse } from './schemas.js';
import type { PassFirstFactor, SignInOutcome } from './sign-in-outcome.js';

export interface SessionContext {
  readonly prisma: Prisma;
  readonly passwords: Passwords;
  readonly secrets: OneTimeSecretContext;
  readonly limits: AttemptLimits;
  readonly codeLimits: AttemptLimits;
  readonly outbox: Outbox;
  readonly passFirstFactor: PassFirstFactor;
  readonly failures: FailedSignIns;
  readonly clock: Clock;
}

async function findByPassword(
  { prisma, passwords }: SessionContext,
  email: string,
  password: string,
  isKnown: () => Promise<boolean>,
): Promise<Account | null> {
  const account = await findUserByEmail(prisma, email);
  return (await passwords.verify(account?.passwordHash, password, isKnown)) ? account : null;
}

async function findByCode(
  { prisma, secrets }: SessionContext,
  email: string,
  code: string,
): Promise<Account | null> {
  // The account is read before the code is consumed, so that a password reset in between is detected below.
  const account = await findUserByEmail(prisma, email);
  const userId = await verifyLoginCode(secrets, email, code);
  if (userId === undefined || account?.id !== userId) return null;
  return (await areCodesEnabled(prisma, account.orgId)) ? account : null;
}

/**
 * Logs in with a password or a code.
 *
 * @param browser - the secret of the browser that asks.
 * @returns the session, or the step that is missing.
 * @throws AppError 400; 401 for wrong credentials; 429 after too many attempts; 503 while too many others sign in.
 */
export async function login(
  ctx: SessionContext,
  { email: typed, password, otp }: LoginBody,
  client: ClientAddress,
  browser?: string,
): Promise<SignInOutcome> {
  if ((password === undefined) === (otp === undefined))
    throw validationError([{ field: 'password', message: 'must be given, or otp in its place' }]);
  const email = normaliseEmail(typed);
  const method = password === undefined ? 'code' : 'password';
  const attempts = password === undefined ? ctx.codeLimits : ctx.limits;
  const place = await findPlace(ctx.prisma, email, browser);
  const origin = { address: client.address, place };
  const isKnown = async () => place !== undefined || isKnownDevice(ctx.prisma, email, client);
  await attempts.begin(email, origin, isKnown);
  const account = await attempts.check(
    email,
    origin,
    password === undefined
      ? findByCode(ctx, email, otp ?? '')
      : findByPassword(ctx, email, password, isKnown),
  );
  // Where the organisation of a domain requires its provider, the response does not reveal whether the password was right, or
  // whether there is an account. Another organisation's account at the domain keeps its password.
  const requiredBy = await findRequiringOrganisation(ctx.prisma, email);
  const isRefused = account !== null && account.orgId === requiredBy;
  if (!account || isRefused) {
    ctx.failures.record({ email, method, client, ...(isRefused && { reason: 'provider required' }) });
    throw requiredBy === undefined ? wrongCredentials() : providerRequired();
  }
  const outcome = await ctx.prisma.$transaction(async (tx) => {
    // A concurrent password reset ends all sessions, so it prevents this one too.
    if (!(await lockUnchangedAccount(tx, account.id, account.passwordHash))) return undefined;
    if (method === 'code') await clearMailCooldowns(tx, email);
    return ctx.passFirstFactor(tx, account, client, method);
  });
  if (!outcome) throw wrongCredentials();
  ctx.outbox.wake();
  await attempts.succeed(email, origin, 'pending' in outcome);
  return outcome;
}

/** Notes that a browser holds the session: whoever finds the browser open must not do dangerous acts with it (AUTH-41). */
export async function bindToBrowser(
  { prisma, clock }: SessionContext,
  { accessToken, user }: LoginResponse,
  secret: string,
  client: ClientAddress,
): Promise<void> {
  await markBrowserSession(prisma, { orgId: user.orgId, userId: user.id }, accessToken);
  await recordBrowser(prisma, user.id, {
    secret,
    client,
    at: new Date(clock()),
  });
}

/** Ends the session immediately; tokens aren't affected. */
export async function logout({ clock, prisma }: SessionContext, caller: Caller): Promise<void> {
  const { orgId, credentialId } = caller;
  const at = new Date(clock());
  await prisma.$transaction(async (tx) => {
    if ((await endSession(tx, orgId, credentialId, at)) > 0)
      await insertAuditEntry(tx, {
        orgId,
        action: 'session.ended',
        actor: toActor(caller),
        subjectId: credentialId,
        at,
      });
  });
}
