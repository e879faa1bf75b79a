import { measureGrowth } from '../../load/growth.js';
import { defineMeasurement } from '../../runner/measurement.js';
import { insertMinutelySchedules, SCHEDULES } from './dataset.js';
import { createSite, waitUntil } from './environment.js';
import { readEvents } from './event-log.js';

const WARM_UP_RUNS = 50_000;
const RUNS = 200_000;

export const memory = defineMeasurement({
  title: `memory over ${RUNS} runs`,
  limitSeconds: 900,
  isLong: true,
  values: {
    memory_200k: { bar: { max: 1.1 }, note: 'memory after / before 200,000 runs' },
  },
  async run(fixture) {
    const site = await createSite(fixture, 'memory');
    // More than the service can run in a minute, so that it is never idle.
    await insertMinutelySchedules(site.databaseUrl, SCHEDULES, 0);
    const events = await readEvents(fixture, site);
    const crawl = await site.start();
    let runs = WARM_UP_RUNS;
    const waitForRuns = () => waitUntil(() => events.seenAt.size >= runs, Infinity);
    await waitForRuns();
    const { early, late } = await measureGrowth(fixture, crawl, (steps) => {
      runs += RUNS / steps;
      return waitForRuns();
    });
    return { memory_200k: late / early };
  },
});
