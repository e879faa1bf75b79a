import { asLine, type NoticeCode, type SendEmailRequest, toEmail } from './email-request.js';
import type { LinkBase, MailDetail } from './emails.js';
import type { Addressee } from './queries.js';

/** The pages of the console that show what notices are about: tokens to their owner and to administrators, crawls, and services. */
const pages = {
  own: '/account/tokens',
  organisation: '/organisation/tokens',
  crawls: '/crawls',
  services: '/account/services',
} as const;
export type NoticePage = keyof typeof pages;

const isPage = (page: string | undefined): page is NoticePage =>
  page !== undefined && Object.hasOwn(pages, page);

const MAX_NAME_LENGTH = 300;
const MAX_FACT_LENGTH = 500;

/** Cuts the values to what the mail service takes: a longer one, or a missing name, would have it reject the mail. */
const toFacts = (detail: MailDetail): Record<string, string> =>
  Object.fromEntries(
    Object.entries(detail).map(([key, value]) =>
      key === 'name' ? [key, asLine(value, MAX_NAME_LENGTH) || '–'] : [key, asLine(value, MAX_FACT_LENGTH)],
    ),
  );

/** One of several things in a mail: its `name`, a `state` that the mail service has words for, and facts. */
export type NoticeItem = MailDetail & { readonly name: string; readonly state: string };

/** The most items that a mail lists. */
const MAX_ITEMS = 50;

/** Returns the part of a detail that lists the items, as far as there is room for them. */
export const toItemList = (items: readonly NoticeItem[]) => ({
  count: String(items.length),
  items: JSON.stringify(items.slice(0, MAX_ITEMS)),
  ...(items.length > MAX_ITEMS && { hidden: String(items.length - MAX_ITEMS) }),
});

/**
 * @param detail - contains the code of the notice, its facts, the page of the console that shows more, the id of the one thing
 *   there that the notice is about, the result of `toItemList` if it is about several things, and that of `describeRequest` if a request caused it.
 */
export const toNoticeEmail = (
  emailTemplateType: 'tokenAlert' | 'tokenExpiring' | 'crawlFailures' | 'connectedService',
  to: Addressee,
  { notice, page, pageOf, items, ...facts }: MailDetail,
  { consoleUrl }: LinkBase,
): SendEmailRequest =>
  toEmail(to, {
    emailTemplateType,
    templateData: {
      ...toFacts(facts),
      notice: notice as NoticeCode,
      ...(items !== undefined && { items: (JSON.parse(items) as MailDetail[]).map(toFacts) }),
      ...(isPage(page) && { link: [consoleUrl + pages[page], pageOf].filter(Boolean).join('/') }),
    },
  });
