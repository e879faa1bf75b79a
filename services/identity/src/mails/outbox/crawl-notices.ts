import type { ReportedFact } from '@platform/events';
import type { MailDetail } from './emails.js';
import { type NoticeItem, toItemList } from './notice-emails.js';

export type NoticedCrawl = Extract<ReportedFact, { type: 'crawl.failing' }>['data'] & {
  /** In ISO 8601, of UTC. */
  readonly at: string;
};

/** Returns the detail of a mail about crawls, which is merged with others before it is composed. */
export const toCrawlDetail = (crawls: readonly NoticedCrawl[]): MailDetail => ({
  crawls: JSON.stringify(crawls),
});

const toItem = ({ name, failures, reason }: NoticedCrawl): NoticeItem => ({
  name,
  state: failures === 0 ? 'completes' : 'failing',
  count: String(failures),
  reason: reason ?? '',
});

/**
 * Returns the detail of a mail about the crawls, with what the details say last of each.
 *
 * @param details - of mails about crawls. They may have been reported in another order than that in which they happened.
 */
export function mergeCrawls(details: readonly MailDetail[]): MailDetail {
  const noticed = details
    .flatMap(({ crawls = '[]' }) => JSON.parse(crawls) as NoticedCrawl[])
    .toSorted((one, other) => (one.at < other.at ? -1 : 1));
  const crawls = [
    ...new Map(noticed.map((crawl) => [`${crawl.connector} ${crawl.instance}`, crawl])).values(),
  ].toSorted((one, other) => other.failures - one.failures);
  const failing = crawls.filter(({ failures }) => failures > 0).length;
  return {
    ...toItemList(crawls.map(toItem)),
    notice: failing > 0 ? 'crawlsFail' : 'crawlsComplete',
    count: String(failing || crawls.length),
    page: 'crawls',
  };
}
