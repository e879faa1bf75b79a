/** Who acts, and from where, as far as the request says. */
export interface Actor {
  readonly actorId: string;
  readonly credential: { readonly kind: string; readonly id: string };
  readonly address: string;
  readonly userAgent: string | null;
  readonly requestId: string | null;
}

/** The names of what the audit records of this service. */
export const acts = [
  'crawl_schedule.saved',
  'crawl_schedule.removed',
  'crawl_schedule.paused',
  'crawl_schedule.resumed',
  'crawl_run.requested',
  'crawl_run.cancelled',
  'crawl_checkpoint.reset',
  'crawl_instance.saved',
  'crawl_instance.removed',
  'crawl_endpoint.created',
  'crawl_endpoint.secret_rotated',
  'crawl_endpoint.removed',
  'crawl_hook.created',
  'crawl_hook.secret_rotated',
  'crawl_hook.removed',
  'crawl_worker.connected',
] as const;
export type ActName = (typeof acts)[number];

/** An act of somebody. What the database knows about its subject, such as the connector, is added to the detail. */
export interface Act {
  readonly actor: Actor;
  readonly at: Date;
  readonly detail?: Readonly<Record<string, string | number | readonly number[] | null>>;
}
