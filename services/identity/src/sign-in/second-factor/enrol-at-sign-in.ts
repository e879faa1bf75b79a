import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import type { Transaction } from '../../prisma.js';
import type { ClientAddress } from '../../base/caller/client.js';
import { createSetUpOptions } from '../passkeys/ceremonies.js';
import { issueChallenge } from '../passkeys/challenges.js';
import { checkNewPasskey } from '../passkeys/check-passkey.js';
import { passkeyInvalid, passkeysUnavailable } from '../passkeys/errors.js';
import { openSession } from '../sessions/open-session.js';
import type { LoginResponse } from '../sessions/schemas.js';
import { addFactor, type ConfirmedFactor } from './add-factor.js';
import type { SecondFactorContext } from './context.js';
import { confirmEnrolment, type Enrolment, showEnrolment } from './enrolment.js';
import { signInExpired } from './errors.js';
import { type NewPasskey, toName } from './own-passkeys.js';
import { findPending, type Pending, toMemberOf, toUser } from './pending.js';
import { consumePendingSignIn } from './queries.js';

export interface EnrolledSession extends LoginResponse {
  readonly recoveryCodes: string[];
}

const toHolder = ({ account, tokenHash }: Pending) => ({ userId: account.id, holder: tokenHash });

async function requireEnrolling(ctx: SecondFactorContext, challenge: string): Promise<Pending> {
  const found = await findPending(ctx, challenge);
  if (found.step !== 'enrol') throw signInExpired();
  return found;
}

/** Completes the sign-in with the factor that `confirm` returns; undefined changes nothing but what that has used up. */
async function completeWith(
  ctx: SecondFactorContext,
  challenge: string,
  client: ClientAddress,
  confirm: (tx: Transaction, locked: Pending, at: Date) => Promise<ConfirmedFactor | undefined>,
): Promise<EnrolledSession | undefined> {
  const opened = await ctx.prisma.$transaction(async (tx) => {
    const locked = await findPending(ctx, challenge, tx);
    const { account, method, tokenHash, step } = locked;
    if (step !== 'enrol') throw signInExpired();
    const at = new Date(ctx.clock());
    const confirmed = await confirm(tx, locked, at);
    if (!confirmed) return undefined;
    if (!(await consumePendingSignIn(tx, tokenHash, at))) throw signInExpired();
    const actor = { actorId: account.id, credential: null, client };
    const recoveryCodes = (await addFactor(ctx, tx, toMemberOf(locked), confirmed, { actor, at })) ?? [];
    const proof = { method, secondFactor: confirmed.factor };
    return { ...(await openSession(ctx, tx, toUser(account), client, proof)), recoveryCodes };
  });
  ctx.outbox.wake();
  return opened;
}

/** Begins to set an authenticator app up, or shows it again. @throws AppError 401 SIGN_IN_EXPIRED; 400. */
export async function enrolAtSignIn(
  ctx: SecondFactorContext,
  challenge: string,
  enrolment?: string,
): Promise<Enrolment> {
  const found = await requireEnrolling(ctx, challenge);
  const { account } = found;
  const label = { issuer: await ctx.findName(account.orgId), account: account.email };
  return showEnrolment(ctx, toHolder(found), label, enrolment);
}

/** @throws AppError 401 SIGN_IN_EXPIRED; 400 ENROLMENT_EXPIRED, SECOND_FACTOR_INVALID; 429. */
export async function confirmEnrolmentAtSignIn(
  ctx: SecondFactorContext,
  challenge: string,
  sent: { readonly enrolment: string; readonly code: string },
  client: ClientAddress,
): Promise<EnrolledSession> {
  const found = await requireEnrolling(ctx, challenge);
  await ctx.limits.begin(found.account.id, client);
  const confirmed = confirmEnrolment(ctx, toHolder(found), sent);
  const opened = await completeWith(ctx, challenge, client, () =>
    Promise.resolve({ factor: 'totp', ...confirmed }),
  );
  if (!opened) throw signInExpired();
  await ctx.limits.succeed(found.account.id, client);
  return opened;
}

/** Begins to set a passkey up. @throws AppError 401 SIGN_IN_EXPIRED; 409 PASSKEYS_UNAVAILABLE. */
export async function beginPasskeyAtSignIn(
  ctx: SecondFactorContext,
  challenge: string,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  if (!ctx.relyingParty) throw passkeysUnavailable();
  const { account, tokenHash } = await requireEnrolling(ctx, challenge);
  const setUp = { purpose: 'set_up', holder: tokenHash } as const;
  const issued = await issueChallenge(ctx.prisma, account.id, setUp, ctx.clock());
  return createSetUpOptions(ctx.relyingParty, { ...account, userId: account.id }, [], issued);
}

/** @throws AppError 401 SIGN_IN_EXPIRED; 400 PASSKEY_INVALID; 409 PASSKEY_EXISTS; 429. */
export async function confirmPasskeyAtSignIn(
  ctx: SecondFactorContext,
  challenge: string,
  { name, registration }: NewPasskey,
  client: ClientAddress,
): Promise<EnrolledSession> {
  const found = await requireEnrolling(ctx, challenge);
  await ctx.limits.begin(found.account.id, client);
  const opened = await completeWith(ctx, challenge, client, async (tx, { account, tokenHash }, at) => {
    const request = { holder: tokenHash, at };
    const credential = await checkNewPasskey(tx, ctx.relyingParty, account.id, registration, request);
    return credential && { factor: 'passkey', credential, name: toName(name, client) };
  });
  if (!opened) throw passkeyInvalid();
  await ctx.limits.succeed(found.account.id, client);
  return opened;
}
