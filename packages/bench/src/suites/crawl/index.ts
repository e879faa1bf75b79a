import type { Suite, SuiteOptions, SuiteResult } from '../../suite.js';
import { measureBacklog } from './backlog.js';
import { insertDailySchedules, SCHEDULES, waitForJobs } from './dataset.js';
import { measureLatencies } from './latencies.js';
import { measureMemory } from './memory.js';
import { measureRates } from './rates.js';
import { openRawQueue } from './raw.js';
import { type Backing, startBacking } from './environment.js';
import { measureTicks } from './ticks.js';

/** Longer than the whole suite takes. */
const UNTIL_DUE_MS = 6 * 3_600_000;

const parts = {
  latencies: ['schedule_vs_raw', 'status_vs_raw', 'growth_50k'],
  rates: ['schedule_rate_vs_raw'],
  ticks: ['tick_to_event_p99_ms'],
  backlog: ['restart_50k_seconds', 'runs_per_second', 'runs_vs_raw_bullmq'],
} as const;
/** Takes minutes, so it is measured only when named with `--only`. */
const MEMORY = 'memory_200k';

type Part = keyof typeof parts;

/** Inserts schedules that are not due during the measurements, and lets the service create their jobs. */
async function startLarge(backing: Backing, progress: SuiteOptions['progress']) {
  const site = await backing.createSite('large');
  progress(`filling a database with ${SCHEDULES} schedules, and its queue`);
  await insertDailySchedules(site.databaseUrl, Date.now() + UNTIL_DUE_MS);
  const service = await site.start();
  const seconds = await waitForJobs(service.url, SCHEDULES);
  const figure = {
    name: 'rebuild',
    value: seconds,
    unit: 's',
    note: 'all jobs created again in an empty queue',
  };
  return { service, figure };
}

async function* measureServices(
  backing: Backing,
  options: SuiteOptions,
  isWanted: (part: Part) => boolean,
): AsyncGenerator<SuiteResult> {
  const { only, progress, seconds } = options;
  const { session, createOrganisation, redis } = backing;
  const isGrowthWanted = only.size === 0 || only.has('growth_50k');
  const large = isGrowthWanted ? await startLarge(backing, progress) : undefined;
  const service = await (await backing.createSite('small')).start();
  const raw = openRawQueue(redis);
  try {
    if (large) yield { figures: [large.figure], ratios: [] };
    if (isWanted('latencies')) {
      progress('latencies: schedule, status, pause, resume, stats, list, remove');
      const urls = { none: service.url, many: large?.service.url };
      yield await measureLatencies({ urls, session, raw });
    }
    if (isWanted('rates')) {
      progress('16 callers');
      const short = Math.min(seconds, 3);
      yield await measureRates({ url: service.url, createOrganisation, raw, seconds: short });
    }
  } finally {
    await raw.close();
    await service.stop();
    await large?.service.stop();
  }
}

async function* run(options: SuiteOptions): AsyncGenerator<SuiteResult> {
  const { only, progress } = options;
  const isWanted = (part: Part) => only.size === 0 || parts[part].some((name) => only.has(name));
  progress('starting PostgreSQL, Redis, Kafka and identity');
  const backing = await startBacking();
  try {
    if (isWanted('latencies') || isWanted('rates')) yield* measureServices(backing, options, isWanted);
    if (isWanted('ticks')) {
      progress('ticks of single schedules');
      yield await measureTicks(await backing.createSite('ticks'), backing.kafka);
    }
    if (isWanted('backlog')) yield await measureBacklog(backing, progress);
    if (only.has(MEMORY)) {
      progress('memory');
      yield await measureMemory(await backing.createSite('memory'), backing.kafka, progress);
    }
  } finally {
    await backing.stop();
  }
}

export const crawlSuite: Suite = {
  name: 'crawl',
  title: 'schedules, runs and their events, against BullMQ alone (memory_200k only when named)',
  parts: [...Object.values(parts).flat(), MEMORY],
  isUnpinned: true,
  run,
};
