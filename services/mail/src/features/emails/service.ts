import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { type Clock, type FairLimiter, validationError } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Deliver } from '../delivery/deliver.js';
import type { Outcome } from '../delivery/outcome.js';
import type { EarlierMail } from '../journal/entry.js';
import type { RequestCipher } from '../journal/request-cipher.js';
import type { Journal } from '../journal/service.js';
import { toKeptContent } from '../templates/kept-content.js';
import { notResendable } from './errors.js';
import type { BackgroundSends } from './background-sends.js';
import { type RenderedEmail, renderEmail, estimateBytes } from './rendered-email.js';
import { createMessageSource, toMessageId } from './message.js';
import { type Submission, toSubmission } from './submission.js';
import { createReplay } from './replay.js';
import { encryptForResend } from './resend-request.js';
import type { SendRequest } from './send-request.js';

async function settlesWithin(promise: Promise<unknown>, waitMs: number): Promise<boolean> {
  const timer = new AbortController();
  const timeout = delay(Math.max(0, waitMs), false, { signal: timer.signal }).catch(() => false);
  const isEnded = await Promise.race([promise.then(() => true), timeout]);
  timer.abort();
  return isEnded;
}

export function createEmailService(deps: {
  readonly journal: Journal;
  readonly deliver: Deliver;
  readonly clock: Clock;
  /** Limits the mails in progress. */
  readonly sendLimiter: FairLimiter;
  readonly backgroundSends: BackgroundSends;
  readonly cipher: RequestCipher;
  readonly contentCipher: RequestCipher;
  readonly onOutcome: (state: Outcome['state']) => void;
}) {
  const { journal, deliver, clock, sendLimiter, backgroundSends, cipher, contentCipher, onOutcome } = deps;

  const replay = createReplay(journal);

  /** Never rejects: every journalled mail gets an outcome. */
  async function deliverEmail(
    request: SendRequest,
    email: RenderedEmail,
    id: string,
    message: Parameters<Deliver>[0]['message'],
  ): Promise<Outcome> {
    const { orgId, poolKey, configuration, deadlines } = request;
    const outcome = await deliver({
      orgId,
      ...(poolKey !== undefined && { poolKey }),
      configuration,
      message,
      messageBytes: estimateBytes(email),
      ...(deadlines.acceptAt === undefined
        ? { deadlineAt: deadlines.deadlineAt }
        : { signal: backgroundSends.signal }),
    });
    const refused = outcome.state === 'sent' ? outcome.refused : [];
    const problem = 'problem' in outcome ? outcome.problem : undefined;
    const encryptedRequest = outcome.state === 'sent' ? undefined : encryptForResend(cipher, request, id);
    const encryptedContent = contentCipher.encrypt(toKeptContent(request.body), id);
    const { state } = outcome;
    await journal.recordOutcome({ id, state, refused, problem, encryptedRequest, encryptedContent });
    onOutcome(outcome.state);
    return outcome;
  }

  // prettier-ignore
  async function recordEmail({ orgId, idempotency, originalMailId }: SendRequest, email: RenderedEmail) {
    const id = uuidv7();
    const createdAt = new Date(clock());
    const { subject, from, to, cc, templateType } = email;
    const entry = { id, orgId, subject, from, to, cc, templateType, createdAt, originalMailId, ...(idempotency && { idempotency }) };
    const messageId = toMessageId(id, from);
    // The statement is sent in this turn of the event loop; the message is created while the database writes.
    const composing = nextTurn().then(() => createMessageSource(email, messageId, createdAt));
    const [isNew, message] = await Promise.all([journal.recordPending(entry), composing]);
    return isNew ? { id, message } : undefined;
  }

  /**
   * Starts a delivery, which counts as in progress until it has an outcome.
   *
   * @returns undefined when the journal refused the entry: see `Journal.recordPending`.
   */
  async function startDelivery(
    request: SendRequest,
    email: RenderedEmail,
  ): Promise<{ readonly id: string; readonly delivering: Promise<Outcome> } | undefined> {
    const { orgId } = request;
    sendLimiter.acquire(orgId, 1);
    const release = (): void => {
      sendLimiter.release(orgId, 1);
    };
    const recorded = await recordEmail(request, email).catch((error: unknown) => {
      release();
      throw error;
    });
    if (!recorded) release();
    return (
      recorded && {
        id: recorded.id,
        delivering: deliverEmail(request, email, recorded.id, recorded.message).finally(release),
      }
    );
  }

  return {
    replay,

    /** Finds the mail of an earlier request with this key. @throws AppError 503 when the database can't be read. */
    findEarlier: (orgId: string, key: string): Promise<EarlierMail | undefined> =>
      journal.findByKey(orgId, key),

    /**
     * Journals, sends and records a mail.
     *
     * @throws AppError 400 for faults of the body; 409 or 422 for the idempotency key; 409 when the mail can't be resent any
     *   more; 429; 500 when the mail failed or its outcome is unknown; 503 when it couldn't be journalled and wasn't sent.
     */
    async send(request: SendRequest): Promise<Submission> {
      const { orgId, idempotency, deadlines } = request;
      const read = await renderEmail(request.body, request.configuration.fromEmail);
      if ('faults' in read) throw validationError(read.faults);
      const started = await startDelivery(request, read.email);
      if (!started) {
        // Either another request with the key was faster, or a recipient of the mail to resend has been erased.
        if (idempotency) return replay(orgId, idempotency, deadlines);
        throw notResendable();
      }
      const { id, delivering } = started;
      if (deadlines.acceptAt !== undefined) {
        backgroundSends.add(delivering);
        const waitMs = deadlines.acceptAt - performance.now();
        if (!(await settlesWithin(delivering, waitMs))) return { state: 'accepted', id, ended: delivering };
      }
      const outcome = await delivering;
      return 'problem' in outcome
        ? toSubmission(outcome.state, [], outcome.problem)
        : toSubmission(outcome.state, outcome.refused);
    },
  };
}

export type EmailService = ReturnType<typeof createEmailService>;
