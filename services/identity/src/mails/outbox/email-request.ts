import type { CallInput, MailInternalOperations } from '@platform/clients';
import type { Addressee } from './queries.js';

/** The body of the mail service's route for services. */
export type SendEmailRequest = CallInput<MailInternalOperations['sendEmailForOrganisation']>['body'];

/** A line of the template `tokenExpiring`. */
export interface EndingToken {
  readonly name: string;
  /** The end of the token, and its cause, in words. */
  readonly end: string;
}

/** A whole SMTP configuration including the password. It is only ever stored sealed. */
export type SmtpSnapshot = NonNullable<SendEmailRequest['smtp']>;

const MAX_TEXT_LENGTH = 200;

/** The language of alerts and digests, whose headlines and sentences identity itself composes: a mail has one language. */
export const COMPOSED_LANGUAGE = 'en';

/** Replaces control characters, which the mail service rejects: a name that contains one must not prevent the mail. */
export const asLine = (text: string, maxLength = MAX_TEXT_LENGTH): string =>
  text
    .replaceAll(/[\p{Cc}\p{Cs}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, maxLength)
    .toWellFormed();

export type EmailRecipient = Pick<Addressee, 'orgId' | 'email' | 'fullName'> & {
  readonly organisation: { readonly name: string };
};

export const toEmail = (
  { orgId, email, fullName, organisation }: EmailRecipient,
  message: Pick<SendEmailRequest, 'emailTemplateType' | 'subject' | 'templateData' | 'language'>,
): SendEmailRequest => ({
  orgId,
  sendEmailTo: [email],
  ...message,
  templateData: {
    userName: asLine(fullName),
    companyName: asLine(organisation.name),
    ...message.templateData,
  },
  isAutoEmail: true,
});
