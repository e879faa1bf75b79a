import { connectors } from '@platform/events';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { missedRunPolicies } from '../domain/schedule-config.js';

/** Creates the service's own metrics. Their labels never grow with organisations. */
export function createCrawlMetrics(registry: Registry) {
  const registers = [registry];
  const metrics = {
    runs: new Counter({
      name: 'crawl_run_attempts_total',
      help: 'Attempts of runs, by outcome.',
      labelNames: ['connector', 'outcome'],
      registers,
    }),
    duration: new Histogram({
      name: 'crawl_run_attempt_seconds',
      help: 'Time from the claim of a run to the end of the attempt.',
      labelNames: ['outcome'],
      buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 600],
      registers,
    }),
    overdue: new Gauge({
      name: 'crawl_overdue_schedules',
      help: 'Schedules whose expected run had not started in time when they were last checked.',
      registers,
    }),
    missed: new Counter({
      name: 'crawl_missed_runs_total',
      help: 'Expected runs that were missed, and then replaced, or skipped by policy.',
      labelNames: ['connector', 'policy'],
      registers,
    }),
    repairs: new Counter({
      name: 'crawl_repairs_total',
      help: 'Repairs of entries that the queue had lost or should not have had.',
      labelNames: ['kind'],
      registers,
    }),
  };
  // A counter must exist before its first event: otherwise Prometheus sees no increase.
  for (const connector of connectors)
    for (const policy of missedRunPolicies) metrics.missed.inc({ connector, policy }, 0);
  for (const kind of ['missing_job', 'orphaned_scheduler', 'orphaned_run', 'lost_run', 'orphaned_task'])
    metrics.repairs.inc({ kind }, 0);
  return metrics;
}

/**
 * @param read - returns seconds. When it rejects, the gauge keeps its value. It is called when metrics are scraped,
 * once at a time.
 */
export function registerQueueAge(registry: Registry, read: () => Promise<number>): void {
  let reading: Promise<number> | undefined;
  const age = new Gauge({
    name: 'crawl_queue_oldest_age_seconds',
    help: 'How long the longest waiting run has been due without starting. The same on every replica.',
    registers: [registry],
    async collect() {
      reading ??= read().finally(() => (reading = undefined));
      const seconds = await reading.catch(() => undefined);
      if (seconds !== undefined) age.set(seconds);
    },
  });
}

/** @param ping - rejects while the queue is unavailable. */
export function registerQueueUp(registry: Registry, ping: () => Promise<unknown>): void {
  const up = new Gauge({
    name: 'crawl_queue_up',
    help: '1 while the queue answers, 0 while it does not: changes of schedules wait for it, and nothing runs.',
    registers: [registry],
    async collect() {
      // prettier-ignore
      up.set(await ping().then(() => 1, () => 0));
    },
  });
}

export type CrawlMetrics = ReturnType<typeof createCrawlMetrics>;
