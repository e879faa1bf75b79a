import { secretLifetimes } from '../one-time-secrets/secret.js';

const HOUR = 60 * 60_000;

/** How long each mail is worth sending, in milliseconds: as long as its code or link works. */
const mailLifetimes = {
  ...secretLifetimes,
  account_created: 24 * HOUR,
  suspicious_login: 24 * HOUR,
  // A server that is away for a weekend still tells what was done meanwhile.
  smtp_changed: 72 * HOUR,
} as const;
export type MailKind = keyof typeof mailLifetimes;

const NOTICES: ReadonlySet<MailKind> = new Set(['account_created', 'suspicious_login', 'smtp_changed']);

/** Without a code or link in it: better not sent than sent twice. The others: better twice than not. */
export const isNotice = (kind: MailKind): boolean => NOTICES.has(kind);

export const getLifetime = (kind: MailKind): number => mailLifetimes[kind];

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = HOUR;

/** Doubles, so that a mail waits at most as long again as the fault lasted; a code's waits are short. */
export const getRetryDelayMs = (kind: MailKind, attempts: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 30), getLifetime(kind) / 20, MAX_RETRY_MS);
