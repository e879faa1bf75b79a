import { connectors } from '@platform/events';
import { callInTurn, prepareCall } from '../../load/call.js';
import type { Fixture } from '../../runner/fixture.js';
import { defineMeasurement, median } from '../../runner/measurement.js';
import { SCHEDULES, insertDailySchedules } from './dataset.js';
import { createSite, startBacking, startSmall } from './environment.js';
import { openRawQueue } from './raw-queue.js';

/*
 * One administrator calls one route after the other over one connection. The service without schedules, the service with
 * 50,000 and BullMQ alone take turns, so that a slow phase of the machine affects all three.
 */
const TURNS = 5;
const ROUNDS = 80;
const WARM_UP_ROUNDS = 250;
/** Longer than the whole suite takes. */
const UNTIL_DUE_MS = 6 * 3_600_000;
export const base = '/api/v1/crawlingManager';
/** The measured schedule, and the organisation's others. */
const [measured = '', ...others] = connectors.slice(0, 5);

export const scheduleBody = {
  scheduleConfig: { scheduleType: 'daily', hour: 2, minute: 15, timezone: 'UTC' },
  metadata: { folder: 'all' },
};

const one = `${base}/${measured}`;
/** Called in this order. Pausing and resuming count as one action. */
const actions = {
  schedule: { path: `${one}/schedule`, body: scheduleBody, expected: 201 },
  status: { path: `${one}/schedule` },
  pause: { path: `${one}/pause`, method: 'POST' },
  resume: { path: `${one}/resume`, method: 'POST' },
  stats: { path: `${base}/stats` },
  list: { path: `${base}/schedule/all` },
  remove: { path: `${one}/schedule`, method: 'DELETE' },
} as const;
type Action = keyof typeof actions;
const names = Object.keys(actions) as Action[];

/** Inserts schedules that are not due during the measurements. */
async function startLarge(fixture: Fixture) {
  fixture.progress(`filling a database with ${SCHEDULES} schedules`);
  const site = await createSite(fixture, 'large');
  await insertDailySchedules(site.databaseUrl, Date.now() + UNTIL_DUE_MS, 0);
  return site.start();
}

async function prepareSite(url: string, bearer: string) {
  for (const connector of others) {
    const call = { path: `${base}/${connector}/schedule`, bearer, body: scheduleBody, expected: 201 };
    await callInTurn(url, [prepareCall(url, call)], () => false);
  }
  const prepare = () => names.map((action) => prepareCall(url, { ...actions[action], bearer }));
  const callRounds = async (calls: ReturnType<typeof prepare>, rounds: number) => {
    let left = rounds * names.length;
    await callInTurn(url, calls, () => (left -= 1) > 0);
  };
  await callRounds(prepare(), WARM_UP_ROUNDS);
  const calls = prepare();
  return {
    measure: () => callRounds(calls, ROUNDS),
    /** The median latency of an action, in milliseconds. */
    p50: (action: Action) => median(calls[names.indexOf(action)]?.latenciesMs ?? []),
  };
}

export const latencies = defineMeasurement({
  title: `requests one after the other, without and with ${SCHEDULES} schedules`,
  limitSeconds: 240,
  values: {
    schedule_vs_raw: { bar: { max: 5 }, note: 'p50 of a schedule / of upsertJobScheduler of BullMQ alone' },
    status_vs_raw: { bar: { max: 12 }, note: 'p50 of a status / of getJobScheduler of BullMQ alone' },
    growth_50k: { bar: { max: 1.2 }, note: 'p50 with 50,000 schedules / without, worst of seven requests' },
    raw_upsert: { unit: 'ms', note: 'p50 of upsertJobScheduler, BullMQ alone' },
    raw_get: { unit: 'ms', note: 'p50 of getJobScheduler, BullMQ alone' },
    schedule: { unit: 'ms', note: 'p50 of a schedule through HTTP' },
    status: { unit: 'ms', note: 'p50 of a status through HTTP' },
  },
  async run(fixture) {
    const { session } = (await fixture.share(startBacking)).identity;
    const large = await startLarge(fixture);
    const sites = {
      none: await prepareSite((await fixture.share(startSmall)).url, session),
      many: await prepareSite(large.url, session),
    };
    const raw = await openRawQueue(fixture);
    await raw.measure(WARM_UP_ROUNDS, { upsert: [], get: [] });
    const rawMs = { upsert: [], get: [] };
    for (let turn = 1; turn <= TURNS; turn += 1) {
      fixture.progress(`turn ${turn} of ${TURNS}`);
      await sites.none.measure();
      await sites.many.measure();
      await raw.measure(ROUNDS, rawMs);
    }
    const [upsert, get] = [median(rawMs.upsert), median(rawMs.get)];
    const [schedule, status] = [sites.none.p50('schedule'), sites.none.p50('status')];
    return {
      schedule_vs_raw: schedule / upsert,
      status_vs_raw: status / get,
      growth_50k: Math.max(...names.map((action) => sites.many.p50(action) / sites.none.p50(action))),
      raw_upsert: upsert,
      raw_get: get,
      schedule,
      status,
    };
  },
});
