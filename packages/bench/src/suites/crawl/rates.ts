import { connectors } from '@platform/events';
import { callInTurn, prepareCall } from '../../call.js';
import { median, type SuiteResult } from '../../suite.js';
import { scheduleBody } from './latencies.js';
import type { RawQueue } from './raw.js';

const ROUNDS = 3;
const CALLERS = 16;
/** An organisation's changes hold half of the connections at the most, so that its crowd isn't everybody's. */
const ORGANISATIONS = 4;
/** The first thousands are slower by a third: V8 compiles what it sees used. */
const WARM_UP_SECONDS = 8;

/** Each caller schedules a connector of its own, again and again. @returns schedules per second. */
async function measureSchedules(
  address: string,
  bearers: readonly string[],
  seconds: number,
): Promise<number> {
  const url = new URL(address);
  const latenciesMs: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  await Promise.all(
    connectors.slice(0, CALLERS).map((connector, caller) => {
      const bearer = bearers[caller % bearers.length] ?? '';
      const path = `/api/v1/crawlingManager/${connector}/schedule`;
      const call = prepareCall(url, { path, bearer, body: scheduleBody, expected: 201 }, latenciesMs);
      return callInTurn(url, [call], (now) => now < endsAt);
    }),
  );
  return (latenciesMs.length * 1_000) / (performance.now() - startedAt);
}

/** 16 callers at once, of four organisations, through HTTP and BullMQ alone in turns. */
export async function measureRates(given: {
  readonly url: string;
  readonly createOrganisation: () => Promise<string>;
  readonly raw: RawQueue;
  readonly seconds: number;
}): Promise<SuiteResult> {
  const { url, createOrganisation, raw, seconds } = given;
  const sessions: string[] = [];
  while (sessions.length < ORGANISATIONS) sessions.push(await createOrganisation());
  await measureSchedules(url, sessions, WARM_UP_SECONDS);
  await raw.measureUpserts(CALLERS, seconds);
  const rates = { raw: [] as number[], service: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    rates.raw.push(await raw.measureUpserts(CALLERS, seconds));
    rates.service.push(await measureSchedules(url, sessions, seconds));
  }
  const [rawRate, rate] = [median(rates.raw), median(rates.service)];
  return {
    figures: [
      { name: 'raw upserts', value: rawRate, unit: 'per s', note: `BullMQ alone, ${CALLERS} callers` },
      {
        name: 'schedules',
        value: rate,
        unit: 'per s',
        note: `through HTTP, ${CALLERS} callers of ${ORGANISATIONS} organisations`,
      },
    ],
    ratios: [
      {
        name: 'schedule_rate_vs_raw',
        value: rate / rawRate,
        goal: { min: 0.15 },
        note: 'schedules / raw upserts',
      },
    ],
  };
}
