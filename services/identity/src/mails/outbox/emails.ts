import { secretLifetimes } from '../one-time-secrets/secret.js';
import type { Addressee } from './queries.js';
import {
  type SendEmailRequest,
  type SmtpSnapshot,
  asLine,
  type EmailRecipient,
  toEmail,
} from './email-request.js';

/**
 * The base of links in mails: the web app at `appUrl`, or without one identity's own two pages at `pagesUrl`. Links to
 * other pages of the web app are left out when there is none.
 */
export interface LinkBase {
  readonly appUrl: string | undefined;
  readonly pagesUrl: string;
  /** The base of the pages of the console, which identity serves. */
  readonly consoleUrl: string;
}

/** Puts the secret into the fragment, which browsers never send to a server, so that no access log contains it. */
const toLink = ({ appUrl, pagesUrl }: LinkBase, page: string, token: string): string =>
  `${appUrl ?? pagesUrl}/${page}#token=${token}`;

export const toInviteLink = (base: LinkBase, token: string): string => toLink(base, 'invite', token);

const UNITS = [
  ['day', 24 * 60 * 60_000],
  ['hour', 60 * 60_000],
  ['minute', 60_000],
] as const;

/** @returns the duration in the largest unit that fits, such as "10 minutes", rounded down so that it isn't overstated. */
function toWords(durationMs: number): string {
  const [unit, unitMs] = UNITS.find(([, ms]) => durationMs >= ms) ?? UNITS[2];
  const count = Math.floor(durationMs / unitMs);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** Details of the request that caused the mail: who invites, or when and where a reset was requested. */
export type MailDetail = Readonly<Record<string, string>>;

/** Returns the named values of the detail. */
export const pick = (detail: MailDetail, ...names: readonly string[]): MailDetail =>
  Object.fromEntries(Object.entries(detail).filter(([name]) => names.includes(name)));

export const toCodeEmail = (to: Addressee, otp: string): SendEmailRequest =>
  toEmail(to, {
    emailTemplateType: 'loginWithOTP',
    subject: 'Your sign-in code',
    templateData: { otp, validFor: toWords(secretLifetimes.login_code) },
  });

/** @param why - `guessed` when the link replaces a code, because the day's wrong guesses are used up. */
export const toResetEmail = (
  to: Addressee,
  token: string,
  base: LinkBase,
  detail: MailDetail,
  why: 'asked' | 'guessed' = 'asked',
): SendEmailRequest =>
  toEmail(to, {
    emailTemplateType: 'resetPassword',
    subject:
      why === 'asked' ? 'Choose a new password' : 'Too many wrong sign-in codes: choose a new password',
    templateData: {
      resetLink: toLink(base, 'reset-password', token),
      validFor: toWords(secretLifetimes.password_reset),
      ...pick(detail, 'time', 'device', 'ipAddress'),
    },
  });

/** @param detail - contains `invitedBy`, unless the invitee requested the link again. */
export const toInvitationEmail = (
  to: Addressee,
  { token, validForMs }: { readonly token: string; readonly validForMs: number },
  base: LinkBase,
  detail: MailDetail,
): SendEmailRequest =>
  toEmail(to, {
    emailTemplateType: 'appuserInvite',
    subject: `You are invited to ${asLine(to.organisation.name)}`,
    templateData: {
      inviteLink: toInviteLink(base, token),
      validFor: toWords(validForMs),
      ...(detail['invitedBy'] !== undefined && { invitedBy: asLine(detail['invitedBy']) }),
    },
  });

export const toAccountEmail = (to: Addressee, { appUrl }: LinkBase): SendEmailRequest =>
  toEmail(to, {
    emailTemplateType: 'accountCreation',
    subject: 'Your account is ready',
    templateData: appUrl === undefined ? {} : { loginLink: `${appUrl}/login` },
  });

/** @param detail - contains the result of `describeRequest`. */
export const toSuspiciousLoginEmail = (
  to: Addressee,
  detail: MailDetail,
  { appUrl }: LinkBase,
): SendEmailRequest =>
  toEmail(to, {
    emailTemplateType: 'suspiciousLoginAttempt',
    subject: 'New sign-in to your account',
    templateData: { ...detail, ...(appUrl === undefined ? {} : { resetLink: `${appUrl}/forgot-password` }) },
  });

/** @param detail - contains the result of `describeRequest`. */
export const toPasswordChangedEmail = (
  to: Addressee,
  detail: MailDetail,
  { appUrl, pagesUrl }: LinkBase,
): SendEmailRequest =>
  toEmail(to, {
    emailTemplateType: 'passwordChanged',
    subject: 'Your password was changed',
    templateData: { ...detail, resetLink: `${appUrl ?? pagesUrl}/forgot-password` },
  });

/** @param detail - contains changedBy, oldServer and newServer, and the result of `describeRequest`. */
export const toSmtpChangedEmail = (
  to: EmailRecipient,
  detail: Readonly<Record<string, string>>,
  smtp: SmtpSnapshot,
): SendEmailRequest => ({
  ...toEmail(to, {
    emailTemplateType: 'smtpServerChanged',
    subject: 'The mail server was changed',
    templateData: detail,
  }),
  smtp,
});
