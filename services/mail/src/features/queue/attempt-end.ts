import type { SmtpProblem } from '@platform/events/facts';
import {
  isPermanentRefusal,
  type Outcome,
  type RecipientOutcome,
  type RecipientState,
} from '../delivery/outcome.js';
import type { AttemptEnd, ClaimedMail, MailClaim } from './mail.js';
import { MAX_UNKNOWN_ATTEMPTS } from './queue.sql.js';
import { toNextAttempt } from './schedule.js';

/** An attempted mail, with the facts that decide whether it is tried again. */
export interface AttemptedMail extends Pick<
  ClaimedMail,
  | 'id'
  | 'claim'
  | 'attempts'
  | 'unknownAttempts'
  | 'atLeastOnce'
  | 'createdAt'
  | 'expiresAt'
  | 'isPartlySent'
  | 'suppressedAddresses'
> {
  /** False when nobody but the caller has the request. */
  readonly canQueue: boolean;
  /** The caller gets the outcome of this attempt. Nothing is sent later, except to recipients that were deferred beside others. */
  readonly callerWaits: boolean;
  /** The recipients of this attempt. */
  readonly addresses: readonly string[];
}

/** Adds the recipients that the server didn't name, which share the outcome of the mail. */
function addOthers(
  addresses: readonly string[],
  given: readonly RecipientOutcome[],
  state: RecipientState,
): readonly RecipientOutcome[] {
  const known = new Set(given.map(({ address }) => address.toLowerCase()));
  const others = addresses.filter((address) => !known.has(address.toLowerCase()));
  return [...given, ...others.map((address) => ({ address, state }))];
}

/** Nobody is deferred when there is no further attempt. */
const toFinal = (recipients: readonly RecipientOutcome[]): readonly RecipientOutcome[] =>
  recipients.map((one) => (one.state === 'deferred' ? { ...one, state: 'refused' } : one));

/** Decides what follows an attempt, and adds the recipients that were left out of it. */
export function toAttemptEnd(mail: AttemptedMail, outcome: Outcome, at: number): AttemptEnd {
  const end = decide(mail, outcome, at);
  const suppressed = mail.suppressedAddresses.map((address) => ({ address, state: 'suppressed' as const }));
  return suppressed.length === 0 ? end : { ...end, recipients: [...(end.recipients ?? []), ...suppressed] };
}

function decide(mail: AttemptedMail, outcome: Outcome, at: number): AttemptEnd {
  const claim = { id: mail.id, claim: mail.claim };
  const nextAttemptAt = mail.canQueue ? toNextAttempt(mail, at) : undefined;
  if (outcome.state === 'unknown') {
    const { problem, recipients } = outcome;
    const isRepeated =
      mail.atLeastOnce && !mail.callerWaits && mail.unknownAttempts + 1 < MAX_UNKNOWN_ATTEMPTS;
    return isRepeated && nextAttemptAt
      ? { ...claim, state: 'queued', problem, nextAttemptAt, isUnknown: true, recipients }
      : { ...claim, state: 'unknown', problem, isUnknown: true, recipients };
  }
  if (outcome.state === 'sent') {
    const isWhole = outcome.recipients.length === 0 && !mail.isPartlySent && mail.attempts === 1;
    if (isWhole) return { ...claim, state: 'sent' };
    const recipients = addOthers(mail.addresses, outcome.recipients, 'accepted');
    return nextAttemptAt && recipients.some(({ state }) => state === 'deferred')
      ? { ...claim, state: 'queued', nextAttemptAt, recipients }
      : { ...claim, state: 'sent', recipients: toFinal(recipients) };
  }
  const { problem, recipients } = outcome;
  if (nextAttemptAt && !mail.callerWaits && !isPermanentRefusal(problem))
    return { ...claim, state: 'queued', problem, nextAttemptAt, recipients };
  return {
    ...claim,
    state: mail.isPartlySent ? 'sent' : 'failed',
    problem,
    recipients: toFinal(mail.isPartlySent ? addOthers(mail.addresses, recipients, 'refused') : recipients),
  };
}

/** Returns a mail to the queue whose attempt ended before anything was sent, and isn't counted. */
export const toUncounted = (
  { id, claim }: MailClaim,
  nextAttemptAt: number,
  problem?: SmtpProblem,
): AttemptEnd => ({
  id,
  claim,
  state: 'queued',
  isCounted: false,
  problem,
  nextAttemptAt: new Date(nextAttemptAt),
});
