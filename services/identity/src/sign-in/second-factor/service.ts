import type { Clock } from '@platform/service-kit';
import type { Prisma } from '../../resources.js';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/queries.js';
import type { Outbox } from '../../mails/outbox/outbox.js';
import { MAX_PASSKEYS } from '../passkeys/queries.js';
import type { RelyingParty } from '../passkeys/relying-party.js';
import { isSessionConfirmed } from '../sessions/confirmed.js';
import { userNotFound } from '../../members/members/errors.js';
import type { AddFactor } from './add-factor.js';
import type { Enrolment, Enrolments } from './enrolment.js';
import type { ConcludeRemoval } from './conclude-removal.js';
import { noSecondFactor } from './errors.js';
import { type Factors, findFactors, isEmpty, renewRecoveryCodes } from './factors.js';
import type { AddNotice } from './notices.js';
import type { ChangeWithProof, Proof } from './proof.js';
import { countRecoveryCodes, deleteTotp, isSecondFactorRequired, lockFactors } from './queries.js';
import type { SecondFactorState } from './schemas.js';

export interface OwnSecondFactorDeps {
  readonly prisma: Prisma;
  readonly enrolments: Enrolments;
  readonly addFactor: AddFactor;
  readonly changeWithProof: ChangeWithProof;
  readonly concludeRemoval: ConcludeRemoval;
  readonly relyingParty: RelyingParty | undefined;
  readonly outbox: Outbox;
  readonly addNotice: AddNotice;
  readonly findName: (orgId: string) => Promise<string>;
  readonly clock: Clock;
}

export function createOwnSecondFactor(deps: OwnSecondFactorDeps) {
  const { prisma, enrolments, addFactor, changeWithProof, concludeRemoval } = deps;
  const { outbox, addNotice, findName, relyingParty, clock } = deps;

  /** An enrolment belongs to the factors that the proof was given for: none that came later is gone round by it. */
  const toHolder = ({ userId, credentialId }: Caller, { totp, passkeys }: Factors) => ({
    userId,
    holder: [
      credentialId,
      ...(totp ? [totp.createdAt.toISOString()] : []),
      ...passkeys.map(({ id }) => id),
    ].join(':'),
  });
  const getLabel = async ({ orgId, email }: Caller) => ({ issuer: await findName(orgId), account: email });

  return {
    async get(caller: Caller): Promise<SecondFactorState> {
      const { totp, passkeys } = await findFactors(prisma, caller);
      return {
        totp: totp && { createdAt: totp.createdAt.toISOString() },
        passkeys: passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({
          id,
          name,
          createdAt: createdAt.toISOString(),
          lastUsedAt: lastUsedAt?.toISOString() ?? null,
        })),
        canAddPasskey: relyingParty !== undefined && passkeys.length < MAX_PASSKEYS,
        recoveryCodesLeft: await countRecoveryCodes(prisma, caller.userId),
        isRequired: await isSecondFactorRequired(prisma, caller.orgId),
      };
    },

    /** Returns whether the session allows a change now. */
    isConfirmed: (caller: Caller): Promise<boolean> => isSessionConfirmed(prisma, caller, clock()),

    /** @throws AppError as {@link ChangeWithProof} does. */
    async enrol(caller: Caller, proof: Proof): Promise<Enrolment> {
      const label = await getLabel(caller);
      return changeWithProof(caller, proof, (_tx, _at, factors) =>
        Promise.resolve(enrolments.begin(toHolder(caller, factors), label)),
      );
    },

    /** Shows an enrolment of this session again. @throws AppError 400 ENROLMENT_EXPIRED. */
    async showEnrolment(caller: Caller, enrolment: string): Promise<Enrolment> {
      const factors = await findFactors(prisma, caller);
      return enrolments.reopen(toHolder(caller, factors), enrolment, await getLabel(caller));
    },

    /**
     * Sets the app up that the enrolment was shown to, in place of an earlier one.
     *
     * @returns recovery codes, or null when the account keeps those that it has.
     * @throws AppError 400 ENROLMENT_EXPIRED, SECOND_FACTOR_INVALID.
     */
    async confirm(
      caller: Caller,
      sent: { readonly enrolment: string; readonly code: string },
    ): Promise<string[] | null> {
      const recoveryCodes = await prisma.$transaction(async (tx) => {
        if (!(await lockFactors(tx, caller))) throw userNotFound();
        const at = new Date(clock());
        const confirmed = enrolments.confirm(toHolder(caller, await findFactors(tx, caller)), sent);
        return addFactor(tx, caller, { factor: 'totp', ...confirmed }, { actor: toActor(caller), at });
      });
      outbox.wake();
      return recoveryCodes;
    },

    /** @throws AppError as {@link ChangeWithProof} does; 409 NO_SECOND_FACTOR, LAST_SECOND_FACTOR. */
    disable: (caller: Caller, proof: Proof): Promise<void> =>
      changeWithProof(caller, proof, async (tx, at) => {
        if (!(await deleteTotp(tx, caller))) throw noSecondFactor();
        await concludeRemoval(tx, caller, { factor: 'totp' }, at);
      }),

    /**
     * @returns new recovery codes; the earlier ones end.
     * @throws AppError as {@link ChangeWithProof} does; 409 NO_SECOND_FACTOR.
     */
    renewCodes: (caller: Caller, proof: Proof): Promise<string[]> =>
      changeWithProof(caller, proof, async (tx, at, factors) => {
        if (isEmpty(factors)) throw noSecondFactor();
        const codes = await renewRecoveryCodes(tx, caller.userId, at);
        await insertAuditEntry(tx, {
          orgId: caller.orgId,
          action: 'second_factor.codes_renewed',
          actor: toActor(caller),
          subjectId: caller.userId,
          at,
        });
        await addNotice(tx, caller.userId, 'renewed', { client: caller.client, at });
        return codes;
      }),
  };
}

/** The caller's own second factor. Whatever changes it needs the proof of {@link ChangeWithProof}. */
export type OwnSecondFactor = ReturnType<typeof createOwnSecondFactor>;
