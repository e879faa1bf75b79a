import { setTimeout as delay } from 'node:timers/promises';
import { defineMeasurement, median, percentile } from '../../runner/measurement.js';
import { execute } from '../../servers/service.js';
import { insertMinutelySchedules } from './dataset.js';
import { createSite } from './environment.js';
import { readEvents } from './event-log.js';

/** Spread over the minute by their jitter, so that mostly one run is in progress at a time. */
const SCHEDULES = 360;
const JITTER_MS = 60_000;
/** The first runs are slower, until V8 has compiled the hot code. */
const WARM_UP_MS = 8_000;
const MEASURED_MS = 30_000;

export const ticks = defineMeasurement({
  title: 'ticks of single schedules',
  limitSeconds: 180,
  values: {
    tick_to_event_p99_ms: {
      bar: { max: 120 },
      unit: 'ms',
      note: 'p99 from the scheduled time to the event at a Kafka consumer',
    },
    tick_to_event: { unit: 'ms', note: 'p50 of the same' },
  },
  async run(fixture) {
    const site = await createSite(fixture, 'ticks');
    await insertMinutelySchedules(site.databaseUrl, SCHEDULES, JITTER_MS);
    const events = await readEvents(fixture, site);
    await site.start();
    await delay(WARM_UP_MS);
    const from = new Date();
    await delay(MEASURED_MS);
    const ended = await execute(site.databaseUrl, [
      `select event_id as id, scheduled_for as at from runs
       where state = 'completed' and trigger = 'schedule' and scheduled_for > $1`,
      [from],
    ]);
    const tookMs = ((ended?.rows ?? []) as { id: string; at: Date }[]).flatMap(({ id, at }) => {
      const seenAt = events.seenAt.get(id);
      return seenAt === undefined ? [] : [seenAt - at.getTime()];
    });
    return { tick_to_event_p99_ms: percentile(tookMs, 0.99), tick_to_event: median(tookMs) };
  },
});
