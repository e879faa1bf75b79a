import type { AccountPrincipal } from '@platform/auth';
import { HOUR_MS } from '@platform/service-kit';
import type { ApiContext } from '../../../src/api/context.js';
import { listNextRuns, previewSchedule } from '../../../src/api/schedules/next-runs.js';
import { getStatus, pause, removeSchedule, resume, setSchedule } from '../../../src/api/schedules/service.js';
import { actor, filesOf, useRunRows } from '../../support/run-rows.js';

/** Half an hour before a leap year. */
const NOW = Date.parse('2027-12-31T23:30:00Z');
const ORG = '01900000-0000-7000-8000-000000000000';
const key = filesOf(ORG);

const cron = (cronExpression: string, timezone = 'UTC') => ({
  scheduleType: 'custom',
  cronExpression,
  timezone,
});

describe('the next runs', () => {
  const rows = useRunRows();
  const clock = () => rows.now;
  /** Saving and listing need no more. */
  const getContext = () => {
    const ctx: Partial<ApiContext> = {
      pool: rows.pool,
      clock,
      onDueAt: () => undefined,
      overdueGraceMs: 60_000,
    };
    return ctx as ApiContext;
  };
  beforeEach(() => (rows.now = NOW));

  const preview = (scheduleConfig: unknown, count = 3) =>
    previewSchedule(getContext(), key, { scheduleConfig }, count).nextRuns;
  const list = async (count: number) => (await listNextRuns(getContext(), key, count))?.nextRuns;
  const save = (scheduleConfig: object, more: object = {}) =>
    setSchedule(getContext(), { userId: ORG } as AccountPrincipal, key, { scheduleConfig, ...more }, actor);

  // oxfmt-ignore
  it.each([
    ['Europe/Berlin', '30 2 25-27 3 *', ['2028-03-25T02:30:00+01:00', '2028-03-26T03:30:00+02:00', '2028-03-27T02:30:00+02:00']],
    ['America/New_York', '30 1 4-6 11 *', ['2028-11-04T01:30:00-04:00', '2028-11-05T01:30:00-04:00', '2028-11-06T01:30:00-05:00']],
    ['Asia/Beirut', '30 0 25-27 3 *', ['2028-03-25T00:30:00+02:00', '2028-03-26T01:30:00+03:00', '2028-03-27T00:30:00+03:00']],
    ['Pacific/Auckland', '0 0 * * *', ['2028-01-02T00:00:00+13:00', '2028-01-03T00:00:00+13:00', '2028-01-04T00:00:00+13:00']],
    ['Pacific/Honolulu', '0 0 * * *', ['2028-01-01T00:00:00-10:00', '2028-01-02T00:00:00-10:00', '2028-01-03T00:00:00-10:00']],
    ['Asia/Kathmandu', '0 0 * * *', ['2028-01-02T00:00:00+05:45', '2028-01-03T00:00:00+05:45', '2028-01-04T00:00:00+05:45']],
  ])('have the local time of %s and its offset: %s', (timezone, expression, expected) => {
    const runs = preview(cron(expression, timezone));
    expect(runs.map(({ localTime }) => localTime)).toEqual(expected);
    expect(runs.map(({ at }) => Date.parse(at))).toEqual(expected.map((text) => Date.parse(text)));
  });

  it('of a one-off configuration are its time', () => {
    const runs = preview({ scheduleType: 'once', scheduledTime: '2028-01-01T09:00:00+01:00' });
    expect(runs.map(({ at }) => at)).toEqual(['2028-01-01T08:00:00.000Z']);
  });

  it('of an invalid configuration are refused', () => {
    expect(() => preview(cron('0 0 30 2 *'))).toThrow(expect.objectContaining({ statusCode: 400 }));
  });

  it.each<[title: string, scheduleConfig: object]>([
    ['a cron expression', cron('0 3 L * *', 'Europe/Berlin')],
    ['every seven hours', { scheduleType: 'hourly', minute: 11, interval: 7, timezone: 'Europe/Berlin' }],
  ])(
    'of a saved schedule are those of its preview, and there are none while it is paused: %s',
    async (_title, scheduleConfig) => {
      await removeSchedule(getContext(), key, actor);
      expect(await list(14)).toBeUndefined();
      await save(scheduleConfig);
      const runs = await list(14);
      expect(runs).toHaveLength(14);
      expect(runs).toEqual(preview(scheduleConfig, 14));
      expect((await getStatus(getContext(), key))?.nextRunAt).toBe(runs?.[0]?.at);
      await pause(getContext(), key, undefined, actor);
      expect(await list(14)).toEqual([]);
      await resume(getContext(), key, actor);
      expect(await list(14)).toEqual(runs);
    },
  );

  it('keep the rhythm of five hours when the same schedule is saved again', async () => {
    const everyFiveHours = { scheduleType: 'hourly', minute: 5, interval: 5 };
    const saveAndList = async (scheduleConfig: object, more: object = {}) => {
      await save(scheduleConfig, more);
      const runs = (await list(2)) ?? [];
      expect((await getStatus(getContext(), key))?.nextRunAt).toBe(runs[0]?.at);
      return runs.map(({ at }) => at.slice(11, 16));
    };
    expect(await saveAndList(everyFiveHours)).toEqual(['00:05', '05:05']);
    rows.now += 2 * HOUR_MS;
    expect(await saveAndList(everyFiveHours)).toEqual(['05:05', '10:05']);
    const skipping = { ...everyFiveHours, missedRunPolicy: 'skip' };
    expect(await saveAndList(skipping, { priority: 1 })).toEqual(['05:05', '10:05']);
    expect(await saveAndList({ ...everyFiveHours, minute: 40 })).toEqual(['01:40', '06:40']);
    // A different recurrence in between starts a new rhythm.
    expect(await saveAndList(everyFiveHours)).toEqual(['02:05', '07:05']);
  });
});
