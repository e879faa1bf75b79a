import { setTimeout as delay } from 'node:timers/promises';
import type { SuiteOptions, SuiteResult } from '../../suite.js';
import { DUE, insertDailySchedules, SCHEDULES, waitForJobs } from './dataset.js';
import { readEvents } from './event-log.js';
import { measureRawRuns } from './raw.js';
import type { Backing } from './environment.js';

/*
 * The service is down while 12,000 of its 50,000 schedules become due, and is then restarted. Measures how soon it is
 * ready, whether each of them runs exactly once, and how fast.
 */
const MINUTE_MS = 60_000;
const DOWN_MS = 1_000;
const RUNS_TIMEOUT_MS = 90_000;
/** The rate is measured between these shares of the events, to leave out the start and the last stragglers. */
const [FROM, TO] = [0.1, 0.95];

function toRate(seenAt: readonly number[]): number {
  const sorted = seenAt.toSorted((a, b) => a - b);
  const [first, last] = [Math.floor(sorted.length * FROM), Math.floor(sorted.length * TO)];
  return ((last - first) * 1_000) / ((sorted[last] ?? 0) - (sorted[first] ?? 0));
}

/**
 * Inserts schedules, lets the service create their jobs, and stops it before some of them are due. If that takes longer
 * than planned, it starts over with twice the time.
 */
async function prepareSite(backing: Backing, progress: SuiteOptions['progress']) {
  for (let allowanceMs = 60_000; ; allowanceMs *= 2) {
    progress(
      `filling a database with ${SCHEDULES} schedules, ${DUE} of them due in ${allowanceMs / 1_000} s or more`,
    );
    const site = await backing.createSite(`backlog_${allowanceMs}`);
    const dueAt = Math.ceil((Date.now() + allowanceMs) / MINUTE_MS) * MINUTE_MS;
    await insertDailySchedules(site.databaseUrl, dueAt);
    const service = await site.start();
    await waitForJobs(service.url, SCHEDULES);
    await service.stop();
    if (Date.now() < dueAt) return { site, dueAt };
  }
}

export async function measureBacklog(
  backing: Backing,
  progress: SuiteOptions['progress'],
): Promise<SuiteResult> {
  const { site, dueAt } = await prepareSite(backing, progress);
  progress('a restart while schedules are due, and their runs');
  const events = await readEvents(backing.kafka, site.topic);
  try {
    await delay(dueAt + DOWN_MS - Date.now());
    const startedAt = performance.now();
    const crawl = await site.start();
    const readySeconds = (performance.now() - startedAt) / 1_000;
    await events.waitFor(DUE, RUNS_TIMEOUT_MS).catch(() => undefined);
    const residentMib = await crawl.residentPeakMib();
    await crawl.stop();
    const missed = DUE - events.keys.size;
    const doubled = events.seenAt.size - events.keys.size;
    const rate = toRate([...events.seenAt.values()]);
    const raw = await measureRawRuns(backing.redis, DUE);
    return {
      figures: [
        { name: 'missed', value: missed, unit: 'runs', note: `of ${DUE} due while it was down; must be 0` },
        { name: 'doubled', value: doubled, unit: 'runs', note: 'runs that happened twice; must be 0' },
        { name: 'resident', value: residentMib, unit: 'MiB', note: `peak of crawl, ${SCHEDULES} schedules` },
        { name: 'raw_runs', value: raw, unit: 'jobs/s', note: 'BullMQ alone, empty jobs' },
      ],
      ratios: [
        {
          name: 'restart_50k_seconds',
          value: readySeconds,
          goal: { max: 10 },
          note: `seconds until ready with ${SCHEDULES} schedules`,
        },
        {
          name: 'runs_per_second',
          value: rate,
          goal: { min: 500 },
          note: 'ticks of recurring schedules, to their events on Kafka',
        },
        { name: 'runs_vs_raw_bullmq', value: rate / raw, note: 'runs_per_second / raw_runs' },
      ],
    };
  } finally {
    await events.stop();
  }
}
