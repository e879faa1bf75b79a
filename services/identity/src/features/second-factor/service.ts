import type { Clock } from '@platform/service-kit';
import type { Prisma, Transaction } from '../../resources.js';
import { type Caller, toActor } from '../audit/actor.js';
import { insertAuditEntry } from '../audit/queries.js';
import type { Outbox } from '../outgoing-mails/outbox.js';
import { userNotFound } from '../users/errors.js';
import type { AddFactor } from './add-factor.js';
import type { Enrolment, Enrolments } from './enrolment.js';
import { noSecondFactor, lastSecondFactor } from './errors.js';
import { renewRecoveryCodes } from './factors.js';
import type { AddNotice } from './notices.js';
import type { ChangeWithProof, Proof } from './proof.js';
import {
  countRecoveryCodes,
  deleteRecoveryCodes,
  deleteTotp,
  findTotp,
  holdSecondFactorRequired,
  isSecondFactorRequired,
  lockFactors,
  type StoredTotp,
} from './queries.js';
import type { SecondFactorState } from './schemas.js';

/** The caller's own second factor. Whatever changes it needs the proof of {@link ChangeWithProof}. */
export interface OwnSecondFactor {
  get(caller: Caller): Promise<SecondFactorState>;
  /** @throws AppError as {@link ChangeWithProof} does. */
  enrol(caller: Caller, proof: Proof): Promise<Enrolment>;
  /** Shows an enrolment of this session again. @throws AppError 400 ENROLMENT_EXPIRED. */
  showEnrolment(caller: Caller, enrolment: string): Promise<Enrolment>;
  /**
   * Sets the app up that the enrolment was shown to, in place of an earlier one.
   *
   * @returns recovery codes, or null when the account keeps those that it has.
   * @throws AppError 400 ENROLMENT_EXPIRED, SECOND_FACTOR_INVALID.
   */
  confirm(
    caller: Caller,
    sent: { readonly enrolment: string; readonly code: string },
  ): Promise<string[] | null>;
  /** @throws AppError as {@link ChangeWithProof} does; 409 NO_SECOND_FACTOR, LAST_SECOND_FACTOR. */
  disable(caller: Caller, proof: Proof): Promise<void>;
  /**
   * @returns new recovery codes; the earlier ones end.
   * @throws AppError as {@link ChangeWithProof} does; 409 NO_SECOND_FACTOR.
   */
  renewCodes(caller: Caller, proof: Proof): Promise<string[]>;
}

export interface OwnSecondFactorDeps {
  readonly prisma: Prisma;
  readonly enrolments: Enrolments;
  readonly addFactor: AddFactor;
  readonly changeWithProof: ChangeWithProof;
  readonly outbox: Outbox;
  readonly addNotice: AddNotice;
  readonly findName: (orgId: string) => Promise<string>;
  readonly clock: Clock;
}

export function createOwnSecondFactor(deps: OwnSecondFactorDeps): OwnSecondFactor {
  const { prisma, enrolments, addFactor, changeWithProof, outbox, addNotice, findName, clock } = deps;

  /** An enrolment takes the place of the app that the proof was given for, or of none: never of one that came later. */
  const toHolder = ({ userId, credentialId }: Caller, totp: StoredTotp | null) => ({
    userId,
    holder: totp ? `${credentialId}:${totp.createdAt.toISOString()}` : credentialId,
  });
  const getLabel = async ({ orgId, email }: Caller) => ({ issuer: await findName(orgId), account: email });

  const record = (
    tx: Transaction,
    caller: Caller,
    action: 'second_factor.removed' | 'second_factor.codes_renewed',
    at: Date,
  ) =>
    insertAuditEntry(tx, {
      orgId: caller.orgId,
      action,
      actor: toActor(caller),
      subjectId: caller.userId,
      detail: action === 'second_factor.removed' ? { factor: 'totp' } : {},
      at,
    });

  return {
    async get(caller) {
      const totp = await findTotp(prisma, caller);
      return {
        totp: totp && { createdAt: totp.createdAt.toISOString() },
        recoveryCodesLeft: await countRecoveryCodes(prisma, caller.userId),
        isRequired: await isSecondFactorRequired(prisma, caller.orgId),
      };
    },

    async enrol(caller, proof) {
      const label = await getLabel(caller);
      return changeWithProof(caller, proof, (_tx, _at, totp) =>
        Promise.resolve(enrolments.begin(toHolder(caller, totp), label)),
      );
    },

    async showEnrolment(caller, enrolment) {
      const totp = await findTotp(prisma, caller);
      return enrolments.reopen(toHolder(caller, totp), enrolment, await getLabel(caller));
    },

    async confirm(caller, sent) {
      const recoveryCodes = await prisma.$transaction(async (tx) => {
        if (!(await lockFactors(tx, caller))) throw userNotFound();
        const at = new Date(clock());
        const confirmed = enrolments.confirm(toHolder(caller, await findTotp(tx, caller)), sent);
        return addFactor(tx, caller, confirmed, { actor: toActor(caller), at });
      });
      outbox.wake();
      return recoveryCodes;
    },

    disable: (caller, proof) =>
      changeWithProof(caller, proof, async (tx, at) => {
        if (!(await deleteTotp(tx, caller))) throw noSecondFactor();
        if (await holdSecondFactorRequired(tx, caller.orgId)) throw lastSecondFactor();
        await deleteRecoveryCodes(tx, caller.userId);
        await record(tx, caller, 'second_factor.removed', at);
        await addNotice(tx, caller.userId, 'removed', { client: caller.client, at });
      }),

    renewCodes: (caller, proof) =>
      changeWithProof(caller, proof, async (tx, at, totp) => {
        if (!totp) throw noSecondFactor();
        const codes = await renewRecoveryCodes(tx, caller.userId, at);
        await record(tx, caller, 'second_factor.codes_renewed', at);
        await addNotice(tx, caller.userId, 'renewed', { client: caller.client, at });
        return codes;
      }),
  };
}
