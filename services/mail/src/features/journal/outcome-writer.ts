import type { Clock, Logger } from '@platform/service-kit';
import type pg from 'pg';
import type { MailOutcome } from './entry.js';
import { storeOutcomes } from './queries.js';

const RETRY_AFTER_MS = 500;
const MAX_BATCH = 500;
/** Keeps a statement within its timeout of one second: 2 MiB of stored requests take 0.6 s on a small machine. */
const MAX_BATCH_REQUEST_BYTES = 2 * 1_048_576;

interface Waiting {
  readonly outcome: MailOutcome;
  readonly onAttempted: () => void;
}

/** @returns as many waiting outcomes as fit into one statement, but at least one. */
function getNextBatch(waiting: readonly Waiting[]): readonly Waiting[] {
  let bytes = 0;
  const end = waiting.findIndex(({ outcome }, index) => {
    bytes += (outcome.encryptedRequest?.length ?? 0) + (outcome.encryptedContent?.length ?? 0);
    return index >= MAX_BATCH || (index > 0 && bytes > MAX_BATCH_REQUEST_BYTES);
  });
  return waiting.slice(0, end < 0 ? waiting.length : end);
}

/**
 * Writes the outcomes of mails in batches: those that arrive while a batch is being written form the next one.
 *
 *   waiting --batch written--> removed
 *   waiting --database unavailable--> waiting; retried every half second, and once more at shutdown
 */
export function createOutcomeWriter(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Logger;
}) {
  let waiting: Waiting[] = [];
  let writing: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function writeBatch(): Promise<boolean> {
    const batch = getNextBatch(waiting);
    try {
      await storeOutcomes(
        deps.pool,
        batch.map(({ outcome }) => outcome),
        new Date(deps.clock()),
      );
      waiting = waiting.slice(batch.length);
      return true;
    } catch (error) {
      deps.log.error(
        { err: error, waiting: waiting.length },
        'Failed to store outcomes of mails; will retry',
      );
      return false;
    } finally {
      for (const { onAttempted } of batch) onAttempted();
    }
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) if (!(await writeBatch())) return scheduleRetry();
  }

  function scheduleRetry(): void {
    timer ??= setTimeout(() => {
      timer = undefined;
      void flush();
    }, RETRY_AFTER_MS).unref();
  }

  const flush = (): Promise<void> =>
    (writing ??= writeAll().finally(() => {
      writing = undefined;
      if (waiting.length > 0) scheduleRetry();
    }));

  return {
    /** Resolves after the first attempt to write the outcome. If that failed, the outcome stays queued and is retried. */
    add: (outcome: MailOutcome): Promise<void> =>
      new Promise((resolve) => {
        waiting.push({ outcome, onAttempted: resolve });
        if (timer === undefined) void flush();
        else resolve();
      }),
    waitingIds: (): string[] => waiting.map(({ outcome }) => outcome.id),
    get backlog() {
      return waiting.length;
    },
    async stop(): Promise<void> {
      clearTimeout(timer);
      await flush();
      clearTimeout(timer);
    },
  };
}
