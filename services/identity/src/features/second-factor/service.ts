import type { Clock } from '@platform/service-kit';
import type { Prisma, Transaction } from '../../resources.js';
import type { SecretBox } from '../../secret-box.js';
import { type Caller, toActor } from '../audit/actor.js';
import { insertAuditEntry } from '../audit/queries.js';
import type { Outbox } from '../outgoing-mails/outbox.js';
import type { ConfirmPassword } from '../own-password/confirm-password.js';
import { userNotFound } from '../users/errors.js';
import type { Enrolment, Enrolments } from './enrolment.js';
import { noSecondFactor, lastSecondFactor } from './errors.js';
import { addTotp, hasSecondFactor, renewRecoveryCodes } from './factors.js';
import type { AddNotice } from './notices.js';
import {
  countRecoveryCodes,
  deleteRecoveryCodes,
  deleteTotp,
  findTotp,
  holdSecondFactorRequired,
  isSecondFactorRequired,
  lockFactors,
} from './queries.js';
import type { SecondFactorState } from './schemas.js';

/** The caller's own second factor. Whatever weakens or replaces it needs the own password again. */
export interface OwnSecondFactor {
  get(caller: Caller): Promise<SecondFactorState>;
  /** @throws AppError 400 WRONG_PASSWORD; 429. */
  enrol(caller: Caller, currentPassword: string): Promise<Enrolment>;
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
  /** @throws AppError 400 WRONG_PASSWORD; 409 NO_SECOND_FACTOR, LAST_SECOND_FACTOR; 429. */
  disable(caller: Caller, currentPassword: string): Promise<void>;
  /** @returns new recovery codes; the earlier ones end. @throws AppError 400 WRONG_PASSWORD; 409 NO_SECOND_FACTOR; 429. */
  renewCodes(caller: Caller, currentPassword: string): Promise<string[]>;
}

export interface OwnSecondFactorDeps {
  readonly prisma: Prisma;
  readonly box: SecretBox;
  readonly enrolments: Enrolments;
  readonly confirmPassword: ConfirmPassword;
  readonly outbox: Outbox;
  readonly addNotice: AddNotice;
  readonly findName: (orgId: string) => Promise<string>;
  readonly clock: Clock;
}

export function createOwnSecondFactor(deps: OwnSecondFactorDeps): OwnSecondFactor {
  const { prisma, box, enrolments, confirmPassword, outbox, addNotice, findName, clock } = deps;

  const toHolder = ({ userId, credentialId }: Caller) => ({ userId, holder: credentialId });
  const getLabel = async ({ orgId, email }: Caller) => ({ issuer: await findName(orgId), account: email });

  /** Runs a change of the caller's factors, then sends the mails that it has added. */
  async function change<T>(caller: Caller, run: (tx: Transaction, at: Date) => Promise<T>): Promise<T> {
    const changed = await prisma.$transaction(async (tx) => {
      if (!(await lockFactors(tx, caller))) throw userNotFound();
      return run(tx, new Date(clock()));
    });
    outbox.wake();
    return changed;
  }

  const record = (
    tx: Transaction,
    caller: Caller,
    action: 'second_factor.enrolled' | 'second_factor.removed' | 'second_factor.codes_renewed',
    at: Date,
  ) =>
    insertAuditEntry(tx, {
      orgId: caller.orgId,
      action,
      actor: toActor(caller),
      subjectId: caller.userId,
      detail: action === 'second_factor.codes_renewed' ? {} : { factor: 'totp' },
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

    async enrol(caller, currentPassword) {
      await confirmPassword(caller, currentPassword);
      return enrolments.begin(toHolder(caller), await getLabel(caller));
    },

    showEnrolment: async (caller, enrolment) =>
      enrolments.reopen(toHolder(caller), enrolment, await getLabel(caller)),

    async confirm(caller, sent) {
      const confirmed = enrolments.confirm(toHolder(caller), sent);
      return change(caller, async (tx, at) => {
        const codes = await addTotp(tx, box, caller, { ...confirmed, at });
        await record(tx, caller, 'second_factor.enrolled', at);
        await addNotice(tx, caller.userId, 'enrolled', { client: caller.client, at });
        return codes;
      });
    },

    async disable(caller, currentPassword) {
      await confirmPassword(caller, currentPassword);
      await change(caller, async (tx, at) => {
        if (!(await deleteTotp(tx, caller))) throw noSecondFactor();
        if (await holdSecondFactorRequired(tx, caller.orgId)) throw lastSecondFactor();
        await deleteRecoveryCodes(tx, caller.userId);
        await record(tx, caller, 'second_factor.removed', at);
        await addNotice(tx, caller.userId, 'removed', { client: caller.client, at });
      });
    },

    async renewCodes(caller, currentPassword) {
      await confirmPassword(caller, currentPassword);
      return change(caller, async (tx, at) => {
        if (!(await hasSecondFactor(tx, caller))) throw noSecondFactor();
        const codes = await renewRecoveryCodes(tx, caller.userId, at);
        await record(tx, caller, 'second_factor.codes_renewed', at);
        await addNotice(tx, caller.userId, 'renewed', { client: caller.client, at });
        return codes;
      });
    },
  };
}
