import { type Platform, startPlatform } from '../../support/platform.js';

/** The time of the services: half an hour before a leap year. */
const NOW = Date.parse('2027-12-31T23:30:00Z');

describe('the next runs', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform({ backend: 'postgres', clockAheadMs: NOW - Date.now() });
  });
  afterAll(() => platform.close());

  async function preview(scheduleConfig: object, count = 3) {
    const { status, body } = await platform.call('POST', `/wiki_1/preview?count=${count}`, {
      body: { scheduleConfig },
    });
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body.data.nextRuns as { at: string; localTime: string }[];
  }
  const cron = (cronExpression: string, timezone = 'UTC') => ({
    scheduleType: 'custom',
    cronExpression,
    timezone,
  });
  const getAt = async (scheduleConfig: object, count?: number) =>
    (await preview(scheduleConfig, count)).map(({ at }) => at.replace(':00.000Z', ''));

  // prettier-ignore
  it.each([
    ['Europe/Berlin', '30 2 25-27 3 *', ['2028-03-25T02:30:00+01:00', '2028-03-26T03:30:00+02:00', '2028-03-27T02:30:00+02:00']],
    ['Europe/Berlin', '30 2 28-30 10 *', ['2028-10-28T02:30:00+02:00', '2028-10-29T02:30:00+02:00', '2028-10-30T02:30:00+01:00']],
    ['America/New_York', '30 2 11-13 3 *', ['2028-03-11T02:30:00-05:00', '2028-03-12T03:30:00-04:00', '2028-03-13T02:30:00-04:00']],
    ['America/New_York', '30 1 4-6 11 *', ['2028-11-04T01:30:00-04:00', '2028-11-05T01:30:00-04:00', '2028-11-06T01:30:00-05:00']],
    ['Australia/Sydney', '30 2 30 9 *', ['2028-09-30T02:30:00+10:00', '2029-09-30T02:30:00+10:00', '2030-09-30T02:30:00+10:00']],
    ['Australia/Sydney', '30 2 1,2 10 *', ['2028-10-01T03:30:00+11:00', '2028-10-02T02:30:00+11:00', '2029-10-01T02:30:00+10:00']],
    ['Australia/Sydney', '30 2 1-3 4 *', ['2028-04-01T02:30:00+11:00', '2028-04-02T02:30:00+11:00', '2028-04-03T02:30:00+10:00']],
    ['America/Santiago', '30 0 2-4 9 *', ['2028-09-02T00:30:00-04:00', '2028-09-03T01:30:00-03:00', '2028-09-04T00:30:00-03:00']],
    ['America/Santiago', '30 23 1-3 4 *', ['2028-04-01T23:30:00-03:00', '2028-04-02T23:30:00-04:00', '2028-04-03T23:30:00-04:00']],
    ['Asia/Beirut', '30 0 25-27 3 *', ['2028-03-25T00:30:00+02:00', '2028-03-26T01:30:00+03:00', '2028-03-27T00:30:00+03:00']],
    ['Asia/Beirut', '30 23 28-30 10 *', ['2028-10-28T23:30:00+03:00', '2028-10-29T23:30:00+02:00', '2028-10-30T23:30:00+02:00']],
  ])('%s, %s: once on the day when clocks change', async (timezone, expression, expected) => {
    const runs = await preview(cron(expression, timezone));
    expect(runs.map(({ localTime }) => localTime)).toEqual(expected);
    expect(runs.map(({ at }) => Date.parse(at))).toEqual(expected.map((text) => Date.parse(text)));
  });

  // prettier-ignore
  it.each<[title: string, config: object, expected: string[]]>([
    ['29 February, in leap years only', cron('0 12 29 2 *'), ['2028-02-29T12:00', '2032-02-29T12:00', '2036-02-29T12:00']],
    ['day 31, in months that have one', { scheduleType: 'monthly', dayOfMonth: 31, hour: 1, minute: 0 }, ['2028-01-31T01:00', '2028-03-31T01:00', '2028-05-31T01:00']],
    ['the last day', cron('0 0 L * *'), ['2028-01-31T00:00', '2028-02-29T00:00', '2028-03-31T00:00']],
    ['the last Friday', cron('0 0 * * 5L'), ['2028-01-28T00:00', '2028-02-25T00:00', '2028-03-31T00:00']],
    ['lists and steps', cron('5,50/5 8-18/5 * * *'), ['2028-01-01T08:05', '2028-01-01T08:50', '2028-01-01T08:55']],
    ["the year's end", cron('59 23 31 12 *'), ['2027-12-31T23:59', '2028-12-31T23:59', '2029-12-31T23:59']],
    ['over midnight of the new year', { scheduleType: 'hourly', minute: 45 }, ['2027-12-31T23:45', '2028-01-01T00:45', '2028-01-01T01:45']],
    ['every five hours, from the first run on', { scheduleType: 'hourly', minute: 5, interval: 5 }, ['2028-01-01T00:05', '2028-01-01T05:05', '2028-01-01T10:05', '2028-01-01T15:05', '2028-01-01T20:05', '2028-01-02T01:05']],
    ['every six hours', { scheduleType: 'hourly', minute: 5, interval: 6 }, ['2028-01-01T00:05', '2028-01-01T06:05']],
    ['Sunday, said twice', cron('0 0 * * 7,7'), ['2028-01-02T00:00', '2028-01-09T00:00']],
    ['names', cron('0 6 * feb,MAR MON-wed'), ['2028-02-01T06:00', '2028-02-02T06:00', '2028-02-07T06:00']],
    ['a week from Sunday on', { scheduleType: 'weekly', daysOfWeek: [6, 0], hour: 9, minute: 0 }, ['2028-01-01T09:00', '2028-01-02T09:00', '2028-01-08T09:00']],
    ['one time', { scheduleType: 'once', scheduledTime: '2028-01-01T09:00:00+01:00' }, ['2028-01-01T08:00']],
  ])('%s', async (_title, config, expected) => {
    expect(await getAt(config, expected.length)).toEqual(expected);
  });

  it('time zones on both sides of UTC are in the old and the new year at the same moment', async () => {
    for (const [timezone, expected] of [
      ['Pacific/Auckland', '2028-01-02T00:00:00+13:00'],
      ['Pacific/Honolulu', '2028-01-01T00:00:00-10:00'],
      ['Asia/Kathmandu', '2028-01-02T00:00:00+05:45'],
    ] as const)
      expect((await preview(cron('0 0 * * *', timezone), 1))[0]?.localTime).toBe(expected);
  });

  it.each<[title: string, scheduleConfig: object]>([
    ['a cron expression', cron('0 3 L * *', 'Europe/Berlin')],
    ['every seven hours', { scheduleType: 'hourly', minute: 11, interval: 7, timezone: 'Europe/Berlin' }],
  ])(
    '%s, saved: they are those of its preview; paused it has none; the first is what its status shows',
    async (_title, scheduleConfig) => {
      await platform.call('DELETE', '/wiki_1/schedule');
      expect((await platform.call('GET', '/wiki_1/next-runs')).status).toBe(404);
      expect((await platform.call('POST', '/wiki_1/schedule', { body: { scheduleConfig } })).status).toBe(
        201,
      );
      const told = async (count = 14) =>
        (await platform.call('GET', `/wiki_1/next-runs?count=${count}`)).body.data.nextRuns;
      const runs = await told();
      expect(runs).toHaveLength(14);
      expect(runs).toEqual(await preview(scheduleConfig, 14));
      expect((await platform.call('GET', '/wiki_1/schedule')).body.data.nextRunAt).toBe(runs[0].at);
      for (const count of ['0', '51', 'all'])
        expect((await platform.call('GET', `/wiki_1/next-runs?count=${count}`)).status).toBe(400);
      await platform.call('POST', '/wiki_1/pause');
      expect(await told()).toEqual([]);
      await platform.call('POST', '/wiki_1/resume');
      expect(await told()).toEqual(runs);
    },
  );

  it.each<[title: string, scheduleConfig: unknown]>([
    ['30 February', cron('0 0 30 2 *')],
    ['a name that is none', cron('0 0 * FOO *')],
    ['six fields', cron('0 0 0 * * *')],
    ['an unknown zone', cron('0 0 * * *', 'Mars/Olympus')],
    ['nothing', undefined],
  ])('a preview of %s is 400', async (_title, scheduleConfig) => {
    const { status, body } = await platform.call('POST', '/wiki_1/preview', { body: { scheduleConfig } });
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('an interval of five hours keeps its rhythm when the same schedule is created again', async () => {
    const everyFiveHours = { scheduleType: 'hourly', minute: 5, interval: 5 };
    const post = async (scheduleConfig: object, more: object = {}) => {
      const { status } = await platform.call('POST', '/mail_1/schedule', {
        body: { scheduleConfig, ...more },
      });
      expect(status).toBe(201);
      const { data } = (await platform.call('GET', '/mail_1/next-runs?count=2')).body;
      const { data: item } = (await platform.call('GET', '/mail_1/schedule')).body;
      expect(item.nextRunAt).toBe(data.nextRuns[0].at);
      return data.nextRuns.map(({ at }: { at: string }) => at.slice(11, 16)) as string[];
    };
    expect(await post(everyFiveHours)).toEqual(['00:05', '05:05']);
    await platform.crawl.setClock(NOW - Date.now() + 2 * 3_600_000);
    expect(await post(everyFiveHours)).toEqual(['05:05', '10:05']);
    expect(await post({ ...everyFiveHours, missedRunPolicy: 'skip' }, { priority: 1 })).toEqual([
      '05:05',
      '10:05',
    ]);
    expect(await post({ ...everyFiveHours, minute: 40 })).toEqual(['01:40', '06:40']);
    // A different recurrence in between starts a new rhythm.
    expect(await post(everyFiveHours)).toEqual(['02:05', '07:05']);
  });
});
