import {
  asLine,
  COMPOSED_LANGUAGE,
  type EndingToken,
  type SendEmailRequest,
  toEmail,
} from './email-request.js';
import { type LinkBase, type MailDetail, pick } from './emails.js';
import type { Addressee } from './queries.js';

const MAX_MESSAGE_LENGTH = 1_000;

/** The pages of the console that show tokens: to their owner, and to administrators. */
const tokenPages = { own: '/account/tokens', organisation: '/organisation/tokens' } as const;
export type TokenPage = keyof typeof tokenPages;

const isTokenPage = (page: string | undefined): page is TokenPage =>
  page !== undefined && Object.hasOwn(tokenPages, page);

/**
 * @param detail - contains headline and message, the page that shows the tokens if the alert is about some, and the result of
 *   `describeRequest` if a request caused it.
 */
export const toTokenAlertEmail = (
  to: Addressee,
  { page, ...detail }: MailDetail,
  { consoleUrl }: LinkBase,
): SendEmailRequest =>
  toEmail(to, {
    emailTemplateType: 'tokenAlert',
    language: COMPOSED_LANGUAGE,
    subject: asLine(detail['headline'] ?? ''),
    templateData: {
      ...pick(detail, 'headline', 'time', 'device', 'ipAddress'),
      message: asLine(detail['message'] ?? '', MAX_MESSAGE_LENGTH),
      ...(isTokenPage(page) && { tokensLink: consoleUrl + tokenPages[page] }),
    },
  });

/* What the mail service takes: a longer text, or a token without a name, would have it reject the whole digest. */
const MAX_ITEM_NAME_LENGTH = 300;
const MAX_MORE_LENGTH = 100;
const toItem = ({ name, end }: EndingToken): EndingToken => ({
  name: asLine(name, MAX_ITEM_NAME_LENGTH) || '(no name)',
  end: asLine(end),
});

/** @param detail - contains the result of `describeDigest`, and the page that shows the tokens. */
export const toTokenExpiringEmail = (
  to: Addressee,
  { headline = '', tokens = '[]', more = '', page }: MailDetail,
  { consoleUrl }: LinkBase,
): SendEmailRequest =>
  toEmail(to, {
    emailTemplateType: 'tokenExpiring',
    language: COMPOSED_LANGUAGE,
    subject: asLine(headline),
    templateData: {
      headline: asLine(headline),
      more: asLine(more, MAX_MORE_LENGTH),
      items: (JSON.parse(tokens) as EndingToken[]).map(toItem),
      tokensLink: consoleUrl + tokenPages[isTokenPage(page) ? page : 'own'],
    },
  });
