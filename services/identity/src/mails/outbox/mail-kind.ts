import { secretLifetimes } from '../one-time-secrets/secret.js';

const HOUR = 60 * 60_000;

/** The time for which each kind of mail is worth sending, in milliseconds: while its code or link is valid. */
const mailLifetimes = {
  ...secretLifetimes,
  account_created: 24 * HOUR,
  suspicious_login: 24 * HOUR,
  password_changed: 24 * HOUR,
  // The notice survives a server's outage over a weekend.
  smtp_changed: 72 * HOUR,
  token_alert: 72 * HOUR,
  token_expiring: 72 * HOUR,
  crawl_notice: 72 * HOUR,
  service_notice: 72 * HOUR,
} as const;
export type MailKind = keyof typeof mailLifetimes;

/** The `emailTemplateType` of each kind of mail. */
export const templateTypes: Readonly<Record<MailKind, string>> = {
  login_code: 'loginWithOTP',
  password_reset: 'resetPassword',
  invitation: 'appuserInvite',
  account_created: 'accountCreation',
  suspicious_login: 'suspiciousLoginAttempt',
  password_changed: 'passwordChanged',
  smtp_changed: 'smtpServerChanged',
  token_alert: 'tokenAlert',
  token_expiring: 'tokenExpiring',
  crawl_notice: 'crawlFailures',
  service_notice: 'connectedService',
};

export const getLifetime = (kind: MailKind): number => mailLifetimes[kind];

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = HOUR;

/** Doubles the delay with each attempt, up to a twentieth of the mail's lifetime: a code is retried quickly. */
export const getRetryDelayMs = (kind: MailKind, attempts: number): number =>
  Math.min(FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 30), getLifetime(kind) / 20, MAX_RETRY_MS);
