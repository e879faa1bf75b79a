import type { Outcome, SmtpProblem } from '../delivery/outcome.js';
import { outcomeUnknown, sendingFailed } from './errors.js';

/** A mail that was sent, or one that was accepted and is still in progress. */
export type Submission =
  | { readonly state: 'sent'; readonly confirmation: string }
  | { readonly state: 'accepted'; readonly id: string; readonly ended: Promise<unknown> };

const toConfirmation = (refused: readonly string[]): string =>
  refused.length === 0 ? 'Email sent' : `Email sent, but the server refused ${refused.join(', ')}`;

/** Translates an outcome into the result of `send`, for the first request and for later ones with its key. */
export function toSubmission(
  state: Outcome['state'],
  refused: readonly string[],
  problem?: SmtpProblem,
): Submission {
  if (state === 'sent') return { state, confirmation: toConfirmation(refused) };
  throw state === 'failed' ? sendingFailed(problem) : outcomeUnknown(problem);
}
