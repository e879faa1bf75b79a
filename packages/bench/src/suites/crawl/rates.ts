import { connectors } from '@platform/events';
import { callInTurn, prepareCall } from '../../call.js';
import { median, type SuiteResult } from '../../suite.js';
import { scheduleBody } from './latencies.js';
import type { RawQueue } from './raw.js';

const ROUNDS = 3;
const CALLERS = 16;
/** The first few thousand are slower by a third, until V8 has compiled the hot code. */
const WARM_UP_SECONDS = 8;

/**
 * Each caller is the administrator of an organisation and replaces its schedules in turn, one per connector: so every
 * request changes another schedule, and the queue receives each change. @returns schedules per second.
 */
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
    bearers.map((bearer) => {
      const calls = connectors.map((connector) => {
        const path = `/api/v1/crawlingManager/${connector}/schedule`;
        return prepareCall(url, { path, bearer, body: scheduleBody, expected: 201 }, latenciesMs);
      });
      return callInTurn(url, calls, (now) => now < endsAt);
    }),
  );
  return (latenciesMs.length * 1_000) / (performance.now() - startedAt);
}

/** 16 callers at once, through HTTP and BullMQ alone in turns. */
export async function measureRates(given: {
  readonly url: string;
  readonly createOrganisation: () => Promise<string>;
  readonly raw: RawQueue;
  readonly seconds: number;
}): Promise<SuiteResult> {
  const { url, createOrganisation, raw, seconds } = given;
  const sessions: string[] = [];
  while (sessions.length < CALLERS) sessions.push(await createOrganisation());
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
        note: `through HTTP, ${CALLERS} callers, ${CALLERS * connectors.length} schedules`,
      },
    ],
    ratios: [
      {
        name: 'schedule_rate_vs_raw',
        value: rate / rawRate,
        goal: { min: 0.15 },
        note: 'distinct schedules / raw upserts',
      },
    ],
  };
}
