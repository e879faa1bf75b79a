import { toDigest } from '@platform/auth';
import type { Clock } from '@platform/service-kit';
import type { Prisma, Transaction } from '../../resources.js';
import type { SecretBox } from '../../secret-box.js';
import type { AttemptLimits } from '../attempt-limits/attempt-limits.js';
import { insertAuditEntry } from '../audit/queries.js';
import type { ClientAddress } from '../known-devices/client.js';
import { generateToken } from '../one-time-secrets/secret.js';
import type { Outbox } from '../outgoing-mails/outbox.js';
import type { FailedSignIns } from '../sessions/failed-sign-ins.js';
import type { OpenSession } from '../sessions/open-session.js';
import type { LoginResponse } from '../sessions/schemas.js';
import type { FirstFactor, PassFirstFactor, PendingSignIn } from '../sessions/sign-in-outcome.js';
import { type Account, findMember } from '../users/queries.js';
import type { User } from '../users/schemas.js';
import { type CheckResult, toPasswordDigest } from './check.js';
import type { Enrolment, Enrolments } from './enrolment.js';
import { codesExhausted, signInExpired, wrongSecondFactor } from './errors.js';
import { addTotp, hasSecondFactor } from './factors.js';
import type { AddNotice } from './notices.js';
import {
  consumePendingSignIn,
  findPendingSignIn,
  insertPendingSignIn,
  holdSecondFactorRequired,
  lockFactors,
} from './queries.js';
import type { VerifyCode } from './verify.js';

/*
 * A sign-in of an account with a second factor, or of an organisation that requires one:
 *
 *   first factor ──> pending ──(code)──> session
 *                       └──(no factor yet: set an app up, confirm it)──> session and recovery codes
 *
 * A pending sign-in lasts ten minutes and ends with the password that it began with. Whether it asks for a factor or
 * for the set-up of one is decided anew at each step: an account that has a factor never gets another one this way.
 */

const LIFETIME_MS = 10 * 60_000;

export interface EnrolledSession extends LoginResponse {
  readonly recoveryCodes: string[];
}

export interface SignInSteps {
  readonly passFirstFactor: PassFirstFactor;
  /** Returns whose sign-in it is and what it lacks. @throws AppError 401 SIGN_IN_EXPIRED. */
  describe(challenge: string): Promise<{ readonly step: PendingSignIn['step']; readonly email: string }>;
  /** @throws AppError 401 SIGN_IN_EXPIRED, SECOND_FACTOR_INVALID; 429. */
  passSecondFactor(challenge: string, code: string, client: ClientAddress): Promise<LoginResponse>;
  /** Begins to set an authenticator app up, or shows it again. @throws AppError 401 SIGN_IN_EXPIRED; 400. */
  enrol(challenge: string, enrolment?: string): Promise<Enrolment>;
  /** @throws AppError 401 SIGN_IN_EXPIRED; 400 ENROLMENT_EXPIRED, SECOND_FACTOR_INVALID; 429. */
  confirmEnrolment(
    challenge: string,
    sent: { readonly enrolment: string; readonly code: string },
    client: ClientAddress,
  ): Promise<EnrolledSession>;
}

export interface SignInStepDeps {
  readonly prisma: Prisma;
  readonly box: SecretBox;
  readonly enrolments: Enrolments;
  readonly limits: AttemptLimits;
  readonly outbox: Outbox;
  readonly addNotice: AddNotice;
  readonly verifyCode: VerifyCode;
  readonly openSession: OpenSession;
  readonly failures: Pick<FailedSignIns, 'record'>;
  /** Returns the name of an organisation, which authenticator apps show. */
  readonly findName: (orgId: string) => Promise<string>;
  readonly clock: Clock;
}

interface Pending {
  readonly account: Account;
  readonly method: FirstFactor;
  readonly tokenHash: string;
  readonly step: PendingSignIn['step'];
}

export function createSignInSteps(deps: SignInStepDeps): SignInSteps {
  const { prisma, box, enrolments, limits, outbox, addNotice, verifyCode, openSession } = deps;
  const { failures, findName, clock } = deps;

  /** Finds a pending sign-in, and locks its account when it is read in a transaction. @throws AppError 401. */
  async function find(db: Prisma | Transaction, challenge: string, tx?: Transaction): Promise<Pending> {
    const tokenHash = toDigest(challenge);
    const stored = await findPendingSignIn(db, tokenHash, new Date(clock()));
    if (!stored || (tx && !(await lockFactors(tx, stored)))) throw signInExpired();
    const { orgId, userId } = stored;
    const account = await findMember(db, orgId, userId);
    if (!account || toPasswordDigest(account.passwordHash) !== stored.passwordDigest) throw signInExpired();
    const step = (await hasSecondFactor(db, { orgId, userId })) ? 'verify' : 'enrol';
    return { account, method: stored.method as FirstFactor, tokenHash, step };
  }

  async function findForEnrolment(challenge: string): Promise<Pending> {
    const pending = await find(prisma, challenge);
    if (pending.step !== 'enrol') throw signInExpired();
    return pending;
  }

  const toHolder = ({ account, tokenHash }: Pending) => ({ userId: account.id, holder: tokenHash });
  const toUser = ({ id, orgId, email, fullName, role }: Account): User => ({
    id,
    orgId,
    email,
    fullName,
    role,
  });

  async function begin(
    tx: Transaction,
    { id: userId, orgId, passwordHash }: Account,
    method: FirstFactor,
  ): Promise<Omit<PendingSignIn, 'step'>> {
    const challenge = generateToken();
    const createdAt = new Date(clock());
    const expiresAt = new Date(createdAt.getTime() + LIFETIME_MS);
    const passwordDigest = toPasswordDigest(passwordHash);
    const stored = { tokenHash: toDigest(challenge), orgId, userId, method, passwordDigest };
    await insertPendingSignIn(tx, { ...stored, createdAt, expiresAt });
    return { challenge, expiresAt: expiresAt.toISOString() };
  }

  async function passWithCode(challenge: string, code: string, client: ClientAddress) {
    return prisma.$transaction(async (tx): Promise<{ checked: CheckResult; session?: LoginResponse }> => {
      const { account, method, tokenHash, step } = await find(tx, challenge, tx);
      if (step !== 'verify') throw signInExpired();
      const at = new Date(clock());
      const member = { orgId: account.orgId, userId: account.id };
      const checked = await verifyCode(tx, member, code, { client, at });
      if ('fault' in checked) return { checked };
      if (!(await consumePendingSignIn(tx, tokenHash, at))) throw signInExpired();
      const proof = { method, secondFactor: checked.factor };
      return { checked, session: await openSession(tx, toUser(account), client, proof) };
    });
  }

  return {
    async passFirstFactor(tx, account, client, method) {
      const member = { orgId: account.orgId, userId: account.id };
      const hasFactor = await hasSecondFactor(tx, member);
      if (!hasFactor && !(await holdSecondFactorRequired(tx, account.orgId)))
        return { session: await openSession(tx, toUser(account), client, { method }) };
      return { pending: { step: hasFactor ? 'verify' : 'enrol', ...(await begin(tx, account, method)) } };
    },

    async describe(challenge) {
      const { step, account } = await find(prisma, challenge);
      return { step, email: account.email };
    },

    async passSecondFactor(challenge, code, client) {
      const { account } = await find(prisma, challenge);
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

    async enrol(challenge, enrolment) {
      const pending = await findForEnrolment(challenge);
      const { account } = pending;
      const label = { issuer: await findName(account.orgId), account: account.email };
      return enrolment === undefined
        ? enrolments.begin(toHolder(pending), label)
        : enrolments.reopen(toHolder(pending), enrolment, label);
    },

    async confirmEnrolment(challenge, sent, client) {
      const found = await findForEnrolment(challenge);
      await limits.begin(found.account.id, client.address);
      const confirmed = enrolments.confirm(toHolder(found), sent);
      const opened = await prisma.$transaction(async (tx) => {
        const { account, method, tokenHash, step } = await find(tx, challenge, tx);
        const at = new Date(clock());
        if (step !== 'enrol' || !(await consumePendingSignIn(tx, tokenHash, at))) throw signInExpired();
        const member = { orgId: account.orgId, userId: account.id };
        const recoveryCodes = (await addTotp(tx, box, member, { ...confirmed, at })) ?? [];
        const actor = { actorId: account.id, credential: null, client };
        await insertAuditEntry(tx, {
          orgId: account.orgId,
          action: 'second_factor.enrolled',
          actor,
          subjectId: account.id,
          detail: { factor: 'totp' },
          at,
        });
        await addNotice(tx, account.id, 'enrolled', { client, at });
        const proof = { method, secondFactor: 'totp' } as const;
        return { ...(await openSession(tx, toUser(account), client, proof)), recoveryCodes };
      });
      outbox.wake();
      await limits.succeed(found.account.id, client.address);
      return opened;
    },
  };
}
