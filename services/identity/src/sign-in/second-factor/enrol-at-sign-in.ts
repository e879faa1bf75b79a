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

/** The set-up of a second factor during a sign-in of an organisation that requires one. */
export function createEnrolAtSignIn(ctx: SecondFactorContext) {
  const { prisma, relyingParty, limits, outbox, clock } = ctx;

  async function find(challenge: string): Promise<Pending> {
    const found = await findPending(ctx, challenge);
    if (found.step !== 'enrol') throw signInExpired();
    return found;
  }

  /** Completes the sign-in with the factor that `confirm` returns; undefined changes nothing but what that has used up. */
  async function complete(
    challenge: string,
    client: ClientAddress,
    confirm: (tx: Transaction, locked: Pending, at: Date) => Promise<ConfirmedFactor | undefined>,
  ): Promise<EnrolledSession | undefined> {
    const opened = await prisma.$transaction(async (tx) => {
      const locked = await findPending(ctx, challenge, tx);
      const { account, method, tokenHash, step } = locked;
      if (step !== 'enrol') throw signInExpired();
      const at = new Date(clock());
      const confirmed = await confirm(tx, locked, at);
      if (!confirmed) return undefined;
      if (!(await consumePendingSignIn(tx, tokenHash, at))) throw signInExpired();
      const actor = { actorId: account.id, credential: null, client };
      const recoveryCodes = (await addFactor(ctx, tx, toMemberOf(locked), confirmed, { actor, at })) ?? [];
      const proof = { method, secondFactor: confirmed.factor };
      return { ...(await openSession(ctx, tx, toUser(account), client, proof)), recoveryCodes };
    });
    outbox.wake();
    return opened;
  }

  return {
    /** Begins to set an authenticator app up, or shows it again. @throws AppError 401 SIGN_IN_EXPIRED; 400. */
    async enrol(challenge: string, enrolment?: string): Promise<Enrolment> {
      const found = await find(challenge);
      const { account } = found;
      const label = { issuer: await ctx.findName(account.orgId), account: account.email };
      return showEnrolment(ctx, toHolder(found), label, enrolment);
    },

    /** @throws AppError 401 SIGN_IN_EXPIRED; 400 ENROLMENT_EXPIRED, SECOND_FACTOR_INVALID; 429. */
    async confirmEnrolment(
      challenge: string,
      sent: { readonly enrolment: string; readonly code: string },
      client: ClientAddress,
    ): Promise<EnrolledSession> {
      const found = await find(challenge);
      await limits.begin(found.account.id, client);
      const confirmed = confirmEnrolment(ctx, toHolder(found), sent);
      const opened = await complete(challenge, client, () =>
        Promise.resolve({ factor: 'totp', ...confirmed }),
      );
      if (!opened) throw signInExpired();
      await limits.succeed(found.account.id, client);
      return opened;
    },

    /** Begins to set a passkey up. @throws AppError 401 SIGN_IN_EXPIRED; 409 PASSKEYS_UNAVAILABLE. */
    async beginPasskey(challenge: string): Promise<PublicKeyCredentialCreationOptionsJSON> {
      if (!relyingParty) throw passkeysUnavailable();
      const { account, tokenHash } = await find(challenge);
      const setUp = { purpose: 'set_up', holder: tokenHash } as const;
      const issued = await issueChallenge(prisma, account.id, setUp, clock());
      return createSetUpOptions(relyingParty, { ...account, userId: account.id }, [], issued);
    },

    /** @throws AppError 401 SIGN_IN_EXPIRED; 400 PASSKEY_INVALID; 409 PASSKEY_EXISTS; 429. */
    async confirmPasskey(
      challenge: string,
      { name, registration }: NewPasskey,
      client: ClientAddress,
    ): Promise<EnrolledSession> {
      const found = await find(challenge);
      await limits.begin(found.account.id, client);
      const opened = await complete(challenge, client, async (tx, { account, tokenHash }, at) => {
        const request = { holder: tokenHash, at };
        const credential = await checkNewPasskey(tx, relyingParty, account.id, registration, request);
        return credential && { factor: 'passkey', credential, name: toName(name, client) };
      });
      if (!opened) throw passkeyInvalid();
      await limits.succeed(found.account.id, client);
      return opened;
    },
  };
}
