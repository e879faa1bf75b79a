import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connectors } from '@platform/events';
import { load } from '../../load/load.js';
import { defineMeasurement } from '../../runner/measurement.js';
import { insertDailySchedules } from '../crawl/dataset.js';
import { createSite, startBacking, waitUntil } from '../crawl/environment.js';
import { toRate } from '../crawl/backlog.js';
import { readEvents } from '../crawl/event-log.js';
import { base, scheduleBody } from '../crawl/latencies.js';
import { describeCosts, measureCosts, readStatementTimes } from './cost.js';
import { measureBackup, measureMibPerMillion, measureVacuum, sizes } from './upkeep.js';

const MINUTE_MS = 60_000;
/** Longer than the insertion of the schedules that are due takes. */
const LEAD_MS = { default: 20_000, full: 60_000 };
/** Longer than the suite takes. */
const UNTIL_OTHERS_MS = 6 * 3_600_000;
const SCHEDULED = 3_000;

/** @returns the processor time that Redis has used, in µs. */
function readRedisUs(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.end('INFO cpu\r\n'));
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.once('error', reject);
    socket.once('close', () => {
      const used = [...text.matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm)].map(([, seconds]) =>
        Number(seconds),
      );
      resolve(used.reduce((sum, seconds) => sum + seconds, 0) * 1e6);
    });
  });
}

export const schedules = defineMeasurement({
  title: 'schedules: what one and a run cost when many are due at once, and their upkeep',
  limitSeconds: 420,
  values: {
    schedules: { note: 'schedules' },
    schedules_mib: { unit: 'MiB', note: 'a million schedules with their indexes' },
    ...describeCosts('schedule', 'schedule through the API'),
    due: { note: 'schedules that are due in the same second' },
    ...describeCosts('run', 'run of a due schedule, to its event on Kafka'),
    run_redis_us: { unit: 'µs', note: 'processor time of Redis, for each run' },
    runs: { unit: '/s', note: 'due runs, to their events on Kafka' },
    last_due: { unit: 's', note: 'from the due time to the event of the last of them' },
    lock_due_ms: { unit: 'ms', note: 'the statement that finds due schedules; mean' },
    insert_ticks_ms: { unit: 'ms', note: 'the statement that makes their runs; mean' },
    position_us: {
      unit: 'µs',
      note: 'PostgreSQL gives an event its position, one at a time in an installation',
    },
    runs_mib: { unit: 'MiB', note: 'a million runs with their indexes' },
    events_mib: { unit: 'MiB', note: 'a million events with their indexes' },
    schedules_vacuum: { unit: 's', note: 'vacuum of the schedules after a hundredth was rewritten' },
    schedules_backup: { unit: 's', note: 'pg_dump -Fc of crawl' },
    schedules_backup_mib: { unit: 'MiB', note: 'its size' },
  },
  async run(fixture) {
    const { schedules: count, due } = sizes(fixture);
    const { identity } = await fixture.share(startBacking);
    const site = await createSite(fixture, 'scale');
    const { databaseUrl } = site;
    fixture.progress(`inserting ${count} schedules`);
    await insertDailySchedules(databaseUrl, Date.now() + UNTIL_OTHERS_MS, 0, count - due);
    const schedulesMib = await measureMibPerMillion(databaseUrl, ['schedules']);
    const crawl = await site.start();
    const events = await readEvents(fixture, site);

    const measured = { databaseUrl, server: crawl };
    const calls = connectors.map((connector) => ({
      path: `${base}/${connector}/schedule`,
      bearer: identity.session,
      body: scheduleBody,
      expected: 201,
    }));
    fixture.progress('schedules through the API');
    await load(crawl.url, calls, { requests: SCHEDULED }, 16);
    const scheduleCosts = await measureCosts(fixture, 'schedule', measured, async () => {
      await load(crawl.url, calls, { requests: SCHEDULED }, 16);
      return SCHEDULED;
    });

    const lead = fixture.isFull ? LEAD_MS.full : LEAD_MS.default;
    const dueAt = Math.ceil((Date.now() + lead) / MINUTE_MS) * MINUTE_MS;
    fixture.progress(`inserting ${due} schedules that are due at ${new Date(dueAt).toISOString()}`);
    await insertDailySchedules(databaseUrl, dueAt, due, due);
    if (Date.now() > dueAt) throw new Error('the schedules were due before all of them were inserted');
    await delay(dueAt - Date.now());
    fixture.progress('runs');
    const redisBefore = await readRedisUs(site.redis.port);
    const runCosts = await measureCosts(fixture, 'run', measured, async () => {
      const limitMs = due * 10;
      if (!(await waitUntil(() => events.schedules.size >= due, limitMs)))
        throw new Error(
          `${events.schedules.size} of ${due} runs have their events after ${limitMs / 1_000} s`,
        );
      return due;
    });
    const redisUs = (await readRedisUs(site.redis.port)) - redisBefore;
    const position = await readStatementTimes(databaseUrl, 'outbox.assign_positions($1)');
    return {
      schedules: count,
      schedules_mib: schedulesMib,
      ...scheduleCosts,
      due,
      ...runCosts,
      run_redis_us: redisUs / due,
      runs: toRate(events.seenAt.values()),
      last_due: (Math.max(...events.seenAt.values()) - dueAt) / 1_000,
      lock_due_ms: (await readStatementTimes(databaseUrl, 's.next_run_at <= $1 and ($3')).meanMs,
      insert_ticks_ms: (await readStatementTimes(databaseUrl, 'insert into runs (id')).meanMs,
      position_us: (position.totalMs * 1_000) / due,
      runs_mib: await measureMibPerMillion(databaseUrl, ['runs']),
      events_mib: await measureMibPerMillion(databaseUrl, ['outbox.events']),
      schedules_vacuum: await measureVacuum(fixture, databaseUrl, 'schedules', 'priority'),
      ...(await measureBackup(fixture, databaseUrl).then(({ seconds, mib }) => ({
        schedules_backup: seconds,
        schedules_backup_mib: mib,
      }))),
    };
  },
});
