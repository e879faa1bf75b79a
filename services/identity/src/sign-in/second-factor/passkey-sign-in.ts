import type { ClientAddress } from '../../base/caller/client.js';
import { findMember } from '../../members/members/queries.js';
import { isProviderRequired } from '../../members/organisation/provider-requirement.queries.js';
import type { Transaction } from '../../prisma.js';
import { createSignInOptions } from '../passkeys/ceremonies.js';
import { checkSignature } from '../passkeys/check-passkey.js';
import { passkeyRefused, passkeysUnavailable } from '../passkeys/errors.js';
import { findPasskeyOwner } from '../passkeys/queries.js';
import type { PasskeyAssertion } from '../passkeys/schemas.js';
import { consumeSignInChallenge, createSignInChallenge } from '../passkeys/sign-in-challenges.js';
import { providerRequired } from '../sessions/errors.js';
import type { SignInOutcome } from '../sessions/sign-in-outcome.js';
import type { SecondFactorContext } from './context.js';
import { lockFactors, type Member } from './queries.js';
import { passFirstFactor } from './sign-in.js';
import { reportCopy } from './verify.js';

/*
 * A passkey that signs in alone. It is what the person has, and its device verifies who they are by a PIN, a finger or a face: it
 * counts for both factors, so that an organisation which requires a second one is satisfied. One that requires its provider is
 * not. [AUTH-65, AUTH-66]
 */

type Attempt =
  | { readonly outcome: SignInOutcome }
  | { readonly fault: 'refused' | 'provider'; readonly email: string };

/** Checks what was signed, and opens the session. The transaction is committed in any case. */
async function attemptSignIn(
  ctx: SecondFactorContext,
  tx: Transaction,
  member: Member,
  assertion: PasskeyAssertion,
  client: ClientAddress,
): Promise<Attempt | undefined> {
  if (!(await lockFactors(tx, member))) return undefined;
  const account = await findMember(tx, member.orgId, member.userId);
  if (!account) return undefined;
  const { email } = account;
  const at = new Date(ctx.clock());
  const challenge = await consumeSignInChallenge(tx, ctx.box, member.userId, assertion, at);
  const signed = { challenge, isAlone: true, at };
  const checked = await checkSignature(tx, ctx.relyingParty, member, assertion, signed);
  if ('fault' in checked) {
    if (checked.fault === 'counterFell')
      await reportCopy(ctx, tx, member, checked.passkey.name, { client, at });
    return { fault: 'refused', email };
  }
  if (await isProviderRequired(tx, account.id)) return { fault: 'provider', email };
  return { outcome: await passFirstFactor(ctx, tx, account, client, 'passkey', 'passkey') };
}

/** Returns the options with which a browser asks for a passkey of any account; undefined where there can be none. */
export function askAnyPasskey({ relyingParty, box, clock }: SecondFactorContext): object | undefined {
  return relyingParty && createSignInOptions(relyingParty, createSignInChallenge(box, clock()));
}

/**
 * Signs in with a passkey alone.
 *
 * @throws AppError 401 PASSKEY_REFUSED, PROVIDER_REQUIRED; 409 PASSKEYS_UNAVAILABLE; 429.
 */
export async function signInWithPasskey(
  ctx: SecondFactorContext,
  assertion: PasskeyAssertion,
  client: ClientAddress,
): Promise<SignInOutcome> {
  if (!ctx.relyingParty) throw passkeysUnavailable();
  await ctx.passkeyLimits.begin(assertion.id, client);
  const owner = await findPasskeyOwner(ctx.prisma, assertion.id);
  const attempted =
    owner &&
    (await ctx.passkeyLimits.check(
      assertion.id,
      client,
      ctx.prisma.$transaction((tx) => attemptSignIn(ctx, tx, owner, assertion, client)),
    ));
  ctx.outbox.wake();
  if (!attempted) throw passkeyRefused();
  if ('fault' in attempted) {
    const { fault, email } = attempted;
    const isRequired = fault === 'provider';
    ctx.failures.record({
      email,
      method: 'passkey',
      client,
      ...(isRequired && { reason: 'provider required' }),
    });
    throw isRequired ? providerRequired() : passkeyRefused();
  }
  await ctx.passkeyLimits.succeed(assertion.id, client);
  return attempted.outcome;
}
