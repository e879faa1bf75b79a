import type { PublicKeyCredentialRequestOptionsJSON } from '@simplewebauthn/server';
import { insertAuditEntry } from '../../audit/record.sql.js';
import type { ClientAddress } from '../../base/caller/client.js';
import { createUseOptions } from '../passkeys/ceremonies.js';
import { issueChallenge } from '../passkeys/challenges.js';
import { noPasskey, passkeysUnavailable } from '../passkeys/errors.js';
import { findPasskeys } from '../passkeys/queries.js';
import { openSession } from '../sessions/open-session.js';
import type { LoginResponse } from '../sessions/schemas.js';
import type { FirstFactor, PendingSignIn, SecondFactor, SignInOutcome } from '../sessions/sign-in-outcome.js';
import type { Account } from '../../members/members/queries.js';
import type { Transaction } from '../../prisma.js';
import type { SecondFactorContext } from './context.js';
import { codesExhausted, signInExpired, wrongSecondFactor } from './errors.js';
import { findFactors, hasSecondFactor } from './factors.js';
import { beginPendingSignIn, findPending, toMemberOf, toUser } from './pending.js';
import { consumePendingSignIn, holdSecondFactorRequired } from './queries.js';
import { type FactorCheck, type Presented, verifyFactor } from './verify.js';

/*
 * A sign-in of an account with a second factor, or of an organisation that requires one:
 *
 *   passkey alone, whose device has verified the person ──────────────────> session
 *   first factor ──> pending ──(code or passkey)──> session
 *                       └──(no factor yet: set an app or a passkey up)──> session and recovery codes
 */

export interface SignInState {
  readonly step: PendingSignIn['step'];
  readonly email: string;
  /** The name of the account's organisation. */
  readonly organisation: string;
  readonly hasTotp: boolean;
  readonly hasPasskey: boolean;
}

async function passWith(
  ctx: SecondFactorContext,
  challenge: string,
  presented: Presented,
  client: ClientAddress,
) {
  return ctx.prisma.$transaction(async (tx): Promise<{ checked: FactorCheck; session?: LoginResponse }> => {
    const locked = await findPending(ctx, challenge, tx);
    const { account, method, tokenHash, step } = locked;
    if (step !== 'verify') throw signInExpired();
    const at = new Date(ctx.clock());
    const request = { client, at, holder: tokenHash };
    const checked = await verifyFactor(ctx, tx, toMemberOf(locked), presented, request);
    if ('fault' in checked) return { checked };
    if (!(await consumePendingSignIn(tx, tokenHash, at))) throw signInExpired();
    const proof = { method, secondFactor: checked.factor };
    return { checked, session: await openSession(ctx, tx, toUser(account), client, proof) };
  });
}

/** Opens the session, or begins the second step of the sign-in. */
export async function passFirstFactor(
  ctx: SecondFactorContext,
  tx: Transaction,
  account: Account,
  client: ClientAddress,
  method: FirstFactor,
  secondFactor?: SecondFactor,
): Promise<SignInOutcome> {
  if (secondFactor !== undefined)
    return { session: await openSession(ctx, tx, toUser(account), client, { method, secondFactor }) };
  const member = { orgId: account.orgId, userId: account.id };
  const hasFactor = await hasSecondFactor(tx, member);
  if (!hasFactor && !(await holdSecondFactorRequired(tx, account.orgId)))
    return { session: await openSession(ctx, tx, toUser(account), client, { method }) };
  const begun = await beginPendingSignIn(ctx, tx, account, method);
  const step = hasFactor ? 'verify' : 'enrol';
  // Whoever gives up here knows the password, or reads the mails, of the account.
  await insertAuditEntry(tx, {
    orgId: account.orgId,
    action: 'sign_in.first_factor',
    actor: { actorId: account.id, credential: null, client },
    subjectId: account.id,
    detail: { method, step },
    at: new Date(ctx.clock()),
  });
  return { pending: { step, ...begun } };
}

/** Returns whose sign-in it is and what it lacks. @throws AppError 401 SIGN_IN_EXPIRED. */
export async function describeSignIn(ctx: SecondFactorContext, challenge: string): Promise<SignInState> {
  const found = await findPending(ctx, challenge);
  const { step, account } = found;
  const { totp, passkeys } = await findFactors(ctx.prisma, toMemberOf(found));
  const hasPasskey = ctx.relyingParty !== undefined && passkeys.length > 0;
  const organisation = await ctx.findName(account.orgId);
  return { step, email: account.email, organisation, hasTotp: totp !== null, hasPasskey };
}

/** Asks for one of the member's passkeys. @throws AppError 401 SIGN_IN_EXPIRED; 409 NO_PASSKEY, PASSKEYS_UNAVAILABLE. */
export async function askPasskey(
  ctx: SecondFactorContext,
  challenge: string,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  if (!ctx.relyingParty) throw passkeysUnavailable();
  const found = await findPending(ctx, challenge);
  const member = toMemberOf(found);
  const passkeys = await findPasskeys(ctx.prisma, member);
  if (passkeys.length === 0) throw noPasskey();
  const use = { purpose: 'use', holder: found.tokenHash } as const;
  return createUseOptions(
    ctx.relyingParty,
    passkeys,
    await issueChallenge(ctx.prisma, member.userId, use, ctx.clock()),
  );
}

/** @throws AppError 401 SIGN_IN_EXPIRED, SECOND_FACTOR_INVALID; 429. */
export async function passSecondFactor(
  ctx: SecondFactorContext,
  challenge: string,
  presented: Presented,
  client: ClientAddress,
): Promise<LoginResponse> {
  const { account } = await findPending(ctx, challenge);
  await ctx.limits.begin(account.id, client);
  const { checked, session } = await passWith(ctx, challenge, presented, client);
  ctx.outbox.wake();
  if ('fault' in checked || session === undefined) {
    ctx.failures.record({ email: account.email, method: 'second_factor', client });
    const fault = 'fault' in checked ? checked : ({ fault: 'wrong' } as const);
    throw fault.fault === 'exhausted'
      ? codesExhausted(fault.retryAfterMs / 1_000)
      : wrongSecondFactor(fault.fault);
  }
  await ctx.limits.succeed(account.id, client);
  return session;
}
