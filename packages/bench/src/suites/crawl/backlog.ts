import { setTimeout as delay } from 'node:timers/promises';
import type { Fixture } from '../../runner/fixture.js';
import { defineMeasurement } from '../../runner/measurement.js';
import { insertDailySchedules, SCHEDULES } from './dataset.js';
import { createSite, waitUntil } from './environment.js';
import { readEvents } from './event-log.js';

/** The number of schedules that become due while the service is down. */
const DUE = 12_000;
const MINUTE_MS = 60_000;
const RUNS_TIMEOUT_MS = 90_000;
/** A run that happens a second time does so within this time. */
const SETTLE_MS = 2_000;
/** The rate is measured between these shares of the events, to leave out the start and the last stragglers. */
const [FROM, TO] = [0.1, 0.95];

/** @param seenAt - when each event was received. @returns how many a second. */
export function toRate(seenAt: Iterable<number>): number {
  const sorted = [...seenAt].toSorted((a, b) => a - b);
  const [first, last] = [Math.floor(sorted.length * FROM), Math.floor(sorted.length * TO)];
  return ((last - first) * 1_000) / ((sorted[last] ?? 0) - (sorted[first] ?? 0));
}

/** Inserts schedules some of which become due at once, as while the service is down. */
async function prepareSite(fixture: Fixture) {
  const site = await createSite(fixture, 'backlog');
  const dueAt = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
  fixture.progress(`${DUE} of ${SCHEDULES} schedules are due`);
  await insertDailySchedules(site.databaseUrl, dueAt, DUE);
  return site;
}

export const backlog = defineMeasurement({
  title: `a start while ${DUE} of ${SCHEDULES} schedules are due`,
  limitSeconds: 240,
  values: {
    restart_50k_seconds: { bar: { max: 10 }, unit: 's', note: 'until it is ready with 50,000 schedules' },
    runs_per_second: { bar: { min: 900 }, unit: '/s', note: 'due ticks, to their events on Kafka' },
    lost_runs: { bar: { max: 0 }, note: 'runs due while it was down that did not happen' },
    doubled_runs: { bar: { max: 0 }, note: 'runs that happened twice' },
    resident: { unit: 'MiB', note: 'peak memory of crawl with 50,000 schedules' },
  },
  async run(fixture) {
    const site = await prepareSite(fixture);
    const events = await readEvents(fixture, site);
    fixture.progress('starting');
    const startedAt = performance.now();
    const crawl = await site.start();
    const readySeconds = (performance.now() - startedAt) / 1_000;
    await waitUntil(() => events.schedules.size >= DUE, RUNS_TIMEOUT_MS);
    await delay(SETTLE_MS);
    return {
      restart_50k_seconds: readySeconds,
      runs_per_second: toRate(events.seenAt.values()),
      lost_runs: DUE - events.schedules.size,
      doubled_runs: events.seenAt.size - events.schedules.size,
      resident: await crawl.residentPeakMib(),
    };
  },
});
