import { HOUR_MS } from '@platform/service-kit';
import { createRandom } from '@platform/testing';
import { toNewSchedule } from '../../src/api/schedules/save-schedule.js';
import { upsertSchedule } from '../../src/db/schedules.js';
import { filesOf, times as limits, useRunRows } from '../support/run-rows.js';
import { listTimes } from './model.js';
import { createRandomSchedule } from './random-schedules.js';
import { findRules } from './zone-rules.js';

/*
 * The dispatcher with a clock that leaps from one time to the next, and sometimes over a day without a process, while the
 * clocks of Asia, Europe, Chile, Australia and New Zealand change.
 */
const from = Date.parse('2027-03-25T12:00:00Z');
const to = Date.parse('2027-04-05T12:00:00Z');
const SEED = 1;
const SCHEDULES = 60;
const MAX_TIMES_A_DAY = 2;
const DOWNTIME_PROBABILITY = 0.02;

describe('the dispatcher', () => {
  const rows = useRunRows();

  async function findNextDue(): Promise<number> {
    const found = await rows.pool.query<{ at: Date | null }>('select min(next_run_at) as at from schedules');
    return found.rows[0]?.at?.getTime() ?? Infinity;
  }

  /** Lists the times that get a run, when the dispatcher works at these instants. */
  function listTicks(times: readonly number[], policy: string, dispatchedAt: readonly number[]): number[] {
    const ticks: number[] = [];
    let next = times[0];
    for (const now of dispatchedAt)
      while (next !== undefined && next <= now) {
        const at = next;
        ticks.push(at);
        // A run stands for all times that have passed; one that is skipped only for those that are too late as well.
        const isSkipped = policy === 'skip' && now - at > limits.misfireGraceMs;
        next = times.find(
          (time) => time > at && (isSkipped ? time >= now - limits.misfireGraceMs : time > now),
        );
      }
    return ticks;
  }

  // CRAWL-97
  it('makes one run of each time while clocks change and processes are away', async () => {
    const random = createRandom(SEED);
    rows.now = from;
    const expected: { id: string; config: object; times: readonly number[]; policy: string }[] = [];
    while (expected.length < SCHEDULES) {
      const { config: given, timezone, times } = createRandomSchedule(random, 'Europe/Berlin', from);
      const policy = random() < 0.5 ? 'skip' : 'run_once';
      const config = { ...given, jitterMs: 0, missedRunPolicy: policy };
      if (times.kind === 'cron' && times.hours.length * times.minutes.length > MAX_TIMES_A_DAY) continue;
      const { rules } = findRules(timezone, { from: from - 40 * 24 * HOUR_MS, to: to + 40 * 24 * HOUR_MS });
      const listed = listTimes(times, rules, { from, to });
      if (listed.length === 0) continue;
      const orgId = `01900000-0000-7000-8000-${String(expected.length).padStart(12, '0')}`;
      const schedule = toNewSchedule({ userId: orgId }, filesOf(orgId), { scheduleConfig: config }, from);
      await upsertSchedule(rows.pool, schedule, null);
      expected.push({ id: schedule.id, config, times: listed, policy });
    }

    const dispatchedAt: number[] = [];
    for (let due = await findNextDue(); due <= to; due = await findNextDue()) {
      const isAway = random() < DOWNTIME_PROBABILITY;
      rows.now = Math.max(rows.now, due + (isAway ? Math.floor(random() * 30 * HOUR_MS) : 0));
      dispatchedAt.push(rows.now);
      await rows.dispatch();
    }

    const found = await rows.pool.query<{ id: string; times: Date[] }>(
      'select schedule_id as id, array_agg(scheduled_for order by scheduled_for) as times from runs group by 1',
    );
    const ticks = new Map(found.rows.map(({ id, times }) => [id, times.map((at) => at.toISOString())]));
    for (const { id, config, times, policy } of expected)
      expect({ config, ticks: ticks.get(id) }).toEqual({
        config,
        ticks: listTicks(times, policy, dispatchedAt).map((at) => new Date(at).toISOString()),
      });
  });
});
