import type { SmtpProblem } from '../delivery/outcome.js';

/** A mail as the journal stores it before the SMTP server is contacted. */
export interface JournalEntry {
  readonly id: string;
  readonly orgId: string;
  readonly subject: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly templateType: string;
  readonly idempotency?: { readonly key: string; readonly digest: string };
  /** The mail that this one resends. The entry isn't written if a recipient of that mail has been erased meanwhile. */
  readonly originalMailId?: string | undefined;
  readonly createdAt: Date;
}

export const mailStates = ['pending', 'sent', 'failed', 'unknown'] as const;
export type MailState = (typeof mailStates)[number];

/** The outcome of a mail, as the journal stores it. */
export interface MailOutcome {
  readonly id: string;
  readonly state: Exclude<MailState, 'pending'>;
  readonly refused: readonly string[];
  /** Explains why the mail failed or its outcome is unknown. */
  readonly problem?: SmtpProblem | undefined;
  /** The request of a mail that failed or is unknown, when it may be resent. */
  readonly encryptedRequest?: string | undefined;
  /** The part of its content that is kept. */
  readonly encryptedContent?: string;
}

/** An earlier mail with the same idempotency key. */
export interface EarlierMail {
  readonly id: string;
  readonly state: MailState;
  readonly digest: string;
  readonly refused: readonly string[];
  readonly problem: SmtpProblem | undefined;
}
