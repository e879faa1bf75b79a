import { type Caller, toActor } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { MAX_PASSKEYS } from '../passkeys/queries.js';
import { isSessionConfirmed } from '../sessions/confirmed.js';
import { userNotFound } from '../../members/members/errors.js';
import { addFactor } from './add-factor.js';
import { confirmEnrolment, type Enrolment, showEnrolment } from './enrolment.js';
import { concludeRemoval } from './conclude-removal.js';
import type { SecondFactorContext } from './context.js';
import { noSecondFactor } from './errors.js';
import { type Factors, findFactors, isEmpty, renewRecoveryCodes } from './factors.js';
import { addNotice } from './notices.js';
import { changeWithProof, type Proof } from './proof.js';
import { countRecoveryCodes, deleteTotp, isSecondFactorRequired, lockFactors } from './queries.js';
import type { SecondFactorState } from './schemas.js';

/** An enrolment belongs to the factors that the proof was given for, so factors added later cannot be bypassed. */
const toHolder = ({ userId, credentialId }: Caller, { totp, passkeys }: Factors) => ({
  userId,
  holder: [
    credentialId,
    ...(totp ? [totp.createdAt.toISOString()] : []),
    ...passkeys.map(({ id }) => id),
  ].join(':'),
});

const getLabel = async (ctx: SecondFactorContext, { orgId, email }: Caller) => ({
  issuer: await ctx.findName(orgId),
  account: email,
});

export async function getSecondFactor(
  { prisma, relyingParty }: SecondFactorContext,
  caller: Caller,
): Promise<SecondFactorState> {
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
}

/** Returns whether the session allows a change now. */
export function isChangeConfirmed({ prisma, clock }: SecondFactorContext, caller: Caller): Promise<boolean> {
  return isSessionConfirmed(prisma, caller, clock());
}

/** @throws AppError as {@link changeWithProof} does. */
export async function enrolApp(ctx: SecondFactorContext, caller: Caller, proof: Proof): Promise<Enrolment> {
  const label = await getLabel(ctx, caller);
  return changeWithProof(ctx, caller, proof, (_tx, _at, factors) =>
    Promise.resolve(showEnrolment(ctx, toHolder(caller, factors), label)),
  );
}

/** Shows an enrolment of this session again. @throws AppError 400 ENROLMENT_EXPIRED. */
export async function showOwnEnrolment(
  ctx: SecondFactorContext,
  caller: Caller,
  enrolment: string,
): Promise<Enrolment> {
  const factors = await findFactors(ctx.prisma, caller);
  return showEnrolment(ctx, toHolder(caller, factors), await getLabel(ctx, caller), enrolment);
}

/**
 * Sets the app up that the enrolment was shown to, in place of an earlier one.
 *
 * @returns recovery codes, or null when the account keeps its existing ones.
 * @throws AppError 400 ENROLMENT_EXPIRED, SECOND_FACTOR_INVALID.
 */
export async function confirmApp(
  ctx: SecondFactorContext,
  caller: Caller,
  sent: { readonly enrolment: string; readonly code: string },
): Promise<string[] | null> {
  const recoveryCodes = await ctx.prisma.$transaction(async (tx) => {
    if (!(await lockFactors(tx, caller))) throw userNotFound();
    const at = new Date(ctx.clock());
    const confirmed = confirmEnrolment(ctx, toHolder(caller, await findFactors(tx, caller)), sent);
    return addFactor(ctx, tx, caller, { factor: 'totp', ...confirmed }, { actor: toActor(caller), at });
  });
  ctx.outbox.wake();
  return recoveryCodes;
}

/** @throws AppError as {@link changeWithProof} does; 409 NO_SECOND_FACTOR, LAST_SECOND_FACTOR. */
export function disableApp(ctx: SecondFactorContext, caller: Caller, proof: Proof): Promise<void> {
  return changeWithProof(ctx, caller, proof, async (tx, at) => {
    if (!(await deleteTotp(tx, caller))) throw noSecondFactor();
    await concludeRemoval(ctx, tx, caller, { factor: 'totp' }, at);
  });
}

/**
 * @returns new recovery codes; the earlier ones end.
 * @throws AppError as {@link changeWithProof} does; 409 NO_SECOND_FACTOR.
 */
export function renewOwnCodes(ctx: SecondFactorContext, caller: Caller, proof: Proof): Promise<string[]> {
  return changeWithProof(ctx, caller, proof, async (tx, at, factors) => {
    if (isEmpty(factors)) throw noSecondFactor();
    const codes = await renewRecoveryCodes(tx, caller.userId, at);
    await insertAuditEntry(tx, {
      orgId: caller.orgId,
      action: 'second_factor.codes_renewed',
      actor: toActor(caller),
      subjectId: caller.userId,
      at,
    });
    await addNotice(ctx, tx, caller.userId, 'recoveryCodesReplaced', { client: caller.client, at });
    return codes;
  });
}
