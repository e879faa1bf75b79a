import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { type Clock, validationError } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Deliver } from '../delivery/deliver.js';
import type { Outcome, SmtpProblem } from '../delivery/outcome.js';
import type { EarlierMail } from '../journal/entry.js';
import type { LetterSeal } from '../journal/letter-seal.js';
import type { Journal } from '../journal/service.js';
import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';
import { keyInUse, keyReused, notResendable, outcomeUnknown, sendingFailed } from './errors.js';
import type { FairShares } from './fair-shares.js';
import type { FollowedSends } from './followed-sends.js';
import { type Letter, readLetter, getSize } from './letter.js';
import { createMessageSource, toMessageId } from './message.js';
import type { MailContent } from './schemas.js';

/** The digest is of the body as it came. */
export interface Idempotency {
  readonly key: string;
  readonly digest: string;
}

/** How long a request may take; both ends are in milliseconds of `performance.now()`. */
export interface Patience {
  /** By then the outcome is answered, whatever it is. */
  readonly deadlineAt: number;
  /** The client takes 202 from then on, and the mail isn't cut off; undefined: it waits for the outcome. */
  readonly acceptedAt: number | undefined;
}

export interface SendRequest {
  readonly orgId: string;
  readonly configuration: SmtpConfiguration;
  /** Of connections; undefined: the organisation's own. */
  readonly poolKey?: string;
  readonly body: MailContent;
  readonly idempotency?: Idempotency | undefined;
  readonly patience: Patience;
  /** Who sends for an account tries again by itself. */
  readonly canResend: boolean;
  /** The mail that this one repeats. */
  readonly getResend?: string;
}

/** A code is good for minutes: sent again, it would be a riddle. */
const SHORT_LIVED: ReadonlySet<string> = new Set(['loginWithOTP']);
/** Of a letter that is kept: large attachments are with whoever sent them. */
const MAX_KEPT_LENGTH = 262_144;

/** What a client is told: a confirmation, or that the mail is on its way and where to look at it. */
export type Submission =
  | { readonly state: 'sent'; readonly confirmation: string }
  | { readonly state: 'accepted'; readonly id: string; readonly ended: Promise<unknown> };

export interface EmailService {
  /**
   * @throws AppError 400; 409 and 422 of the idempotency key, 409 of a mail that can't be repeated any more; 429; 500 when it wasn't sent or that is
   *   unknown; 503 when it can't be journalled, and so isn't sent.
   */
  send(request: SendRequest): Promise<Submission>;
  /** Asked before anything that could refuse the request: what was answered once is answered again. @throws AppError 503. */
  findEarlier(orgId: string, key: string): Promise<EarlierMail | undefined>;
  /** Sends nothing. @throws AppError as `send`, for what became of the first request with the key. */
  replay(orgId: string, idempotency: Idempotency, patience: Patience): Promise<Submission>;
}

/** How long a request waits for the first one with its key. */
const EARLIER_WAIT_MS = 30_000;

async function endsWithin(promise: Promise<unknown>, waitMs: number): Promise<boolean> {
  const timer = new AbortController();
  const late = delay(Math.max(0, waitMs), false, { signal: timer.signal }).catch(() => false);
  const isEnded = await Promise.race([promise.then(() => true), late]);
  timer.abort();
  return isEnded;
}

const confirmation = (refused: readonly string[]): string =>
  refused.length === 0 ? 'Email sent' : `Email sent, but the server refused ${refused.join(', ')}`;

/** The answer that a settled mail has, now and to later requests with its key. */
function answer(state: Outcome['state'], refused: readonly string[], problem?: SmtpProblem): Submission {
  if (state === 'sent') return { state, confirmation: confirmation(refused) };
  throw state === 'failed' ? sendingFailed(problem) : outcomeUnknown(problem);
}

export function createEmailService(deps: {
  readonly journal: Journal;
  readonly deliver: Deliver;
  readonly clock: Clock;
  /** Mails under way. */
  readonly places: FairShares;
  readonly followed: FollowedSends;
  readonly seal: LetterSeal;
  readonly onSettled: (state: Outcome['state']) => void;
}): EmailService {
  const { journal, deliver, clock, places, followed, seal, onSettled } = deps;

  async function replay(
    orgId: string,
    { key, digest }: Idempotency,
    { deadlineAt, acceptedAt }: Patience,
  ): Promise<Submission> {
    const until = Math.min(acceptedAt ?? Infinity, deadlineAt, performance.now() + EARLIER_WAIT_MS);
    for (let waitMs = 20; ; waitMs = Math.min(waitMs * 2, 500)) {
      const earlier: EarlierMail | undefined = await journal.findByKey(orgId, key);
      if (earlier && earlier.digest !== digest) throw keyReused();
      if (earlier && earlier.state !== 'pending')
        return answer(earlier.state, earlier.refused, earlier.problem);
      const isLate = performance.now() + waitMs > until;
      if (earlier && isLate && acceptedAt !== undefined)
        return { state: 'accepted', id: earlier.id, ended: Promise.resolve() };
      // Its key ran out in this very moment, or it takes too long: the caller may ask again.
      if (!earlier || isLate) throw keyInUse();
      await delay(waitMs);
    }
  }

  function keepLetter({ body, canResend }: SendRequest, id: string): string | undefined {
    if (!canResend || SHORT_LIVED.has(body.emailTemplateType)) return undefined;
    const length = (body.attachments ?? []).reduce((sum, { content }) => sum + content.length, 0);
    const sealed = length > MAX_KEPT_LENGTH ? '' : seal.seal(body, id);
    return sealed !== '' && sealed.length <= MAX_KEPT_LENGTH ? sealed : undefined;
  }

  /** Never rejects: what was begun has an outcome. */
  async function deliverLetter(
    request: SendRequest,
    letter: Letter,
    id: string,
    message: Parameters<Deliver>[0]['message'],
  ): Promise<Outcome> {
    const { orgId, poolKey, configuration, patience } = request;
    const outcome = await deliver({
      orgId,
      ...(poolKey !== undefined && { poolKey }),
      configuration,
      message,
      messageBytes: getSize(letter),
      ...(patience.acceptedAt === undefined
        ? { deadlineAt: patience.deadlineAt }
        : { signal: followed.signal }),
    });
    const refused = outcome.state === 'sent' ? outcome.refused : [];
    const problem = 'problem' in outcome ? outcome.problem : undefined;
    const sealed = outcome.state === 'sent' ? undefined : keepLetter(request, id);
    await journal.settle({ id, state: outcome.state, refused, problem, sealed });
    onSettled(outcome.state);
    return outcome;
  }

  async function begin({ orgId, idempotency, getResend }: SendRequest, letter: Letter) {
    const id = uuidv7();
    const createdAt = new Date(clock());
    const { subject, from, to, cc, templateType } = letter;
    const entry = { id, orgId, subject, from, to, cc, templateType, createdAt, getResend, ...(idempotency && { idempotency }) };
    const messageId = toMessageId(id, from);
    // The journal's statement leaves in this turn; the message is composed while the database writes.
    const composing = nextTurn().then(() => createMessageSource(letter, messageId, createdAt));
    const [isNew, message] = await Promise.all([journal.begin(entry), composing]);
    return isNew ? { id, message } : undefined;
  } // prettier-ignore

  /** Holds a place from before the mail is written down until it is no longer under way. */
  async function startDelivery(
    request: SendRequest,
    letter: Letter,
  ): Promise<{ readonly id: string; readonly delivering: Promise<Outcome> } | undefined> {
    const { orgId } = request;
    places.acquire(orgId, 1);
    const release = (): void => {
      places.release(orgId, 1);
    };
    const begun = await begin(request, letter).catch((error: unknown) => {
      release();
      throw error;
    });
    if (!begun) release();
    return (
      begun && {
        id: begun.id,
        delivering: deliverLetter(request, letter, begun.id, begun.message).finally(release),
      }
    );
  }

  return {
    replay,
    findEarlier: (orgId, key) => journal.findByKey(orgId, key),
    async send(request) {
      const { orgId, idempotency, patience } = request;
      const read = await readLetter(request.body, request.configuration.fromEmail);
      if ('faults' in read) throw validationError(read.faults);
      const started = await startDelivery(request, read.letter);
      if (!started) {
        // Another request with the key was faster; or a recipient of the mail to repeat was erased.
        if (idempotency) return replay(orgId, idempotency, patience);
        throw notResendable();
      }
      const { id, delivering } = started;
      if (patience.acceptedAt !== undefined) {
        followed.add(delivering);
        const waitMs = patience.acceptedAt - performance.now();
        if (!(await endsWithin(delivering, waitMs))) return { state: 'accepted', id, ended: delivering };
      }
      const outcome = await delivering;
      return 'problem' in outcome
        ? answer(outcome.state, [], outcome.problem)
        : answer(outcome.state, outcome.refused);
    },
  };
}
