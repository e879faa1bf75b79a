import { type Clock, createPeriodicTask, DAY_MS, type Logger } from '@platform/service-kit';
import { type CrawlNotice, MAX_NOTICE_CRAWLS } from '@platform/auth';
import { DEFAULT_INSTANCE } from '@platform/events';
import type pg from 'pg';
import { deleteNotices, type FailureNotice, takeNotices } from '../db/failure-notices.js';
import { toJobKey } from '../domain/connectors.js';

const INTERVAL_MS = 5_000;
const RETRY_AFTER_MS = 60_000;
/** After this time a notice is not worth a mail. */
const GIVE_UP_AFTER_MS = 3 * DAY_MS;

/** Returns what people call the instance of a connector. */
const toName = ({ connector, instance, displayName }: FailureNotice): string =>
  displayName ?? (instance === DEFAULT_INSTANCE ? connector : `${connector} (${instance})`);

/** Returns the newest notice of each instance: an earlier one is out of date. */
function toNotice(orgId: string, notices: readonly FailureNotice[]): CrawlNotice {
  const newest = new Map(notices.map((notice) => [toJobKey(notice), notice]));
  const crawls = [...newest.values()].map((notice) => ({
    name: toName(notice),
    failures: notice.failures,
    reason: notice.reason,
  }));
  return { orgId, crawls: crawls.slice(0, MAX_NOTICE_CRAWLS) };
}

/**
 * Hands notices of connectors that keep failing to identity, which mails the administrators. The statement that ends a run
 * writes them, and they are deleted once identity has stored its mails: none is lost, and when an answer was, it is sent
 * again.
 */
export function createFailureNotices(deps: {
  readonly pool: pg.Pool;
  readonly notify: (notice: CrawlNotice) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
}) {
  const { pool, notify, clock, log } = deps;

  /** @returns whether there may be more: after a failure, the rest waits for the next round. */
  async function sendOne(): Promise<boolean> {
    const now = clock();
    const notices = await takeNotices(pool, new Date(now), new Date(now + RETRY_AFTER_MS));
    const [first] = notices;
    if (!first) return false;
    try {
      await notify(toNotice(first.orgId, notices));
    } catch (error) {
      log.warn({ err: error, orgId: first.orgId }, 'failed to notify administrators of crawls that fail');
      await deleteNotices(
        pool,
        notices.filter(({ createdAt }) => now - createdAt.getTime() > GIVE_UP_AFTER_MS),
      );
      return false;
    }
    await deleteNotices(pool, notices);
    return true;
  }

  return createPeriodicTask({
    intervalMs: INTERVAL_MS,
    async run(stopping) {
      while (!stopping.aborted && (await sendOne()));
    },
    onError: (error) => {
      log.warn({ err: error }, 'failed to read notices for administrators; will retry');
    },
  });
}
