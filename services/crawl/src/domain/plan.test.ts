import { HOUR_MS } from '@platform/service-kit';
import { nextRunsAfter, type PlanInput, createPlan } from './plan.js';

const every = (
  interval: number,
  more: { anchorAt: string; timezone?: string; jitterMs?: number },
): PlanInput => ({
  orgId: '0193b6a0-0000-7000-8000-000000000000',
  connector: 'files_1',
  instance: 'default',
  anchorAt: new Date(more.anchorAt),
  config: {
    scheduleType: 'hourly',
    minute: 5,
    interval,
    timezone: more.timezone ?? 'UTC',
    jitterMs: more.jitterMs ?? 0,
    isEnabled: true,
    missedRunPolicy: 'run_once',
  },
});
const listTimes = (planned: PlanInput, after: string, count: number) =>
  nextRunsAfter(createPlan(planned), Date.parse(after), count).map((at) =>
    new Date(at).toISOString().slice(0, 16),
  );
const getGaps = (times: readonly number[]) =>
  new Set(times.slice(1).map((at, index) => at - (times[index] ?? 0)));

describe('every N hours', () => {
  const divisors = [1, 2, 3, 4, 6, 8, 12, 24];
  const anchorAt = '2026-11-22T10:20:00Z';

  it('an interval that divides 24 keeps its local hours, whenever it was scheduled', () => {
    // oxfmt-ignore
    expect(listTimes(every(6, { anchorAt }), anchorAt, 3)).toEqual([
      '2026-11-22T12:05', '2026-11-22T18:05', '2026-11-23T00:05',
    ]);
  });

  it('any other interval is counted from the first run, across midnight', () => {
    // oxfmt-ignore
    expect(listTimes(every(5, { anchorAt }), anchorAt, 5)).toEqual([
      '2026-11-22T11:05', '2026-11-22T16:05', '2026-11-22T21:05', '2026-11-23T02:05', '2026-11-23T07:05',
    ]);
    // The same times are found from any starting point: after a pause, by the watchdog, for next month.
    expect(listTimes(every(5, { anchorAt }), '2026-11-23T02:05:00Z', 1)).toEqual(['2026-11-23T07:05']);
    expect(listTimes(every(5, { anchorAt }), '2026-11-23T02:04:59Z', 1)).toEqual(['2026-11-23T02:05']);
  });

  it.each(Array.from({ length: 24 }, (_value, index) => index + 1))(
    '%i hours lie between two runs',
    (interval) => {
      const times = nextRunsAfter(createPlan(every(interval, { anchorAt })), Date.parse(anchorAt), 60);
      expect(getGaps(times)).toEqual(new Set([interval * HOUR_MS]));
    },
  );

  it.each([
    ['2026-03-27T10:20:00Z', 'Europe/Berlin'],
    ['2026-10-23T10:20:00Z', 'Europe/Berlin'],
    ['2026-09-04T10:20:00Z', 'America/Santiago'],
    ['2026-10-02T10:20:00Z', 'Australia/Lord_Howe'],
  ])('the interval stays the same when clocks change: %s in %s', (from, timezone) => {
    for (let interval = 1; interval <= 24; interval += 1) {
      if (divisors.includes(interval)) continue;
      const planned = every(interval, { anchorAt: from, timezone });
      expect(getGaps(nextRunsAfter(createPlan(planned), Date.parse(from), 40))).toEqual(
        new Set([interval * HOUR_MS]),
      );
    }
  });

  it("the first run is at the given minute of the zone's clocks", () => {
    const planned = every(7, { anchorAt, timezone: 'Asia/Kathmandu' });
    // 10:20 UTC is 16:05 there.
    expect(listTimes(planned, anchorAt, 2)).toEqual(['2026-11-22T11:20', '2026-11-22T18:20']);
  });

  it('jitter delays all times equally', () => {
    const planned = every(5, { anchorAt, jitterMs: 600_000 });
    const plan = createPlan(planned);
    if (plan.kind !== 'recurring') throw new Error(plan.kind);
    const times = nextRunsAfter(plan, Date.parse(anchorAt), 10);
    expect(getGaps(times)).toEqual(new Set([5 * HOUR_MS]));
    expect(times[0]).toBeGreaterThan(Date.parse(anchorAt));
    expect(times[0]).toBeLessThanOrEqual(Date.parse(anchorAt) + HOUR_MS);
  });
});
