import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { type Clock, validationError } from '@platform/service-kit';
import { v7 as uuidv7 } from 'uuid';
import type { Deliver } from '../delivery/deliver.js';
import type { Outcome } from '../delivery/outcome.js';
import type { EarlierMail } from '../journal/entry.js';
import type { Journal } from '../journal/service.js';
import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';
import { keyInUse, keyReused, outcomeUnknown, sendingFailed } from './errors.js';
import { type Letter, readLetter, sizeOf } from './letter.js';
import { createMessageSource, messageIdOf } from './message.js';
import type { MailBody } from './schemas.js';
import type { Turnstile } from './turnstile.js';

export interface SendRequest {
  readonly orgId: string;
  readonly configuration: SmtpConfiguration;
  readonly body: MailBody;
  /** The digest is of the body as it came. */
  readonly idempotency?: { readonly key: string; readonly digest: string };
}

export interface EmailService {
  /**
   * @returns the confirmation.
   * @throws AppError 400; 409 and 422 of the idempotency key; 429; 500 when it wasn't sent or that is
   *   unknown; 503 when it can't be journalled, and so isn't sent.
   */
  send(request: SendRequest): Promise<string>;
}

/** How long a request waits for the first one with its key. */
const EARLIER_WAIT_MS = 30_000;

const confirmation = (refused: readonly string[]): string =>
  refused.length === 0 ? 'Email sent' : `Email sent, but the server refused ${refused.join(', ')}`;

/** The answer that a settled mail has, now and to later requests with its key. */
function answer(
  state: Outcome['state'],
  refused: readonly string[],
  problem?: Parameters<typeof sendingFailed>[0],
): string {
  if (state === 'sent') return confirmation(refused);
  throw state === 'failed' ? sendingFailed(problem) : outcomeUnknown(problem);
}

export function createEmailService(deps: {
  readonly journal: Journal;
  readonly deliver: Deliver;
  readonly clock: Clock;
  readonly turnstile: Turnstile;
  readonly onSettled: (state: Outcome['state']) => void;
}): EmailService {
  const { journal, deliver, clock, turnstile, onSettled } = deps;

  async function answerEarlier(orgId: string, key: string, digest: string): Promise<string> {
    const deadline = clock() + EARLIER_WAIT_MS;
    for (let waitMs = 20; ; waitMs = Math.min(waitMs * 2, 500)) {
      const earlier: EarlierMail | undefined = await journal.findByKey(orgId, key);
      if (earlier && earlier.digest !== digest) throw keyReused();
      if (earlier && earlier.state !== 'pending') return answer(earlier.state, earlier.refused);
      // Its key ran out in this very moment, or it takes too long: the caller may ask again.
      if (!earlier || clock() > deadline) throw keyInUse();
      await delay(waitMs);
    }
  }

  async function sendLetter(request: SendRequest, letter: Letter): Promise<string> {
    const { orgId, configuration, idempotency } = request;
    const id = uuidv7();
    const createdAt = new Date(clock());
    const { subject, from, to, cc, templateType } = letter;
    const entry = {
      id,
      orgId,
      subject,
      from,
      to,
      cc,
      templateType,
      createdAt,
      ...(idempotency && { idempotency }),
    };
    const messageId = messageIdOf(id, from);
    // The journal's statement leaves in this turn; the message is composed while the database writes.
    const composing = nextTurn().then(() => createMessageSource(letter, messageId, createdAt));
    const [isNew, message] = await Promise.all([journal.begin(entry), composing]);
    if (!isNew && idempotency) return answerEarlier(orgId, idempotency.key, idempotency.digest);
    const outcome = await deliver({ orgId, configuration, message, messageBytes: sizeOf(letter) });
    const refused = outcome.state === 'sent' ? outcome.refused : [];
    await journal.settle({ id, state: outcome.state, refused });
    onSettled(outcome.state);
    return answer(outcome.state, refused, 'problem' in outcome ? outcome.problem : undefined);
  }

  return {
    async send(request) {
      const read = await readLetter(request.body, request.configuration.fromEmail);
      if ('faults' in read) throw validationError(read.faults);
      const leave = turnstile.enter(request.orgId);
      try {
        return await sendLetter(request, read.letter);
      } finally {
        leave();
      }
    },
  };
}
