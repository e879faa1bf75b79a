import {
  type Clock,
  type Permits,
  notApplied,
  type SecretBox,
  tooManyRequests,
  validationError,
} from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Brands } from '../brand/brand.js';
import type { Deliver } from '../delivery/deliver.js';
import type { Outcome } from '../delivery/outcome.js';
import { toAttemptEnd } from '../queue/attempt-end.js';
import type { Dispatcher } from '../queue/dispatcher.job.js';
import type { Journal } from '../queue/journal.js';
import { hasOutcome, priorities, type NewMail } from '../queue/mail.js';
import type { CheckQueue } from '../queue/queue-limit.js';
import { choosePriority, toExpiry } from '../queue/schedule.js';
import { sealContent } from '../templates/kept-content.js';
import { isSecurityNotice } from '../templates/template-types.js';
import { notResendable } from './errors.js';
import { toDeliveredMessage, toMessageId } from './message.js';
import { type RenderedEmail, renderEmail, estimateBytes } from './rendered-email.js';
import { createReplay, waitForOutcome } from './replay.js';
import { type SendRequest, toPoolKey } from './send-request.js';
import { isStoredInline, sealAttachments, sealRequest } from './stored-request.js';
import { type Submission, toSubmission } from './submission.js';

export function createEmailService(deps: {
  readonly journal: Journal;
  readonly dispatcher: Dispatcher;
  readonly deliver: Deliver;
  readonly brands: Pick<Brands, 'get'>;
  readonly clock: Clock;
  /** Limits the mails whose callers wait. */
  readonly sendPermits: Permits;
  readonly checkQueue: CheckQueue;
  readonly box: SecretBox;
  readonly onOutcome: (state: Outcome['state']) => void;
}) {
  const { journal, dispatcher, deliver, brands, clock, sendPermits, checkQueue, onOutcome } = deps;
  const { box } = deps;
  const { slots } = dispatcher;

  const replay = createReplay(journal);

  function toNewMail(request: SendRequest, email: RenderedEmail): NewMail {
    const { orgId, body, smtp, idempotency, originalMailId, isFromService, senderId = null } = request;
    const id = uuidv7();
    const at = clock();
    const { subject, from, to, cc, templateType } = email;
    const callerWaits = request.deadlines.acceptAt === undefined;
    const isInline = isStoredInline(body);
    // Only the caller has large attachments while it waits.
    const sealedRequest = callerWaits && !isInline ? null : sealRequest(box, id, request, email.attachments);
    const sealedContent = sealContent(box, id, body);
    const attachedBytes = isInline || callerWaits ? 0 : estimateBytes(email);
    return {
      id,
      orgId,
      priority: choosePriority(templateType, isFromService),
      callerWaits,
      atLeastOnce: isFromService && isSecurityNotice(templateType),
      // A code expires within minutes: nobody is helped when an administrator sends it again.
      canResend: isInline && !smtp && templateType !== 'loginWithOTP',
      subject,
      from,
      to,
      cc,
      templateType,
      idempotency,
      reference: isFromService ? (idempotency?.key ?? null) : null,
      senderId,
      originalMailId,
      sealedRequest,
      sealedContent,
      storedBytes: (sealedRequest?.length ?? 0) + sealedContent.length + attachedBytes,
      createdAt: new Date(at),
      expiresAt: new Date(toExpiry(templateType, at, request.expiresAt)),
    };
  }

  /** @param addresses - the recipients that are not suppressed. */
  async function deliverNow(
    request: SendRequest,
    email: RenderedEmail,
    mail: NewMail,
    addresses: readonly string[],
  ): Promise<Outcome> {
    const { deadlineAt } = request.deadlines;
    const claim = { id: mail.id, claim: 1 };
    if (addresses.length === 0) return { state: 'failed', problem: { code: 'ESUPPRESSED' }, recipients: [] };
    if (!(await slots.acquire(mail.orgId, mail.priority, deadlineAt)))
      return { state: 'failed', problem: { code: 'ETIMEDOUT' }, recipients: [] };
    try {
      return await deliver({
        orgId: mail.orgId,
        poolKey: toPoolKey(mail.orgId, request.smtp),
        isCode: mail.priority === priorities.code,
        configuration: request.configuration,
        recipients: addresses,
        ...toDeliveredMessage(email, toMessageId(mail.id, mail.from), mail.createdAt),
        onData: () => journal.begin(claim),
        deadlineAt,
        signal: new AbortController().signal,
      });
    } finally {
      slots.release(mail.orgId, mail.priority);
    }
  }

  /** Sends a mail while its caller waits. @returns undefined when the journal refused it. */
  async function sendNow(request: SendRequest, email: RenderedEmail): Promise<Submission | undefined> {
    const { orgId } = request;
    if (!sendPermits.tryAcquire(orgId)) throw tooManyRequests(1, 'Too many mails are under way');
    try {
      const mail = toNewMail(request, email);
      // A row that is stored although this fails is deleted when its lease expires, or sent if it is a resend.
      const suppressed = await journal.accept(mail).catch((error: unknown) => {
        throw mail.originalMailId === undefined ? notApplied(error) : error;
      });
      if (!suppressed) return undefined;
      const isSuppressed = (address: string): boolean => suppressed.includes(address.toLowerCase());
      const recipients = [...email.to, ...email.cc];
      const addresses = recipients.filter((address) => !isSuppressed(address));
      const outcome = await deliverNow(request, email, mail, addresses).catch((error: unknown) => {
        journal.release({ id: mail.id, claim: 1 });
        throw error;
      });
      const attempted = {
        ...mail,
        claim: 1,
        attempts: 1,
        unknownAttempts: 0,
        isPartlySent: false,
        canQueue: mail.sealedRequest !== null,
        suppressedAddresses: recipients.filter(isSuppressed),
        addresses,
      };
      const end = toAttemptEnd(attempted, outcome, clock());
      await journal.end(end);
      onOutcome(outcome.state);
      return toSubmission({ ...outcome, recipients: end.recipients ?? [] });
    } finally {
      sendPermits.release(orgId);
    }
  }

  /** Queues a mail, and waits for its outcome as long as the caller wishes. @returns undefined when the journal refused it. */
  async function enqueue(request: SendRequest, email: RenderedEmail): Promise<Submission | undefined> {
    if (!request.isFromService) await checkQueue(request.orgId);
    const mail = toNewMail(request, email);
    const written = isStoredInline(request.body)
      ? await journal.accept(mail)
      : await journal.acceptWithAttachments(mail, sealAttachments(box, mail.id, email.attachments));
    if (!written) return undefined;
    dispatcher.wake();
    const { acceptAt = 0 } = request.deadlines;
    if (acceptAt > performance.now()) {
      const found = await waitForOutcome(() => journal.find(mail.id), acceptAt);
      if (found && hasOutcome(found)) return toSubmission(found);
    }
    return { state: 'accepted', id: mail.id };
  }

  return {
    replay,

    /** Finds the mail of an earlier request with this key. @throws AppError 503 when the database can't be read. */
    findEarlier: journal.findByKey,

    /**
     * Stores and sends a mail, or queues it.
     *
     * @throws AppError 400 for faults of the body; 409 or 422 for the idempotency key; 409 when the mail can't be resent any
     *   more; 429; 500 when the mail failed or its outcome is unknown; 503 when it couldn't be stored.
     */
    async send(request: SendRequest): Promise<Submission> {
      const { orgId, idempotency, deadlines } = request;
      const read = await renderEmail(
        request.body,
        request.configuration.fromEmail,
        await brands.get(orgId).catch((error: unknown) => {
          throw notApplied(error);
        }),
      );
      if ('faults' in read) throw validationError(read.faults);
      const submission =
        deadlines.acceptAt === undefined
          ? await sendNow(request, read.email)
          : await enqueue(request, read.email);
      if (submission) return submission;
      // Either another request with the key was faster, or the mail can't be resent any more.
      if (idempotency) return replay(orgId, idempotency, deadlines);
      throw notResendable();
    },
  };
}

export type EmailService = ReturnType<typeof createEmailService>;
