import { DAY_MS } from '@platform/service-kit';
import type { Transaction } from '../../prisma.js';
import { toNetwork } from '../network.js';
import { SITE_PREFIX } from '../caller/client.js';
import { deleteCounts, incrementCount, toKey } from './rate-limits.sql.js';

/*
 * Limits how many mails anyone can request for one address. Mails are counted in the transaction that stores them, so a
 * rollback takes the count back as well.
 */

const mailKinds = ['login_code', 'password_reset'] as const;
type MailKind = (typeof mailKinds)[number];

/** After a mail, another one of the same kind is not sent for this long. */
const COOLDOWN_MS = 60_000;
/** Codes and password links together, to one address. */
const MAILS_PER_DAY_OF_NETWORK = 10;
const MAILS_PER_DAY = 100;

const cooldownKey = (kind: MailKind, email: string): string => `mail:minute:${toKey(`${kind} ${email}`)}`;

/**
 * @param isKnown - asked when the day's mails are used up: strangers must not keep mails from the owner, who still gets
 *   them on a device that they have signed in with before.
 * @returns whether a mail of the kind may be sent to the address.
 */
export async function allowMail(
  tx: Transaction,
  request: {
    readonly kind: MailKind;
    readonly email: string;
    readonly address: string;
    readonly at: Date;
  },
  isKnown: () => Promise<boolean>,
): Promise<boolean> {
  const { kind, email, at } = request;
  if (!(await isWithinDay(tx, request)) && !(await isKnown())) return false;
  // Last, so that a refused request starts no cooldown. The mail of the last minute is on its way, and still valid.
  return (await incrementCount(tx, cooldownKey(kind, email), at, COOLDOWN_MS)) === 1;
}

/** One network cannot use up what others may ask for: its refused requests do not count among all. */
async function isWithinDay(
  tx: Transaction,
  { email, address, at }: { readonly email: string; readonly address: string; readonly at: Date },
): Promise<boolean> {
  const networkKey = `mail:network:${toKey(`${email} ${toNetwork(address, SITE_PREFIX)}`)}`;
  if ((await incrementCount(tx, networkKey, at, DAY_MS)) > MAILS_PER_DAY_OF_NETWORK) return false;
  return (await incrementCount(tx, `mail:day:${toKey(email)}`, at, DAY_MS)) <= MAILS_PER_DAY;
}

/** Allows the next mails at once, because the code or link that was mailed last has been used or revoked. */
export const clearMailCooldowns = (tx: Transaction, email: string): Promise<unknown> =>
  deleteCounts(
    tx,
    mailKinds.map((kind) => cooldownKey(kind, email)),
  );
