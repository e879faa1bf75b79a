import type { SmtpProblem } from '@platform/events/facts';
import type { Outcome, RecipientOutcome } from '../delivery/outcome.js';

/*
 * The life of a mail, a row of `mails`:
 *
 *   queued  --claimed by a replica--> sending
 *   sending --the server accepted it for somebody--> sent       and queued, while it deferred other recipients
 *   sending --nobody accepted it, for now--> queued             after a pause, until the mail expires
 *   sending --it was refused for good, or has expired--> failed
 *   sending --the message was handed over, and no reply came--> unknown; security notices: queued, once
 *   sending --its lease expires before the message was begun--> queued
 *   sending --its lease expires after that--> unknown
 *   queued  --expires--> failed
 *   unknown --its replica was alive, but could not reach the database--> its true outcome
 *
 * A mail whose caller waits for the outcome starts as `sending`, claimed by the replica that has the request. It is tried
 * only while the caller waits: then it has failed, or, when the replica died before the message was begun, is deleted. A
 * resend is then queued, because it has the only copy of the request.
 */
export const mailStates = ['queued', 'sending', 'sent', 'failed', 'unknown'] as const;
export type MailState = (typeof mailStates)[number];

/** The priorities of mails within an organisation, most urgent first. */
export const priorities = { code: 0, notice: 1, bulk: 2 } as const;
export type Priority = (typeof priorities)[keyof typeof priorities];

/** A mail as it is accepted. */
export interface NewMail {
  readonly id: string;
  readonly orgId: string;
  readonly priority: Priority;
  /** True: the row is inserted as claimed by this replica. False: it is queued for any replica. */
  readonly callerWaits: boolean;
  readonly atLeastOnce: boolean;
  readonly canResend: boolean;
  readonly subject: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly cc: readonly string[];
  readonly templateType: string;
  readonly idempotency?: { readonly key: string; readonly digest: string } | undefined;
  /** By what one of the platform's own services knows the mail: the idempotency key of its first request. */
  readonly reference: string | null;
  /** The account that sends it; null for the platform. */
  readonly senderId: string | null;
  /** The mail that this one resends. It isn't stored if that mail has been resent, or one of its recipients erased, meanwhile. */
  readonly originalMailId?: string | undefined;
  readonly sealedRequest: string | null;
  readonly sealedContent: string;
  readonly storedBytes: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Identifies one claim of a mail. A write takes effect only while its claim is valid. */
export interface MailClaim {
  readonly id: string;
  readonly claim: number;
}

/** A queued mail that this replica has claimed. */
export interface ClaimedMail extends MailClaim {
  readonly orgId: string;
  readonly priority: Priority;
  readonly attempts: number;
  readonly unknownAttempts: number;
  readonly atLeastOnce: boolean;
  readonly from: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly sealedRequest: string | null;
  /** Addresses in lower case that were accepted or refused in earlier attempts, or are suppressed. */
  readonly finishedAddresses: readonly string[];
  /** Addresses in lower case that get no mail of the organisation. */
  readonly suppressedAddresses: readonly string[];
  /** Addresses in lower case that must not get the mail any more. */
  readonly erasedAddresses: readonly string[];
  /** Whether the server accepted the mail for somebody in an earlier attempt. */
  readonly isPartlySent: boolean;
}

/** The end of an attempt, as it is stored. */
export interface AttemptEnd extends MailClaim {
  readonly state: Exclude<MailState, 'sending'>;
  readonly problem?: SmtpProblem | undefined;
  readonly nextAttemptAt?: Date | undefined;
  /** True when the outcome of this attempt is unknown. */
  readonly isUnknown?: boolean;
  /** False when the attempt was interrupted before it began. */
  readonly isCounted?: boolean;
  /** Left out when all recipients share the state of the mail. */
  readonly recipients?: readonly RecipientOutcome[];
}

/** A mail with its outcome, as far as there is one. */
export interface MailStatus {
  readonly id: string;
  readonly state: MailState;
  readonly digest: string | null;
  /** The recipients that do not simply share the state of the mail. */
  readonly recipients: readonly RecipientOutcome[];
  readonly problem: SmtpProblem | undefined;
}

/** Returns whether a mail is over: it is neither in the queue nor in progress. */
export const hasOutcome = <M extends { readonly state: MailState }>(
  mail: M,
): mail is M & { readonly state: Outcome['state'] } => mail.state !== 'queued' && mail.state !== 'sending';
