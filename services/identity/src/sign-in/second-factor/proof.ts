import type { Transaction } from '../../prisma.js';
import type { Caller } from '../../base/caller/actor.js';
import { userNotFound } from '../../members/members/errors.js';
import type { PasskeyAssertion } from '../passkeys/schemas.js';
import type { SecondFactorContext } from './context.js';
import { codesExhausted, ownFactorRequired, wrongOwnFactor } from './errors.js';
import { type Factors, findFactors, isEmpty } from './factors.js';
import { lockFactors } from './queries.js';
import { type FactorCheck, toPresented, verifyFactor } from './verify.js';

/** The second factor that a person proves before it changes; an account without one needs none. */
export interface Proof {
  /** A code of the app or a recovery code. */
  readonly code?: string | undefined;
  /** The assertion of a passkey for the session, in place of a code. */
  readonly passkey?: PasskeyAssertion | undefined;
}

type Outcome<T> = { readonly value: T } | Extract<FactorCheck, { readonly fault: string }>;

/**
 * Runs a change of the caller's own second factor for whoever proves a factor that the account has: the password alone, or a
 * sign-in with the provider, must not be able to replace it. The routes and pages demand a confirmed session.
 *
 * @throws AppError 400 SECOND_FACTOR_REQUIRED, SECOND_FACTOR_INVALID; 429.
 */
export async function changeWithProof<T>(
  ctx: SecondFactorContext,
  caller: Caller,
  proof: Proof,
  run: (tx: Transaction, at: Date, factors: Factors) => Promise<T>,
): Promise<T> {
  const { prisma, limits, failures, outbox, clock } = ctx;
  const { userId, email, client, credentialId: holder } = caller;
  const presented = toPresented(proof);
  if (presented) await limits.begin(userId, client);
  // A wrong code is counted in the transaction, so it is thrown only afterwards.
  const outcome = await prisma.$transaction(async (tx): Promise<Outcome<T>> => {
    if (!(await lockFactors(tx, caller))) throw userNotFound();
    const at = new Date(clock());
    const factors = await findFactors(tx, caller);
    if (!isEmpty(factors)) {
      if (!presented) throw ownFactorRequired();
      const checked = await verifyFactor(ctx, tx, caller, presented, { client, at, holder });
      if ('fault' in checked) return checked;
    }
    return { value: await run(tx, at, factors) };
  });
  outbox.wake();
  if ('fault' in outcome) {
    failures.record({ email, method: 'second_factor', client });
    throw outcome.fault === 'exhausted'
      ? codesExhausted(outcome.retryAfterMs / 1_000)
      : wrongOwnFactor(outcome.fault);
  }
  if (presented) await limits.succeed(userId, client);
  return outcome.value;
}
