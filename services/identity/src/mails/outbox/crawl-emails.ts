import type { Fact } from '@platform/auth';
import { asLine, COMPOSED_LANGUAGE, type SendEmailRequest, toEmail } from './email-request.js';
import type { LinkBase, MailDetail } from './emails.js';
import type { Addressee } from './queries.js';

export type NoticedCrawl = Exclude<Fact, { type: 'audit.entry' }>['data'];

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

/** Returns the detail of a mail about crawls, which is merged with others before it is composed. */
export const toCrawlDetail = (crawls: readonly NoticedCrawl[]): MailDetail => ({
  crawls: JSON.stringify(crawls),
});

/** Returns what the details say last of each crawl. @param details - of mails about crawls, the oldest first. */
export function mergeCrawls(details: readonly MailDetail[]): NoticedCrawl[] {
  const noticed = details.flatMap(({ crawls = '[]' }) => JSON.parse(crawls) as NoticedCrawl[]);
  return [...new Map(noticed.map((crawl) => [`${crawl.connector} ${crawl.instance}`, crawl])).values()];
}

/** Returns what a mail says about crawls that keep failing, and those that complete again. */
function describeCrawls(crawls: readonly NoticedCrawl[]) {
  const sorted = crawls.toSorted((one, other) => other.failures - one.failures);
  const failing = crawls.filter(({ failures }) => failures > 0).length;
  const hidden = crawls.length - MAX_ITEMS;
  return {
    headline:
      failing > 0
        ? toCount(failing, 'crawl keeps failing', 'crawls keep failing')
        : toCount(crawls.length, 'crawl completes again', 'crawls complete again'),
    items: sorted.slice(0, MAX_ITEMS).map(toItem),
    more: hidden > 0 ? `And ${hidden} more.` : '',
  };
}

export function toCrawlNoticeEmail(
  to: Addressee,
  crawls: readonly NoticedCrawl[],
  { consoleUrl }: LinkBase,
): SendEmailRequest {
  const { headline, ...described } = describeCrawls(crawls);
  return toEmail(to, {
    emailTemplateType: 'crawlFailures',
    language: COMPOSED_LANGUAGE,
    subject: headline,
    templateData: { headline, ...described, crawlsLink: `${consoleUrl}/crawls` },
  });
}
