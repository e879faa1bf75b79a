import type { SecretBox } from '@platform/service-kit';
import { toDigest } from '@platform/auth';
import type { Transaction } from '../../prisma.js';
import type { PasskeyAssertion } from './schemas.js';

/*
 * The challenges of sign-ins by a passkey alone. Nobody is known when one is made, so none is stored: it is sealed by this
 * platform with its end, and whoever opens the page of the sign-in fills no table. It works once, because the sign-in that uses it
 * stores it until that end.
 */

/** As long as a page of the sign-in is left open with the passkeys offered in its field. */
const LIFETIME_MS = 60 * 60_000;
const CONTEXT = 'passkey-sign-in';
/** Distinguishes what was used from the challenges of sessions and sign-ins. */
export const USED = 'signed_in:';

/** Creates a challenge. Each is another one: sealing is random. */
export const createSignInChallenge = (box: SecretBox, now: number): string =>
  Buffer.from(box.seal(String(now + LIFETIME_MS), CONTEXT)).toString('base64url');

/** Returns the challenge that a device says it has signed. The signature covers it. */
function readChallenge({ response }: PasskeyAssertion): string | undefined {
  try {
    const data = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString()) as unknown;
    const { challenge } = data as { readonly challenge?: unknown };
    return typeof challenge === 'string' ? challenge : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Uses a challenge up for the member whose passkey has signed it; of concurrent calls one gets it.
 *
 * @returns undefined for one that this platform has not made, that has ended, or that was used before.
 */
export async function consumeSignInChallenge(
  tx: Transaction,
  box: SecretBox,
  userId: string,
  assertion: PasskeyAssertion,
  now: Date,
): Promise<string | undefined> {
  const challenge = readChallenge(assertion);
  if (challenge === undefined) return undefined;
  let endsAt: number;
  try {
    endsAt = Number(box.open(Buffer.from(challenge, 'base64url').toString(), CONTEXT));
  } catch {
    return undefined;
  }
  if (!(endsAt > now.getTime())) return undefined;
  const rows = await tx.$queryRaw<unknown[]>`
    insert into passkey_challenges (holder, user_id, challenge, expires_at)
    values (${USED + toDigest(challenge)}, ${userId}::uuid, '', ${new Date(endsAt).toISOString()}::timestamptz)
    on conflict (holder) do nothing returning 1`;
  return rows.length > 0 ? challenge : undefined;
}
