import type { Transaction } from '../../prisma.js';
import { verifySetUp, verifyUse } from './ceremonies.js';
import { type ChallengeHolder, consumeChallenge } from './challenges.js';
import { type Credential, findPasskeys, recordUse, type StoredPasskey } from './queries.js';
import type { RelyingParty } from './relying-party.js';
import type { PasskeyAssertion, PasskeyRegistration } from './schemas.js';

export type PasskeyCheck =
  | { readonly passkey: StoredPasskey }
  | { readonly fault: 'refused' }
  /** Two devices seem to hold the passkey's key: one was copied. */
  | { readonly fault: 'counterFell'; readonly passkey: StoredPasskey };

/** Returns whether the counter of a signature shows that the device has signed since the last use (WebAuthn §6.1.1). */
const hasRisen = (counter: bigint, last: bigint): boolean =>
  counter > last || (counter === 0n && last === 0n);

interface Signed {
  /** The challenge that it should have signed; undefined refuses it. */
  readonly challenge: string | undefined;
  readonly isAlone?: boolean;
  readonly at: Date;
}

/** Checks what a passkey of the member signed. The caller holds the lock of the account's factors, and has used the challenge up. */
export async function checkSignature(
  tx: Transaction,
  relyingParty: RelyingParty | undefined,
  member: { readonly orgId: string; readonly userId: string },
  assertion: PasskeyAssertion,
  { challenge, isAlone = false, at }: Signed,
): Promise<PasskeyCheck> {
  const passkeys = await findPasskeys(tx, member);
  const passkey = passkeys.find(({ credentialId }) => credentialId === assertion.id);
  if (!relyingParty || challenge === undefined || !passkey) return { fault: 'refused' };
  const expected = { challenge, userId: member.userId, isAlone };
  const counter = await verifyUse(relyingParty, assertion, passkey, expected);
  if (counter === undefined) return { fault: 'refused' };
  if (!hasRisen(counter, passkey.counter)) return { fault: 'counterFell', passkey };
  await recordUse(tx, member, passkey.id, { counter, lastUsedAt: at });
  return { passkey };
}

/**
 * Checks what a passkey of the member signed for the holder's challenge, and uses the challenge up. The caller holds the
 * lock of the account's factors and commits the transaction in any case.
 */
export async function checkPasskey(
  tx: Transaction,
  relyingParty: RelyingParty | undefined,
  member: { readonly orgId: string; readonly userId: string },
  assertion: PasskeyAssertion,
  { holder, at }: { readonly holder: string; readonly at: Date },
): Promise<PasskeyCheck> {
  const use: ChallengeHolder = { purpose: 'use', holder };
  const challenge = await consumeChallenge(tx, member.userId, use, at);
  return checkSignature(tx, relyingParty, member, assertion, { challenge, at });
}

/** Checks a passkey that was made for the holder's challenge, and uses the challenge up, as {@link checkPasskey} does. */
export async function checkNewPasskey(
  tx: Transaction,
  relyingParty: RelyingParty | undefined,
  userId: string,
  registration: PasskeyRegistration,
  { holder, at }: { readonly holder: string; readonly at: Date },
): Promise<Credential | undefined> {
  const challenge = await consumeChallenge(tx, userId, { purpose: 'set_up', holder }, at);
  if (!relyingParty || challenge === undefined) return undefined;
  return verifySetUp(relyingParty, registration, challenge);
}
