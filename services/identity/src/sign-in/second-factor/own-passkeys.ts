import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/record.sql.js';
import { toDeviceName } from '../../base/caller/client.js';
import { createSetUpOptions, createUseOptions } from '../passkeys/ceremonies.js';
import { issueChallenge } from '../passkeys/challenges.js';
import { checkNewPasskey } from '../passkeys/check-passkey.js';
import {
  noPasskey,
  passkeyInvalid,
  passkeyLimit,
  passkeyNotFound,
  passkeysUnavailable,
} from '../passkeys/errors.js';
import { deletePasskey, findPasskeys, MAX_PASSKEYS, renamePasskey } from '../passkeys/queries.js';
import type { PasskeyRegistration } from '../passkeys/schemas.js';
import { userNotFound } from '../../members/members/errors.js';
import { addFactor } from './add-factor.js';
import { concludeRemoval } from './conclude-removal.js';
import type { SecondFactorContext } from './context.js';
import { changeWithProof, type Proof } from './proof.js';
import { lockFactors } from './queries.js';

/** A passkey that a browser has created. Without a name, it is named after the browser. */
export interface NewPasskey {
  readonly name?: string | undefined;
  readonly registration: PasskeyRegistration;
}

/** Begins a proof by one of the passkeys. @throws AppError 409 NO_PASSKEY, PASSKEYS_UNAVAILABLE. */
export async function beginPasskeyProof(
  { relyingParty, prisma, clock }: SecondFactorContext,
  caller: Caller,
): Promise<PublicKeyCredentialRequestOptionsJSON> {
  if (!relyingParty) throw passkeysUnavailable();
  const passkeys = await findPasskeys(prisma, caller);
  if (passkeys.length === 0) throw noPasskey();
  const holder = { purpose: 'use', holder: caller.credentialId } as const;
  const challenge = await issueChallenge(prisma, caller.userId, holder, clock());
  return createUseOptions(relyingParty, passkeys, challenge);
}

/** @throws AppError as {@link changeWithProof} does; 409 PASSKEY_LIMIT, PASSKEYS_UNAVAILABLE. */
export async function beginOwnPasskey(
  ctx: SecondFactorContext,
  caller: Caller,
  proof: Proof,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { relyingParty } = ctx;
  if (!relyingParty) throw passkeysUnavailable();
  return changeWithProof(ctx, caller, proof, async (tx, at, { passkeys }) => {
    if (passkeys.length >= MAX_PASSKEYS) throw passkeyLimit();
    const holder = { purpose: 'set_up', holder: caller.credentialId } as const;
    const challenge = await issueChallenge(tx, caller.userId, holder, at.getTime());
    return createSetUpOptions(relyingParty, caller, passkeys, challenge);
  });
}

/**
 * Stores the passkey that was made, in the session that began it.
 *
 * @returns recovery codes, or null when the account keeps its existing ones.
 * @throws AppError 400 PASSKEY_INVALID; 409 PASSKEY_EXISTS, PASSKEY_LIMIT.
 */
export async function confirmOwnPasskey(
  ctx: SecondFactorContext,
  caller: Caller,
  { name, registration }: NewPasskey,
): Promise<string[] | null> {
  // The challenge is used up in any case, so a fault is thrown only afterwards.
  const added = await ctx.prisma.$transaction(async (tx) => {
    if (!(await lockFactors(tx, caller))) throw userNotFound();
    const at = new Date(ctx.clock());
    const session = { holder: caller.credentialId, at };
    const credential = await checkNewPasskey(tx, ctx.relyingParty, caller.userId, registration, session);
    if (!credential) return undefined;
    const confirmed = { factor: 'passkey', credential, name: toName(name, caller.client) } as const;
    return { codes: await addFactor(ctx, tx, caller, confirmed, { actor: toActor(caller), at }) };
  });
  if (!added) throw passkeyInvalid();
  ctx.outbox.wake();
  return added.codes;
}

/** @throws AppError 404. */
export function renameOwnPasskey(
  { prisma, clock }: SecondFactorContext,
  caller: Caller,
  id: string,
  name: string,
): Promise<void> {
  return prisma.$transaction(async (tx) => {
    const before = await renamePasskey(tx, caller, id, name.trim());
    if (before === undefined) throw passkeyNotFound();
    await insertAuditEntry(tx, {
      orgId: caller.orgId,
      action: 'second_factor.renamed',
      actor: toActor(caller),
      subjectId: caller.userId,
      changes: { name: { from: before, to: name.trim() } },
      at: new Date(clock()),
    });
  });
}

/** @throws AppError as {@link changeWithProof} does; 404; 409 LAST_SECOND_FACTOR. */
export function removeOwnPasskey(
  ctx: SecondFactorContext,
  caller: Caller,
  id: string,
  proof: Proof,
): Promise<void> {
  return changeWithProof(ctx, caller, proof, async (tx, at) => {
    const name = await deletePasskey(tx, caller, id);
    if (name === undefined) throw passkeyNotFound();
    await concludeRemoval(ctx, tx, caller, { factor: 'passkey', name }, at);
  });
}

/** Returns the name of a new passkey: the given one, or that of the browser that made it. */
export const toName = (name: string | undefined, { userAgent }: Caller['client']): string =>
  name?.trim() || toDeviceName(userAgent);
