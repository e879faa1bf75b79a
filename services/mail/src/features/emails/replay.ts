import { setTimeout as delay } from 'node:timers/promises';
import type { Journal } from '../queue/journal.js';
import { hasOutcome, type MailStatus } from '../queue/mail.js';
import { keyInUse, keyReused } from './errors.js';
import type { Idempotency, ResponseDeadlines } from './send-request.js';
import { type Submission, toConfirmation, toSubmission } from './submission.js';

/** A request waits this long for the first one with its key. */
const EARLIER_WAIT_MS = 30_000;

const isPartlySent = ({ recipients }: MailStatus): boolean =>
  recipients.some(({ state }) => state === 'accepted');

/** Reads the state of a mail until it has an outcome, or some of its recipients have it, or the time is over. @returns the last state. */
export async function waitForOutcome(
  find: () => Promise<MailStatus | undefined>,
  until: number,
): Promise<MailStatus | undefined> {
  for (let waitMs = 20; ; waitMs = Math.min(waitMs * 2, 500)) {
    const found = await find();
    const isOver = !found || isPartlySent(found) || hasOutcome(found);
    if (isOver || performance.now() + waitMs > until) return found;
    await delay(waitMs);
  }
}

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
    const find = async () => {
      const earlier = await journal.findByKey(orgId, key);
      if (earlier && earlier.digest !== digest) throw keyReused();
      return earlier;
    };
    const earlier = await waitForOutcome(find, until);
    // The key has just expired, or the mail was withdrawn. The client may retry.
    if (!earlier) throw keyInUse();
    if (hasOutcome(earlier)) return toSubmission(earlier);
    if (acceptAt !== undefined) return { state: 'accepted', id: earlier.id };
    if (!isPartlySent(earlier)) throw keyInUse();
    return { state: 'sent', confirmation: toConfirmation(earlier.recipients) };
  };
