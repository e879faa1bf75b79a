import type { Clock } from '@platform/service-kit';
import type { Prisma } from '../../resources.js';
import type { AttemptLimits } from '../attempt-limits/attempt-limits.js';
import type { ClientAddress } from '../known-devices/client.js';
import type { Outbox } from '../outgoing-mails/outbox.js';
import type { OpenSession } from '../sessions/open-session.js';
import type { LoginResponse } from '../sessions/schemas.js';
import type { AddFactor } from './add-factor.js';
import type { Enrolment, Enrolments } from './enrolment.js';
import { signInExpired } from './errors.js';
import { type Pending, type PendingSignIns, toMemberOf, toUser } from './pending.js';
import { consumePendingSignIn } from './queries.js';

export interface EnrolledSession extends LoginResponse {
  readonly recoveryCodes: string[];
}

/** The set-up of a second factor during a sign-in of an organisation that requires one. */
export interface EnrolAtSignIn {
  /** Begins to set an authenticator app up, or shows it again. @throws AppError 401 SIGN_IN_EXPIRED; 400. */
  enrol(challenge: string, enrolment?: string): Promise<Enrolment>;
  /** @throws AppError 401 SIGN_IN_EXPIRED; 400 ENROLMENT_EXPIRED, SECOND_FACTOR_INVALID; 429. */
  confirmEnrolment(
    challenge: string,
    sent: { readonly enrolment: string; readonly code: string },
    client: ClientAddress,
  ): Promise<EnrolledSession>;
}

export interface EnrolAtSignInDeps {
  readonly prisma: Prisma;
  readonly pending: PendingSignIns;
  readonly enrolments: Enrolments;
  readonly addFactor: AddFactor;
  readonly limits: AttemptLimits;
  readonly outbox: Outbox;
  readonly openSession: OpenSession;
  /** Returns the name of an organisation, which authenticator apps show. */
  readonly findName: (orgId: string) => Promise<string>;
  readonly clock: Clock;
}

const toHolder = ({ account, tokenHash }: Pending) => ({ userId: account.id, holder: tokenHash });

export function createEnrolAtSignIn(deps: EnrolAtSignInDeps): EnrolAtSignIn {
  const { prisma, pending, enrolments, addFactor, limits, outbox, openSession, findName, clock } = deps;

  async function find(challenge: string): Promise<Pending> {
    const found = await pending.find(challenge);
    if (found.step !== 'enrol') throw signInExpired();
    return found;
  }

  return {
    async enrol(challenge, enrolment) {
      const found = await find(challenge);
      const { account } = found;
      const label = { issuer: await findName(account.orgId), account: account.email };
      return enrolment === undefined
        ? enrolments.begin(toHolder(found), label)
        : enrolments.reopen(toHolder(found), enrolment, label);
    },

    async confirmEnrolment(challenge, sent, client) {
      const found = await find(challenge);
      await limits.begin(found.account.id, client.address);
      const confirmed = enrolments.confirm(toHolder(found), sent);
      const opened = await prisma.$transaction(async (tx) => {
        const locked = await pending.lock(tx, challenge);
        const { account, method, tokenHash, step } = locked;
        const at = new Date(clock());
        if (step !== 'enrol' || !(await consumePendingSignIn(tx, tokenHash, at))) throw signInExpired();
        const actor = { actorId: account.id, credential: null, client };
        const recoveryCodes = (await addFactor(tx, toMemberOf(locked), confirmed, { actor, at })) ?? [];
        const proof = { method, secondFactor: 'totp' } as const;
        return { ...(await openSession(tx, toUser(account), client, proof)), recoveryCodes };
      });
      outbox.wake();
      await limits.succeed(found.account.id, client.address);
      return opened;
    },
  };
}
