import { connectors } from '@platform/events';
import { callInTurn, type PreparedCall, prepareCall } from '../../call.js';
import { type Figure, median, type Ratio, type SuiteResult } from '../../suite.js';
import type { RawQueue } from './raw.js';

/*
 * One administrator calls one route after the other over one connection. The service without schedules, the service with
 * 50,000 and BullMQ alone take turns, so that a slow phase of the machine affects all three.
 */
const TURNS = 5;
const ROUNDS = 80;
const WARM_UP_ROUNDS = 250;
const base = '/api/v1/crawlingManager';
/** The organisation's other schedules. */
const others = connectors.slice(1, 5);
const measured = connectors[0] ?? '';

export const scheduleBody = {
  scheduleConfig: { scheduleType: 'daily', hour: 2, minute: 15, timezone: 'UTC' },
  metadata: { folder: 'all' },
};

const actions = ['schedule', 'status', 'pause', 'resume', 'stats', 'list', 'remove'] as const;
type Calls = Record<(typeof actions)[number], PreparedCall>;

function prepareCalls(url: URL, bearer: string): Calls {
  const one = `${base}/${measured}`;
  const prepare = (method: string, path: string) => prepareCall(url, { method, path, bearer });
  const schedule = { path: `${one}/schedule`, bearer, body: scheduleBody, expected: 201 };
  return {
    schedule: prepareCall(url, schedule),
    status: prepare('GET', `${one}/schedule`),
    pause: prepare('POST', `${one}/pause`),
    resume: prepare('POST', `${one}/resume`),
    stats: prepare('GET', `${base}/stats`),
    list: prepare('GET', `${base}/schedule/all`),
    remove: prepare('DELETE', `${one}/schedule`),
  };
}

async function callRounds(url: URL, calls: Calls, rounds: number): Promise<void> {
  let left = rounds * actions.length;
  const inTurn = actions.map((action) => calls[action]);
  await callInTurn(url, inTurn, () => (left -= 1) > 0);
}

interface Measured {
  readonly calls: Calls;
  measure(rounds: number): Promise<void>;
}

async function prepareSite(address: string, session: string): Promise<Measured> {
  const url = new URL(address);
  for (const connector of others) {
    const path = `${base}/${connector}/schedule`;
    const call = prepareCall(url, { path, bearer: session, body: scheduleBody, expected: 201 });
    await callInTurn(url, [call], () => false);
  }
  await callRounds(url, prepareCalls(url, session), WARM_UP_ROUNDS);
  const calls = prepareCalls(url, session);
  return { calls, measure: (rounds) => callRounds(url, calls, rounds) };
}

/** The median latency of each action, in milliseconds. */
function p50s({ calls }: Measured): [string, number][] {
  const of = (action: keyof Calls) => calls[action].latenciesMs;
  const pairs = of('pause').map((paused, index) => paused + (of('resume')[index] ?? 0));
  return [
    ...(['schedule', 'status', 'stats', 'list', 'remove'] as const).map((action): [string, number] => [
      action,
      median(of(action)),
    ]),
    ['pause+resume', median(pairs)],
  ];
}

const ms = (name: string, value: number, note: string): Figure => ({ name, value, unit: 'ms', note });

export async function measureLatencies(given: {
  /** Medians of the service without schedules, and of one with 50,000 where that is measured. */
  readonly urls: { readonly none: string; readonly many: string | undefined };
  readonly session: string;
  readonly raw: RawQueue;
}): Promise<SuiteResult> {
  const { urls, session, raw } = given;
  const none = await prepareSite(urls.none, session);
  const many = urls.many === undefined ? undefined : await prepareSite(urls.many, session);
  await raw.measureLatencies(WARM_UP_ROUNDS);
  const rawMs = { upsert: [] as number[], get: [] as number[] };
  for (let turn = 0; turn < TURNS; turn += 1) {
    await none.measure(ROUNDS);
    await many?.measure(ROUNDS);
    const { upsert, get } = await raw.measureLatencies(ROUNDS);
    rawMs.upsert.push(...upsert);
    rawMs.get.push(...get);
  }
  const [ofNone, ofMany] = [p50s(none), many ? p50s(many) : []];
  const figures = [
    ms('raw upsertJobScheduler', median(rawMs.upsert), 'p50, BullMQ alone'),
    ms('raw getJobScheduler', median(rawMs.get), 'p50, BullMQ alone'),
    ...ofNone.map(([action, value]) => ms(`${action}, none`, value, 'p50 through HTTP')),
    ...ofMany.map(([action, value]) => ms(`${action}, 50,000`, value, 'p50 through HTTP')),
  ];
  const values = new Map(ofNone);
  // prettier-ignore
  const ratio = (name: string, action: string, rawP50: number, max: number, note: string): Ratio => ({
    name, value: (values.get(action) ?? Number.NaN) / rawP50, goal: { max }, note,
  });
  const ratios = [
    ratio('schedule_vs_raw', 'schedule', median(rawMs.upsert), 10, 'p50: schedule / raw upsertJobScheduler'),
    ratio('status_vs_raw', 'status', median(rawMs.get), 15, 'p50: status / raw getJobScheduler'),
  ];
  if (many)
    ratios.push({
      name: 'growth_50k',
      value: Math.max(...ofMany.map(([action, value]) => value / (values.get(action) ?? Number.NaN))),
      goal: { max: 1.2 },
      note: 'median with 50,000 schedules / with none, the largest of six',
    });
  return { figures, ratios };
}
