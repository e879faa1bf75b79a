import type { SmtpProblem } from '@platform/events/facts';
import type { Outcome, RecipientOutcome } from '../delivery/outcome.js';
import { outcomeUnknown, sendingFailed } from './errors.js';

/** A sent mail, or an accepted one in the queue. */
export type Submission =
  | { readonly state: 'sent'; readonly confirmation: string }
  | { readonly state: 'accepted'; readonly id: string };

/** Names the recipients that didn't get the mail. */
export function toConfirmation(recipients: readonly RecipientOutcome[]): string {
  const list = (wanted: RecipientOutcome['state']) =>
    recipients.filter(({ state }) => state === wanted).map(({ address }) => address);
  const [refused, suppressed, deferred] = [list('refused'), list('suppressed'), list('deferred')];
  return [
    'Email sent',
    ...(suppressed.length > 0 ? [`without the suppressed ${suppressed.join(', ')}`] : []),
    ...(refused.length > 0 ? [`but the server refused ${refused.join(', ')}`] : []),
    ...(deferred.length > 0 ? [`and it is tried again for ${deferred.join(', ')}`] : []),
  ].join(', ');
}

/** Translates the outcome of a mail into the result of `send`, for the first request and for later ones with its key. */
export function toSubmission({
  state,
  recipients,
  problem,
}: {
  readonly state: Outcome['state'];
  readonly recipients: readonly RecipientOutcome[];
  readonly problem?: SmtpProblem | undefined;
}): Submission {
  if (state === 'sent') return { state, confirmation: toConfirmation(recipients) };
  throw state === 'failed' ? sendingFailed(problem) : outcomeUnknown(problem);
}
