import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** The service's own figures, beside those of every service. Labels never grow with organisations. */
export function createCrawlMetrics(registry: Registry) {
  const registers = [registry];
  return {
    runs: new Counter({
      name: 'crawl_run_attempts_total',
      help: 'Attempts of runs, by what came of them.',
      labelNames: ['connector', 'outcome'],
      registers,
    }),
    duration: new Histogram({
      name: 'crawl_run_attempt_seconds',
      help: 'Time from taking a run up to the end of the attempt.',
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
      help: 'Differences between the rows and the queue that were repaired.',
      labelNames: ['kind'],
      registers,
    }),
  };
}

export type CrawlMetrics = ReturnType<typeof createCrawlMetrics>;
