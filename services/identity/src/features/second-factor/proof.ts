import type { Clock } from '@platform/service-kit';
import type { Prisma, Transaction } from '../../resources.js';
import type { AttemptLimits } from '../attempt-limits/attempt-limits.js';
import type { Caller } from '../audit/actor.js';
import type { Outbox } from '../outgoing-mails/outbox.js';
import type { ConfirmPassword } from '../own-password/confirm-password.js';
import type { FailedSignIns } from '../sessions/failed-sign-ins.js';
import { userNotFound } from '../users/errors.js';
import type { CheckResult } from './check.js';
import { codesExhausted, ownCodeRequired, wrongOwnCode } from './errors.js';
import { findTotp, lockFactors, type StoredTotp } from './queries.js';
import type { VerifyCode } from './verify.js';

/** What a person enters again before the own second factor changes. */
export interface Proof {
  readonly currentPassword: string;
  /** A code of the app or a recovery code; an account without a second factor needs none. */
  readonly code?: string | undefined;
}

/**
 * Runs a change of the caller's own second factor for whoever proves all factors that the account has: the password
 * alone must not be able to replace the second one.
 *
 * @throws AppError 400 WRONG_PASSWORD, SECOND_FACTOR_REQUIRED, SECOND_FACTOR_INVALID; 429.
 */
export type ChangeWithProof = <T>(
  caller: Caller,
  proof: Proof,
  run: (tx: Transaction, at: Date, totp: StoredTotp | null) => Promise<T>,
) => Promise<T>;

export interface ProofDeps {
  readonly prisma: Prisma;
  readonly confirmPassword: ConfirmPassword;
  readonly verifyCode: VerifyCode;
  /** The limits of sign-ins: a guess here counts like a guess there. */
  readonly limits: AttemptLimits;
  readonly failures: Pick<FailedSignIns, 'record'>;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

type Outcome<T> = { readonly value: T } | Extract<CheckResult, { readonly fault: string }>;

export function createChangeWithProof(deps: ProofDeps): ChangeWithProof {
  const { prisma, confirmPassword, verifyCode, limits, failures, outbox, clock } = deps;
  return async (caller, { currentPassword, code = '' }, run) => {
    type Changed = Awaited<ReturnType<typeof run>>;
    const { userId, email, client } = caller;
    await confirmPassword(caller, currentPassword);
    if (code !== '') await limits.begin(userId, client.address);
    // A wrong code is counted in the transaction, so it is thrown only afterwards.
    const outcome = await prisma.$transaction(async (tx): Promise<Outcome<Changed>> => {
      if (!(await lockFactors(tx, caller))) throw userNotFound();
      const at = new Date(clock());
      const totp = await findTotp(tx, caller);
      if (totp) {
        if (code === '') throw ownCodeRequired();
        const checked = await verifyCode(tx, caller, code, { client, at });
        if ('fault' in checked) return checked;
      }
      return { value: await run(tx, at, totp) };
    });
    outbox.wake();
    if ('fault' in outcome) {
      failures.record({ email, method: 'second_factor', client });
      throw outcome.fault === 'exhausted' ? codesExhausted(outcome.retryAfterMs / 1_000) : wrongOwnCode();
    }
    if (code !== '') await limits.succeed(userId, client.address);
    return outcome.value;
  };
}
