import type { Clock, Logger } from '@platform/service-kit';
import type pg from 'pg';
import { Counter, Gauge, type Registry } from 'prom-client';
import { measureQueue } from './features/queue/queue.sql.js';

/** Counting stops here; a longer queue is reported as this many mails. */
const MAX_COUNT = 1_000;

/**
 * Registers the metrics of this service.
 *
 * @returns a callback that counts one mail by its outcome.
 */
export function registerMailMetrics(
  registry: Registry,
  sources: {
    readonly pools: { readonly size: number };
    readonly journal: { readonly backlog: number };
    readonly pool: pg.Pool;
    readonly clock: Clock;
    readonly log: Logger;
  },
): (state: string) => void {
  const settled = new Counter({
    name: 'platform_mails_settled_total',
    help: 'Mails by what became of them: sent, failed, unknown.',
    labelNames: ['state'],
    registers: [registry],
  });
  // Prometheus computes no rate from a series that first appears with its first mail, so each one starts at 0.
  for (const state of ['sent', 'failed', 'unknown']) settled.inc({ state }, 0);
  const pools = new Gauge({
    name: 'platform_smtp_pools',
    help: 'Organisations with a pool of SMTP connections.',
    registers: [],
    collect: () => {
      pools.set(sources.pools.size);
    },
  });
  const backlog = new Gauge({
    name: 'platform_mail_outcomes_waiting',
    help: 'Outcomes of mails that the database has not taken yet.',
    registers: [],
    collect: () => {
      backlog.set(sources.journal.backlog);
    },
  });
  const oldest = new Gauge({
    name: 'platform_mails_oldest_due_seconds',
    help: 'How long the longest waiting of the due mails has waited; 0 when none is due.',
    registers: [],
  });
  const due = new Gauge({
    name: 'platform_mails_due',
    help: `Queued mails that are due; ${MAX_COUNT} stands for that many or more.`,
    registers: [],
    /** Both are NaN when the database fails, so that a scrape still returns the other metrics. */
    async collect() {
      const { pool, clock, log } = sources;
      const measured = await measureQueue(pool, new Date(clock()), MAX_COUNT).catch((error: unknown) => {
        log.warn({ err: error }, 'Failed to measure the queue; its metrics are NaN');
        return { due: Number.NaN, oldestSeconds: Number.NaN };
      });
      due.set(measured.due);
      oldest.set(measured.oldestSeconds);
    },
  });
  registry.registerMetric(due);
  registry.registerMetric(oldest);
  registry.registerMetric(pools);
  registry.registerMetric(backlog);
  return (state) => {
    settled.inc({ state });
  };
}
