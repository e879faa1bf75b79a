import type { Transaction } from '../../resources.js';
import { toKey } from './key.js';
import { incrementCount, deleteCounts } from './queries.js';

/*
 * How many mails anyone can have sent to one address. They are counted in the transaction that stores the mail: what is
 * rolled back was not counted.
 */

const mailKinds = ['login_code', 'password_reset'] as const;
type MailKind = (typeof mailKinds)[number];

/** One mail of a kind in that time. */
const COOLDOWN_MS = 60_000;
/** Codes and password links together. */
const MAILS_PER_DAY = 20;
const DAY_MS = 24 * 60 * 60_000;

const cooldownKey = (kind: MailKind, email: string): string => `mail:minute:${toKey(`${kind} ${email}`)}`;

/**
 * @param isKnown - asked when the mails of the day are used up: strangers must not keep mails from the owner, who still
 *   gets them at a place that they have signed in from before.
 * @returns whether a mail of the kind may be sent to the address.
 */
export async function allowMail(
  tx: Transaction,
  { kind, email, at }: { readonly kind: MailKind; readonly email: string; readonly at: Date },
  isKnown: () => Promise<boolean>,
): Promise<boolean> {
  // The mail of the last minute is on its way, and good: another would only fill the mailbox.
  if ((await incrementCount(tx, cooldownKey(kind, email), at, COOLDOWN_MS)) > 1) return false;
  const count = await incrementCount(tx, `mail:day:${toKey(email)}`, at, DAY_MS);
  return count <= MAILS_PER_DAY || (await isKnown());
}

/** What was mailed was used, or works no more: the next mail may follow at once. */
export const clearMailCooldowns = (tx: Transaction, email: string): Promise<unknown> =>
  deleteCounts(
    tx,
    mailKinds.map((kind) => cooldownKey(kind, email)),
  );
