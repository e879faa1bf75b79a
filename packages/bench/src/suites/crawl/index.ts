import type { Suite, SuiteOptions, SuiteResult } from '../../suite.js';
import { measureBacklog } from './backlog.js';
import { insertDailySchedules, SCHEDULES, waitForJobs } from './dataset.js';
import { measureLatencies } from './latencies.js';
import { measureMemory } from './memory.js';
import { measureRates } from './rates.js';
import { openRawQueue } from './raw.js';
import { type Backing, startBacking } from './setting.js';
import { measureTicks } from './ticks.js';

const MINUTE_MS = 60_000;
const TICKS_MS = 45_000;
/** How long each may take; what is left over goes to the ticks. */
const BUILD_MS = 35_000;
const LATENCIES_MS = 28_000;
const RATES_MS = 35_000;
const STOP_MS = 5_000;

const parts = {
  latencies: ['schedule_vs_raw', 'status_vs_raw', 'growth_50k'],
  rates: ['schedule_rate_vs_raw'],
  ticks: ['tick_to_event_p99_ms'],
  backlog: ['restart_50k_seconds', 'runs_per_second', 'runs_vs_raw_bullmq'],
} as const;
/** Measured only when named: it takes minutes. */
const MEMORY = 'memory_200k';

type Part = keyof typeof parts;

/** The first full minute that leaves enough time for what is measured before it. */
function chooseDueTime(isWanted: (part: Part) => boolean): number {
  const before =
    BUILD_MS +
    (isWanted('latencies') ? LATENCIES_MS : 0) +
    (isWanted('rates') ? RATES_MS : 0) +
    (isWanted('ticks') ? TICKS_MS : 0);
  return Math.ceil((Date.now() + before) / MINUTE_MS) * MINUTE_MS;
}

async function startLarge(backing: Backing, dueAt: number, progress: SuiteOptions['progress']) {
  const site = await backing.createSite('large');
  progress(`filling a database with ${SCHEDULES} schedules, and its queue`);
  await insertDailySchedules(site.databaseUrl, dueAt);
  const service = await site.start();
  const seconds = await waitForJobs(service.url, SCHEDULES);
  const figure = { name: 'rebuild', value: seconds, unit: 's', note: 'all jobs made anew, queue empty' };
  return { site, service, figure };
}

async function measureServices(
  backing: Backing,
  options: SuiteOptions,
  given: { readonly isWanted: (part: Part) => boolean; readonly urlOfMany: string | undefined },
): Promise<SuiteResult[]> {
  const { progress, seconds } = options;
  const { session, createOrganisation, redis } = backing;
  const service = await (await backing.createSite('small')).start();
  const raw = openRawQueue(redis);
  const results: SuiteResult[] = [];
  try {
    if (given.isWanted('latencies')) {
      progress('latencies: schedule, status, pause, resume, stats, list, remove');
      const urls = { none: service.url, many: given.urlOfMany };
      results.push(await measureLatencies({ urls, session, raw }));
    }
    if (given.isWanted('rates')) {
      progress('16 callers');
      const short = Math.min(seconds, 3);
      results.push(await measureRates({ url: service.url, createOrganisation, raw, seconds: short }));
    }
    return results;
  } finally {
    await raw.close();
    await service.stop();
  }
}

async function measureAll(backing: Backing, options: SuiteOptions): Promise<SuiteResult[]> {
  const { only, progress } = options;
  const isWanted = (part: Part) => only.size === 0 || parts[part].some((name) => only.has(name));
  const results: SuiteResult[] = [];
  const isGrowthWanted = only.size === 0 || only.has('growth_50k');
  const dueAt = chooseDueTime(isWanted);
  const large =
    isGrowthWanted || isWanted('backlog') ? await startLarge(backing, dueAt, progress) : undefined;
  if (large) results.push({ figures: [large.figure], ratios: [] });
  try {
    if (isWanted('latencies') || isWanted('rates')) {
      const urlOfMany = isGrowthWanted ? large?.service.url : undefined;
      results.push(...(await measureServices(backing, options, { isWanted, urlOfMany })));
    }
  } finally {
    await large?.service.stop();
  }
  if (isWanted('ticks')) {
    progress('ticks of single schedules');
    const endsAt = isWanted('backlog') ? dueAt - STOP_MS : Date.now() + TICKS_MS;
    results.push(await measureTicks(await backing.createSite('ticks'), backing.kafka, endsAt));
  }
  if (large && isWanted('backlog')) {
    progress('a restart while schedules are due, and their runs');
    results.push(await measureBacklog(large.site, backing, dueAt));
  }
  if (only.has(MEMORY)) {
    progress('memory');
    results.push(await measureMemory(await backing.createSite('memory'), backing.kafka, progress));
  }
  return results;
}

async function run(options: SuiteOptions): Promise<SuiteResult> {
  options.progress('starting PostgreSQL, Redis, Kafka and identity');
  const backing = await startBacking();
  try {
    const results = await measureAll(backing, options);
    return {
      figures: results.flatMap(({ figures }) => figures),
      ratios: results.flatMap(({ ratios }) => ratios),
    };
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
