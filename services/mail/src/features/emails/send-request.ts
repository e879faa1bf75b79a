import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';
import type { EmailContent, SmtpSnapshot } from './schemas.js';

/** An idempotency key with the SHA-256 of the raw body. */
export interface Idempotency {
  readonly key: string;
  readonly digest: string;
}

/** The points in time by which a request must be answered, in milliseconds of `performance.now()`. */
export interface ResponseDeadlines {
  /** The time at which the outcome must be known. A delivery that a client waits for is aborted then. */
  readonly deadlineAt: number;
  /**
   * The time at which to respond with 202, while the mail stays in the queue; undefined when the client waits for the
   * outcome.
   */
  readonly acceptAt: number | undefined;
}

export interface SendRequest {
  readonly orgId: string;
  readonly configuration: SmtpConfiguration;
  /** Set when the mail is sent through another server than the organisation's own. */
  readonly smtp?: SmtpSnapshot | undefined;
  readonly body: EmailContent;
  readonly idempotency?: Idempotency | undefined;
  readonly deadlines: ResponseDeadlines;
  /** The account that sends the mail; undefined for the platform, and for a mail that is sent again. */
  readonly senderId?: string;
  /** Whether one of the platform's own services sends the mail. */
  readonly isFromService: boolean;
  /** The time at which the mail is no longer worth sending, in epoch ms. */
  readonly expiresAt?: number | undefined;
  /** The mail that this one resends. */
  readonly originalMailId?: string;
}

/** Returns the key of the connections that a mail uses. */
export const toPoolKey = (orgId: string, smtp: SmtpSnapshot | undefined): string =>
  smtp ? `${orgId} ${smtp.host}:${smtp.port}` : orgId;
