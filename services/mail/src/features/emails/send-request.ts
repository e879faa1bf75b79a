import type { SmtpConfiguration } from '../smtp-configuration/configuration.js';
import type { EmailContent } from './schemas.js';

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
   * The time at which to respond with 202 and continue in the background; undefined when the client waits for the
   * outcome.
   */
  readonly acceptAt: number | undefined;
}

export interface SendRequest {
  readonly orgId: string;
  readonly configuration: SmtpConfiguration;
  /** Selects a pool of connections other than the organisation's own. */
  readonly poolKey?: string;
  readonly body: EmailContent;
  readonly idempotency?: Idempotency | undefined;
  readonly deadlines: ResponseDeadlines;
  /** False for the platform's own services, which retry their mails themselves. */
  readonly canResend: boolean;
  /** The mail that this one resends. */
  readonly originalMailId?: string;
}
