import type { CrawlNotice } from '@platform/auth';
import { asLine, COMPOSED_LANGUAGE, type SendEmailRequest, toEmail } from './email-request.js';
import type { LinkBase, MailDetail } from './emails.js';
import type { Addressee } from './queries.js';

type NoticedCrawl = CrawlNotice['crawls'][number];

/** The most crawls that a mail lists. */
const MAX_ITEMS = 20;
/* What the mail service takes. */
const MAX_NAME_LENGTH = 300;
const MAX_END_LENGTH = 200;

const toCount = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

function toItem({ name, failures, reason }: NoticedCrawl) {
  const end =
    failures === 0
      ? 'completes again'
      : `${failures === 1 ? 'The last run has' : `The last ${failures} runs have`} failed: ${reason ?? 'no reason'}`;
  return { name: asLine(name, MAX_NAME_LENGTH) || '(no name)', end: asLine(end, MAX_END_LENGTH) };
}

/** Returns the detail of the mail about crawls that keep failing, and those that complete again. */
export function describeCrawls(crawls: readonly NoticedCrawl[]): MailDetail {
  const sorted = crawls.toSorted((one, other) => other.failures - one.failures);
  const failing = crawls.filter(({ failures }) => failures > 0).length;
  const hidden = crawls.length - MAX_ITEMS;
  return {
    headline:
      failing > 0
        ? toCount(failing, 'crawl keeps failing', 'crawls keep failing')
        : toCount(crawls.length, 'crawl completes again', 'crawls complete again'),
    items: JSON.stringify(sorted.slice(0, MAX_ITEMS).map(toItem)),
    ...(hidden > 0 && { more: `And ${hidden} more.` }),
  };
}

/** @param detail - the result of `describeCrawls`. */
export const toCrawlNoticeEmail = (
  to: Addressee,
  { headline = '', items = '[]', more = '' }: MailDetail,
  { consoleUrl }: LinkBase,
): SendEmailRequest =>
  toEmail(to, {
    emailTemplateType: 'crawlFailures',
    language: COMPOSED_LANGUAGE,
    subject: headline,
    templateData: {
      headline,
      more,
      items: JSON.parse(items) as ReturnType<typeof toItem>[],
      crawlsLink: `${consoleUrl}/crawls`,
    },
  });
