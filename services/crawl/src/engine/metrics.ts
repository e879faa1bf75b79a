import { connectors } from '@platform/events';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Backlog } from '../db/dispatch.js';
import { missedRunPolicies } from '../domain/schedule-config.js';

/** Creates the service's own metrics. Their labels never grow with organisations. */
export function createCrawlMetrics(registry: Registry) {
  const registers = [registry];
  const metrics = {
    runs: new Counter({
      name: 'platform_crawl_run_attempts_total',
      help: 'Attempts of runs, by outcome.',
      labelNames: ['connector', 'outcome'],
      registers,
    }),
    duration: new Histogram({
      name: 'platform_crawl_run_attempt_seconds',
      help: 'Time from the claim of a run to the end of the attempt.',
      labelNames: ['outcome'],
      buckets: [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 600],
      registers,
    }),
    missed: new Counter({
      name: 'platform_crawl_missed_runs_total',
      help: 'Runs that were not made in time: they are late, or skipped by policy.',
      labelNames: ['connector', 'policy'],
      registers,
    }),
    repairs: new Counter({
      name: 'platform_crawl_repairs_total',
      help: 'Runs whose worker was lost and that wait for another one, and cancelled tasks.',
      labelNames: ['kind'],
      registers,
    }),
  };
  // A counter must exist before its first event: otherwise Prometheus sees no increase.
  for (const connector of connectors)
    for (const policy of missedRunPolicies) metrics.missed.inc({ connector, policy }, 0);
  for (const kind of ['lost_run', 'cancelled_task']) metrics.repairs.inc({ kind }, 0);
  return metrics;
}

/**
 * @param read - when it rejects, the gauges keep their values. It is called when metrics are scraped, once at a time.
 */
export function registerBacklog(registry: Registry, read: () => Promise<Backlog>): void {
  let reading: Promise<Backlog> | undefined;
  const readOnce = (): Promise<Backlog | undefined> => {
    reading ??= read().finally(() => (reading = undefined));
    return reading.catch(() => undefined);
  };
  const registers = [registry];
  const age = new Gauge({
    name: 'platform_crawl_queue_oldest_age_seconds',
    help: 'How long the longest waiting run has been due without starting. The same on every replica.',
    registers,
    async collect() {
      const backlog = await readOnce();
      if (backlog) age.set(backlog.oldestAgeSeconds);
    },
  });
  const failing = new Gauge({
    name: 'platform_crawl_failing_connectors',
    help: 'Connectors of organisations whose last runs have failed, FAILING_AFTER or more in a row. The same on every replica.',
    registers,
    async collect() {
      const backlog = await readOnce();
      if (backlog) failing.set(backlog.failing);
    },
  });
  const overdue = new Gauge({
    name: 'platform_crawl_overdue_schedules',
    help: 'Runs of schedules that have not started in time, counted up to a thousand of each connector type. The same on every replica.',
    registers,
    async collect() {
      const backlog = await readOnce();
      if (backlog) overdue.set(backlog.overdue);
    },
  });
}

/** @param probe - rejects while the queue takes no jobs. */
export function registerQueueUp(registry: Registry, probe: () => Promise<unknown>): void {
  const up = new Gauge({
    name: 'platform_crawl_queue_up',
    help: '1 while the queue takes jobs, 0 while it does not: nothing runs.',
    registers: [registry],
    async collect() {
      // oxfmt-ignore
      up.set(await probe().then(() => 1, () => 0));
    },
  });
}

export type CrawlMetrics = ReturnType<typeof createCrawlMetrics>;
