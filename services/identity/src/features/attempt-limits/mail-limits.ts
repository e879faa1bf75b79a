import type { Transaction } from '../../resources.js';
import { toKey } from './key.js';
import { incrementCount, deleteCounts } from './queries.js';

/*
 * Limits how many mails anyone can request for one address. Mails are counted in the transaction that stores them, so a
 * rollback takes the count back as well.
 */

const mailKinds = ['login_code', 'password_reset'] as const;
type MailKind = (typeof mailKinds)[number];

/** After a mail, another one of the same kind is not sent for this long. */
const COOLDOWN_MS = 60_000;
/** The limit for codes and password links together. */
const MAILS_PER_DAY = 20;
const DAY_MS = 24 * 60 * 60_000;

const cooldownKey = (kind: MailKind, email: string): string => `mail:minute:${toKey(`${kind} ${email}`)}`;

/**
 * @param isKnown - called when the daily limit is reached: strangers must not block mails to the owner, who still gets
 *   them on a device from which they have signed in before.
 * @returns whether a mail of this kind may be sent to the address.
 */
export async function allowMail(
  tx: Transaction,
  { kind, email, at }: { readonly kind: MailKind; readonly email: string; readonly at: Date },
  isKnown: () => Promise<boolean>,
): Promise<boolean> {
  // The mail of the last minute is still valid: another one would only fill the mailbox.
  if ((await incrementCount(tx, cooldownKey(kind, email), at, COOLDOWN_MS)) > 1) return false;
  const count = await incrementCount(tx, `mail:day:${toKey(email)}`, at, DAY_MS);
  return count <= MAILS_PER_DAY || (await isKnown());
}

/** Allows the next mails at once, because the code or link that was mailed last has been used or revoked. */
export const clearMailCooldowns = (tx: Transaction, email: string): Promise<unknown> =>
  deleteCounts(
    tx,
    mailKinds.map((kind) => cooldownKey(kind, email)),
  );
