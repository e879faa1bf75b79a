import type { Clock } from '@platform/service-kit';
import type { Prisma } from '../../resources.js';
import type { AttemptLimits } from '../attempt-limits/attempt-limits.js';
import type { ClientAddress } from '../known-devices/client.js';
import type { Outbox } from '../outgoing-mails/outbox.js';
import type { FailedSignIns } from '../sessions/failed-sign-ins.js';
import type { OpenSession } from '../sessions/open-session.js';
import type { LoginResponse } from '../sessions/schemas.js';
import type { PassFirstFactor, PendingSignIn } from '../sessions/sign-in-outcome.js';
import type { CheckResult } from './check.js';
import type { EnrolAtSignIn } from './enrol-at-sign-in.js';
import { codesExhausted, signInExpired, wrongSecondFactor } from './errors.js';
import { hasSecondFactor } from './factors.js';
import { type PendingSignIns, toMemberOf, toUser } from './pending.js';
import { consumePendingSignIn, holdSecondFactorRequired } from './queries.js';
import type { VerifyCode } from './verify.js';

/*
 * A sign-in of an account with a second factor, or of an organisation that requires one:
 *
 *   first factor ──> pending ──(code)──> session
 *                       └──(no factor yet: set an app up, confirm it)──> session and recovery codes
 */

export interface SignInSteps extends EnrolAtSignIn {
  readonly passFirstFactor: PassFirstFactor;
  /** Returns whose sign-in it is and what it lacks. @throws AppError 401 SIGN_IN_EXPIRED. */
  describe(challenge: string): Promise<{ readonly step: PendingSignIn['step']; readonly email: string }>;
  /** @throws AppError 401 SIGN_IN_EXPIRED, SECOND_FACTOR_INVALID; 429. */
  passSecondFactor(challenge: string, code: string, client: ClientAddress): Promise<LoginResponse>;
}

export interface SignInStepDeps {
  readonly prisma: Prisma;
  readonly pending: PendingSignIns;
  readonly enrolAtSignIn: EnrolAtSignIn;
  readonly limits: AttemptLimits;
  readonly outbox: Outbox;
  readonly verifyCode: VerifyCode;
  readonly openSession: OpenSession;
  readonly failures: Pick<FailedSignIns, 'record'>;
  readonly clock: Clock;
}

export function createSignInSteps(deps: SignInStepDeps): SignInSteps {
  const { prisma, pending, enrolAtSignIn, limits, outbox, verifyCode, openSession, failures, clock } = deps;

  async function passWithCode(challenge: string, code: string, client: ClientAddress) {
    return prisma.$transaction(async (tx): Promise<{ checked: CheckResult; session?: LoginResponse }> => {
      const locked = await pending.lock(tx, challenge);
      const { account, method, tokenHash, step } = locked;
      if (step !== 'verify') throw signInExpired();
      const at = new Date(clock());
      const checked = await verifyCode(tx, toMemberOf(locked), code, { client, at });
      if ('fault' in checked) return { checked };
      if (!(await consumePendingSignIn(tx, tokenHash, at))) throw signInExpired();
      const proof = { method, secondFactor: checked.factor };
      return { checked, session: await openSession(tx, toUser(account), client, proof) };
    });
  }

  return {
    ...enrolAtSignIn,

    async passFirstFactor(tx, account, client, method, secondFactor) {
      if (secondFactor !== undefined)
        return { session: await openSession(tx, toUser(account), client, { method, secondFactor }) };
      const member = { orgId: account.orgId, userId: account.id };
      const hasFactor = await hasSecondFactor(tx, member);
      if (!hasFactor && !(await holdSecondFactorRequired(tx, account.orgId)))
        return { session: await openSession(tx, toUser(account), client, { method }) };
      const begun = await pending.begin(tx, account, method);
      return { pending: { step: hasFactor ? 'verify' : 'enrol', ...begun } };
    },

    async describe(challenge) {
      const { step, account } = await pending.find(challenge);
      return { step, email: account.email };
    },

    async passSecondFactor(challenge, code, client) {
      const { account } = await pending.find(challenge);
      await limits.begin(account.id, client.address);
      const { checked, session } = await passWithCode(challenge, code, client);
      outbox.wake();
      if (session === undefined) {
        failures.record({ email: account.email, method: 'second_factor', client });
        throw 'fault' in checked && checked.fault === 'exhausted'
          ? codesExhausted(checked.retryAfterMs / 1_000)
          : wrongSecondFactor();
      }
      await limits.succeed(account.id, client.address);
      return session;
    },
  };
}
