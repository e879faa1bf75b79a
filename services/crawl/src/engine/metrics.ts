import { connectors } from '@platform/events';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { missedRunPolicies } from '../domain/schedule-config.js';

/** The service's own figures, beside those of every service. Labels never grow with organisations. */
export function createCrawlMetrics(registry: Registry) {
  const registers = [registry];
  const metrics = {
    runs: new Counter({
      name: 'crawl_run_attempts_total',
      help: 'Attempts of runs, by what came of them.',
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
      help: 'Schedules whose expected run has not started in time, at the last look.',
      registers,
    }),
    missed: new Counter({
      name: 'crawl_missed_runs_total',
      help: 'Expected runs that did not happen, found and made up for, or skipped by policy.',
      labelNames: ['connector', 'policy'],
      registers,
    }),
    repairs: new Counter({
      name: 'crawl_repairs_total',
      help: 'What the queue had lost, or should not have had, and was repaired.',
      labelNames: ['kind'],
      registers,
    }),
  };
  // A counter that begins with its first event has no increase to tell of it.
  for (const connector of connectors)
    for (const policy of missedRunPolicies) metrics.missed.inc({ connector, policy }, 0);
  for (const kind of ['missing_job', 'orphaned_scheduler', 'orphaned_run', 'lost_run', 'orphaned_task'])
    metrics.repairs.inc({ kind }, 0);
  return metrics;
}

/** @param read - seconds; a rejection leaves what was read last. It is called when the metrics are, once at a time. */
export function registerQueueAge(registry: Registry, read: () => Promise<number>): void {
  let reading: Promise<number> | undefined;
  const age = new Gauge({
    name: 'crawl_queue_oldest_age_seconds',
    help: 'How long the run that waits longest is due and not started. The same on every replica.',
    registers: [registry],
    async collect() {
      reading ??= read().finally(() => (reading = undefined));
      const seconds = await reading.catch(() => undefined);
      if (seconds !== undefined) age.set(seconds);
    },
  });
}

/** @param ping - rejects while the queue is away. */
export function registerQueueUp(registry: Registry, ping: () => Promise<unknown>): void {
  const up = new Gauge({
    name: 'crawl_queue_up',
    help: '1 while the queue answers, 0 while it does not: changes of schedules wait for it, and nothing runs.',
    registers: [registry],
    async collect() {
      up.set(await ping().then(() => 1, () => 0)); // prettier-ignore
    },
  });
}

export type CrawlMetrics = ReturnType<typeof createCrawlMetrics>;
