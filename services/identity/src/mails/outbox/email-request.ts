import type { CallInput, MailInternalOperations } from '@platform/clients';
import type { Addressee } from './queries.js';

/** The body of the mail service's route for services. */
export type SendEmailRequest = CallInput<MailInternalOperations['sendEmailForOrganisation']>['body'];

/** The notice of an alert or a digest. The mail service has words for it, in the language of the mail. */
export type NoticeCode = NonNullable<SendEmailRequest['templateData']['notice']>;

/** A whole SMTP configuration including the password. It is only ever stored sealed. */
export type SmtpSnapshot = NonNullable<SendEmailRequest['smtp']>;

const MAX_TEXT_LENGTH = 200;

/** Replaces control characters, which the mail service rejects: a name that contains one must not prevent the mail. */
export const asLine = (text: string, maxLength = MAX_TEXT_LENGTH): string =>
  text
    .replaceAll(/[\p{Cc}\p{Cs}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, maxLength)
    .toWellFormed();

type Language = NonNullable<SendEmailRequest['language']>;

/** The languages of mails. */
export const languages = ['en', 'de'] as const satisfies readonly Language[];

export type EmailRecipient = Pick<Addressee, 'orgId' | 'email' | 'fullName' | 'language'> & {
  readonly organisation: { readonly name: string };
};

export const toEmail = (
  { orgId, email, fullName, language, organisation }: EmailRecipient,
  message: Pick<SendEmailRequest, 'emailTemplateType' | 'templateData'>,
): SendEmailRequest => ({
  orgId,
  sendEmailTo: [email],
  ...(language !== null && { language: language as Language }),
  ...message,
  templateData: {
    // A blank one counts as missing, and then the greeting would take the `name` of what an alert is about.
    userName: asLine(fullName) || email,
    companyName: asLine(organisation.name),
    ...message.templateData,
  },
  isAutoEmail: true,
});
