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
import type { PassFirstFactor, SignInOutcome } from '../sessions/sign-in-outcome.js';
import type { SecondFactorContext } from './context.js';
import { lockFactors, type Member } from './queries.js';
import { reportCopy } from './verify.js';

/*
 * A passkey that signs in alone. It is what the person has, and its device verifies who they are by a PIN, a finger or a face: it
 * counts for both factors, so that an organisation which requires a second one is satisfied. One that requires its provider is
 * not. [AUTH-65, AUTH-66]
 */

type Attempt =
  | { readonly outcome: SignInOutcome }
  | { readonly fault: 'refused' | 'provider'; readonly email: string };

export function createPasskeySignIn(ctx: SecondFactorContext, passFirstFactor: PassFirstFactor) {
  const { prisma, box, passkeyLimits: limits, outbox, failures, relyingParty, clock } = ctx;

  /** Checks what was signed, and opens the session. The transaction is committed in any case. */
  async function attempt(
    tx: Transaction,
    member: Member,
    assertion: PasskeyAssertion,
    client: ClientAddress,
  ): Promise<Attempt | undefined> {
    if (!(await lockFactors(tx, member))) return undefined;
    const account = await findMember(tx, member.orgId, member.userId);
    if (!account) return undefined;
    const { email } = account;
    const at = new Date(clock());
    const challenge = await consumeSignInChallenge(tx, box, member.userId, assertion, at);
    const signed = { challenge, isAlone: true, at };
    const checked = await checkSignature(tx, relyingParty, member, assertion, signed);
    if ('fault' in checked) {
      if (checked.fault === 'counterFell')
        await reportCopy(ctx, tx, member, checked.passkey.name, { client, at });
      return { fault: 'refused', email };
    }
    if (await isProviderRequired(tx, account.id)) return { fault: 'provider', email };
    return { outcome: await passFirstFactor(tx, account, client, 'passkey', 'passkey') };
  }

  return {
    /** Returns the options with which a browser asks for a passkey of any account; undefined where there can be none. */
    askAnyPasskey: (): object | undefined =>
      relyingParty && createSignInOptions(relyingParty, createSignInChallenge(box, clock())),

    /**
     * Signs in with a passkey alone.
     *
     * @throws AppError 401 PASSKEY_REFUSED, PROVIDER_REQUIRED; 409 PASSKEYS_UNAVAILABLE; 429.
     */
    async signInWithPasskey(assertion: PasskeyAssertion, client: ClientAddress): Promise<SignInOutcome> {
      if (!relyingParty) throw passkeysUnavailable();
      await limits.begin(assertion.id, client);
      const owner = await findPasskeyOwner(prisma, assertion.id);
      const attempted =
        owner &&
        (await limits.check(
          assertion.id,
          client,
          prisma.$transaction((tx) => attempt(tx, owner, assertion, client)),
        ));
      outbox.wake();
      if (!attempted) throw passkeyRefused();
      if ('fault' in attempted) {
        const { fault, email } = attempted;
        const isRequired = fault === 'provider';
        failures.record({
          email,
          method: 'passkey',
          client,
          ...(isRequired && { reason: 'provider required' }),
        });
        throw isRequired ? providerRequired() : passkeyRefused();
      }
      await limits.succeed(assertion.id, client);
      return attempted.outcome;
    },
  };
}
