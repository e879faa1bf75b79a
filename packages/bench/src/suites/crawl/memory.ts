import { setTimeout as delay } from 'node:timers/promises';
import type { Kafka } from 'kafkajs';
import type { SuiteOptions, SuiteResult } from '../../suite.js';
import { insertMinutelySchedules, readMetric } from './dataset.js';
import { readEvents } from './event-log.js';
import type { Site } from './environment.js';

/** More than the service can run in a minute, so that it is never idle. */
const SCHEDULES = 50_000;
const WARM_UP_RUNS = 50_000;
const RUNS = 200_000;
const SAMPLE_MS = 1_000;
/** The smallest of this many samples is close to the heap after a garbage collection. */
const WINDOW = 30;

interface Sample {
  readonly residentMib: number;
  readonly heapMib: number;
}

const least = (samples: readonly Sample[], what: keyof Sample): number =>
  Math.min(...samples.map((sample) => sample[what]));

/** Measures resident memory and live heap over 200,000 runs, after 50,000 to warm up. Takes about six minutes. */
export async function measureMemory(
  site: Site,
  kafka: Kafka,
  progress: SuiteOptions['progress'],
): Promise<SuiteResult> {
  await insertMinutelySchedules(site.databaseUrl, { count: SCHEDULES, jitterMs: 0 });
  const events = await readEvents(kafka, site.topic);
  const crawl = await site.start();
  const samples: Sample[] = [];
  const sampleUntil = async (runs: number) => {
    while (events.seenAt.size < runs || samples.length < WINDOW) {
      samples.push({
        residentMib: await crawl.residentMib(),
        heapMib: (await readMetric(crawl.url, 'nodejs_heap_size_used_bytes')) / 2 ** 20,
      });
      await delay(SAMPLE_MS);
    }
    progress(`${events.seenAt.size} runs, ${least(samples.slice(-WINDOW), 'residentMib').toFixed(1)} MiB`);
    return samples.slice(-WINDOW);
  };
  try {
    const before = await sampleUntil(WARM_UP_RUNS);
    for (let runs = 2 * WARM_UP_RUNS; runs < WARM_UP_RUNS + RUNS; runs += WARM_UP_RUNS)
      await sampleUntil(runs);
    const after = await sampleUntil(WARM_UP_RUNS + RUNS);
    // prettier-ignore
    const growth = (name: string, what: keyof Sample, note: string) => ({
      name, value: least(after, what) - least(before, what), unit: 'MiB', note: `growth over ${RUNS} runs, ${note}`,
    });
    return {
      figures: [
        growth('resident_growth', 'residentMib', 'resident'),
        growth('heap_growth', 'heapMib', 'heap in use after collections'),
        { name: 'resident', value: least(after, 'residentMib'), unit: 'MiB', note: 'after all runs' },
      ],
      ratios: [],
    };
  } finally {
    await crawl.stop();
    await events.stop();
  }
}
