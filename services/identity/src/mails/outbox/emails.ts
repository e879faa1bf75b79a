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

/** The mail service has words for it, in the language of the mail. */
const toMinutes = (durationMs: number): number => Math.floor(durationMs / 60_000);

/** Details of the request that caused the mail: who invites, or when and where a reset was requested. */
export type MailDetail = Readonly<Record<string, string>>;

/** Returns the named values of the detail. */
const pick = (detail: MailDetail, ...names: readonly string[]): MailDetail =>
  Object.fromEntries(Object.entries(detail).filter(([name]) => names.includes(name)));

export const toCodeEmail = (to: Addressee, otp: string): SendEmailRequest =>
  toEmail(to, {
    emailTemplateType: 'loginWithOTP',
    templateData: { otp, validForMinutes: toMinutes(secretLifetimes.login_code) },
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
    templateData: {
      resetLink: toLink(base, 'reset-password', token),
      validForMinutes: toMinutes(secretLifetimes.password_reset),
      ...(why === 'guessed' && { guessed: 'yes' }),
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
    templateData: {
      inviteLink: toInviteLink(base, token),
      validForMinutes: toMinutes(validForMs),
      ...(detail['invitedBy'] !== undefined && { invitedBy: asLine(detail['invitedBy']) }),
    },
  });

export const toAccountEmail = (to: Addressee, { appUrl }: LinkBase): SendEmailRequest =>
  toEmail(to, {
    emailTemplateType: 'accountCreation',
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
    templateData: detail,
  }),
  smtp,
});
