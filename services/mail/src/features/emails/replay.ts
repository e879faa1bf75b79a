import { setTimeout as delay } from 'node:timers/promises';
import type { EarlierMail } from '../journal/entry.js';
import type { Journal } from '../journal/service.js';
import { keyInUse, keyReused } from './errors.js';
import type { Idempotency, ResponseDeadlines } from './send-request.js';
import { type Submission, toSubmission } from './submission.js';

/** A request waits this long for the first one with its key. */
const EARLIER_WAIT_MS = 30_000;

/**
 * Creates a function that returns the result of the first request with an idempotency key, and sends nothing. It throws
 * the same errors as sending.
 */
export const createReplay =
  (journal: Pick<Journal, 'findByKey'>) =>
  async (
    orgId: string,
    { key, digest }: Idempotency,
    { deadlineAt, acceptAt }: ResponseDeadlines,
  ): Promise<Submission> => {
    const until = Math.min(acceptAt ?? Infinity, deadlineAt, performance.now() + EARLIER_WAIT_MS);
    for (let waitMs = 20; ; waitMs = Math.min(waitMs * 2, 500)) {
      const earlier: EarlierMail | undefined = await journal.findByKey(orgId, key);
      if (earlier && earlier.digest !== digest) throw keyReused();
      if (earlier && earlier.state !== 'pending')
        return toSubmission(earlier.state, earlier.refused, earlier.problem);
      const isLate = performance.now() + waitMs > until;
      if (earlier && isLate && acceptAt !== undefined)
        return { state: 'accepted', id: earlier.id, ended: Promise.resolve() };
      // The key has just expired, or the first request takes too long. The client may retry.
      if (!earlier || isLate) throw keyInUse();
      await delay(waitMs);
    }
  };
