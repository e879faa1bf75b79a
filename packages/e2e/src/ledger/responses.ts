/** The responses that the callers of the workload received. */
export interface Responses {
  readonly tokens: TokenResponse[];
  readonly mails: MailResponse[];
  readonly runs: RunResponse[];
  /** Connectors that run every minute, and since when. */
  readonly everyMinute: { readonly connectors: readonly string[]; since: number };
}

export interface TokenResponse {
  readonly name: string;
  created: number;
  id?: string;
  /** The status of the last try to revoke it. */
  revoked?: number;
}

export interface MailResponse {
  readonly subject: string;
  /** The status of the last try; all tries have the same idempotency key. */
  status: number;
  code?: string | undefined;
}

export interface RunResponse {
  readonly connector: string;
  readonly status: number;
  readonly runId: string | undefined;
}

/** What is stored, was sent and was published in the end. */
export interface Found {
  readonly tokens: readonly FoundToken[];
  /** The subjects of the mails that the SMTP server took. */
  readonly subjects: readonly string[];
  readonly mails: readonly { readonly subject: string; readonly state: string }[];
  readonly runs: readonly FoundRun[];
  /** The events feed, in its order. */
  readonly feed: readonly FoundEvent[];
  /** Kafka's topic, in the order of each key; a copy of an event has the same id. */
  readonly topic: readonly FoundEvent[];
  readonly until: number;
}

export interface FoundToken {
  readonly id: string;
  readonly name: string;
  readonly isRevoked: boolean;
  /** Entries of the audit. */
  readonly creations: number;
  readonly revocations: number;
}

export interface FoundRun {
  readonly runId: string;
  readonly connector: string;
  readonly trigger: string;
  readonly outcome: string;
  readonly scheduledFor: string;
  readonly eventId: string | null;
}

export interface FoundEvent {
  readonly eventId: string;
  /** The events of a key have an order: those of a connector's instance. */
  readonly key: string;
}
