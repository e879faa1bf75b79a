import { setTimeout as delay } from 'node:timers/promises';
import type { Kafka } from 'kafkajs';
import pg from 'pg';
import { median, percentile, type SuiteResult } from '../../suite.js';
import { insertMinutelySchedules, waitForJobs } from './dataset.js';
import { readEvents } from './event-log.js';
import type { Site } from './environment.js';

/** Spread over the minute by their jitter, so that mostly one run is in progress at a time. */
const SCHEDULES = 360;
const JITTER_MS = 60_000;
/** The first runs are slower, until V8 has compiled the hot code. */
const WARM_UP_MS = 8_000;
const MEASURED_MS = 30_000;

/** Reads the scheduled time of each tick, in milliseconds since the epoch, by event id. */
async function readTicks(databaseUrl: string): Promise<Map<string, number>> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ event_id: string; scheduled_for: Date }>(
      `select event_id, scheduled_for from runs where state = 'completed' and trigger = 'schedule'`,
    );
    return new Map(rows.map(({ event_id: id, scheduled_for: at }) => [id, at.getTime()]));
  } finally {
    await client.end();
  }
}

/** Measures the time from a scheduled tick until a consumer receives its event. */
export async function measureTicks(site: Site, kafka: Kafka): Promise<SuiteResult> {
  await insertMinutelySchedules(site.databaseUrl, { count: SCHEDULES, jitterMs: JITTER_MS });
  const events = await readEvents(kafka, site.topic);
  const crawl = await site.start();
  try {
    await waitForJobs(crawl.url, SCHEDULES);
    await delay(WARM_UP_MS);
    const from = Date.now();
    await delay(MEASURED_MS);
    const tookMs = [...(await readTicks(site.databaseUrl))].flatMap(([id, at]) => {
      const seenAt = events.seenAt.get(id);
      return seenAt !== undefined && at > from ? [seenAt - at] : [];
    });
    return {
      figures: [
        { name: 'tick_to_event', value: median(tookMs), unit: 'ms', note: `p50 of ${tookMs.length} runs` },
      ],
      ratios: [
        {
          name: 'tick_to_event_p99_ms',
          value: percentile(tookMs, 0.99),
          goal: { max: 250 },
          note: 'milliseconds from the scheduled time to the event at a Kafka consumer',
        },
      ],
    };
  } finally {
    await crawl.stop();
    await events.stop();
  }
}
