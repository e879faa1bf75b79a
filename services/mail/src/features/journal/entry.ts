import type { SmtpProblem } from '../delivery/outcome.js';

/** A mail as it is written down before the SMTP server hears of it. */
export interface JournalEntry {
  readonly id: string;
  readonly orgId: string;
  readonly subject: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly templateType: string;
  readonly idempotency?: { readonly key: string; readonly digest: string };
  /** The mail that this one repeats: not written when a recipient of that was erased meanwhile. */
  readonly originalMailId?: string | undefined;
  readonly createdAt: Date;
}

export const mailStates = ['pending', 'sent', 'failed', 'unknown'] as const;
export type MailState = (typeof mailStates)[number];

/** What became of a mail. */
export interface MailOutcome {
  readonly id: string;
  readonly state: Exclude<MailState, 'pending'>;
  readonly refused: readonly string[];
  /** Why it wasn't sent, or may not have been. */
  readonly problem?: SmtpProblem | undefined;
  /** The letter of a mail that wasn't sent, or may not have been, where it can be sent again. */
  readonly encryptedRequest?: string | undefined;
}

/** An earlier mail under the same idempotency key. */
export interface EarlierMail {
  readonly id: string;
  readonly state: MailState;
  readonly digest: string;
  readonly refused: readonly string[];
  readonly problem: SmtpProblem | undefined;
}
