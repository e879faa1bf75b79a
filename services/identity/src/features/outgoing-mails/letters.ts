import type { Addressee } from './queries.js';

/** The body of `POST /api/v1/mail/internal/sendEmail`. */
export interface Letter {
  readonly orgId: string;
  readonly emailTemplateType:
    'accountCreation' | 'appuserInvite' | 'loginWithOTP' | 'resetPassword' | 'suspiciousLoginAttempt';
  readonly sendEmailTo: readonly string[];
  readonly subject: string;
  readonly templateData: Readonly<Record<string, string>>;
  readonly isAutoEmail: true;
}

const TEXT_LENGTH_MAX = 200;

/** The mail service refuses control characters; a name typed with one must not cost its owner the mail. */
const asLine = (text: string): string =>
  text
    .replaceAll(/[\p{Cc}\p{Cs}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, TEXT_LENGTH_MAX)
    .toWellFormed();

const letterTo = (
  { orgId, email, fullName, organisation }: Addressee,
  letter: Pick<Letter, 'emailTemplateType' | 'subject' | 'templateData'>,
): Letter => ({
  orgId,
  sendEmailTo: [email],
  ...letter,
  templateData: {
    userName: asLine(fullName),
    companyName: asLine(organisation.name),
    ...letter.templateData,
  },
  isAutoEmail: true,
});

/**
 * Where links lead. `appUrl` is a web app's, which has pages of these names; without one, identity's own
 * two pages are at `pagesUrl`, and mails that only point at an app have no link.
 */
export interface LinkBase {
  readonly appUrl: string | undefined;
  readonly pagesUrl: string;
}

const linkWith = ({ appUrl, pagesUrl }: LinkBase, page: string, token: string): string =>
  `${appUrl ?? pagesUrl}/${page}?token=${token}`;

export const codeLetter = (to: Addressee, otp: string): Letter =>
  letterTo(to, { emailTemplateType: 'loginWithOTP', subject: 'Your sign-in code', templateData: { otp } });

export const resetLetter = (to: Addressee, token: string, base: LinkBase): Letter =>
  letterTo(to, {
    emailTemplateType: 'resetPassword',
    subject: 'Choose a new password',
    templateData: { resetLink: linkWith(base, 'reset-password', token) },
  });

export const invitationLetter = (to: Addressee, token: string, base: LinkBase): Letter =>
  letterTo(to, {
    emailTemplateType: 'appuserInvite',
    subject: `You are invited to ${asLine(to.organisation.name)}`,
    templateData: { inviteLink: linkWith(base, 'invite', token) },
  });

export const accountLetter = (to: Addressee, { appUrl }: LinkBase): Letter =>
  letterTo(to, {
    emailTemplateType: 'accountCreation',
    subject: 'Your account is ready',
    templateData: appUrl === undefined ? {} : { loginLink: `${appUrl}/login` },
  });

/** @param detail - time, device and ipAddress, as `known-clients` tells them. */
export const suspiciousLoginLetter = (
  to: Addressee,
  detail: Readonly<Record<string, string>>,
  { appUrl }: LinkBase,
): Letter =>
  letterTo(to, {
    emailTemplateType: 'suspiciousLoginAttempt',
    subject: 'A sign-in that looks new',
    templateData: { ...detail, ...(appUrl === undefined ? {} : { resetLink: `${appUrl}/forgot-password` }) },
  });
