import { randomUUID } from 'node:crypto';
import { HOUR_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { createCrawls, daily, onceIn } from '../../support/crawls.js';
import { type Platform, startPlatform } from '../../support/platform.js';

describe('a schedule', () => {
  let platform: Platform;
  const crawls = createCrawls(() => platform);
  beforeAll(async () => {
    platform = await startPlatform({ backend: 'postgres' });
  });
  afterAll(() => platform.close());
  afterEach(() => platform.call('DELETE', '/schedule/all'));

  const schedule = (connector: string, scheduleConfig: object = daily, token = platform.admin.token) =>
    platform.call('POST', `/${connector}/schedule`, { token, body: { scheduleConfig } });

  it('has a row that the status item shows, and both end with its removal', async () => {
    const { status, body } = await platform.call('POST', '/files_1/schedule', {
      body: {
        scheduleConfig: daily,
        priority: 2,
        maxRetries: 1,
        timeout: 2_000,
        metadata: { folder: 'ä/☃' },
      },
    });
    expect(status).toBe(201);
    expect(body.data.jobId).toMatch(/^crawl-files_1:\d+$/);
    const askedAt = Date.now();
    const { body: shown } = await platform.call('GET', '/files_1/schedule');
    const answeredAt = Date.now();
    expect(shown.data).toMatchObject({
      id: `crawl-files-1-${platform.admin.orgId}`,
      name: 'crawl-files_1',
      state: 'delayed',
      priority: 2,
      maxRetries: 1,
      timeout: 2_000,
      data: { metadata: { folder: 'ä/☃' }, orgId: platform.admin.orgId },
    });
    const shownAt = Date.parse(shown.data.nextRunAt) - shown.data.delay;
    expect(shownAt).toBeGreaterThanOrEqual(askedAt - 1);
    expect(shownAt).toBeLessThanOrEqual(answeredAt + 1);
    await platform.call('DELETE', '/files_1/schedule');
    expect((await platform.call('GET', '/files_1/schedule')).body).toEqual({
      success: false,
      message: 'No scheduled job found for this connector',
      data: null,
    });
    expect((await platform.db.query('select from schedules')).rowCount).toBe(0);
  });

  it('is refused as invalid when its JSON is malformed', async () => {
    const { status, body } = await platform.call('POST', '/files_1/schedule', { raw: '{"scheduleConfig":' });
    expect([status, body.message, body.error.code]).toEqual([
      400,
      'Invalid schedule configuration',
      'VALIDATION_ERROR',
    ]);
  });

  it('that is one-off runs once at its time, can still be read, and its event is listed', async () => {
    const scheduleConfig = onceIn(800);
    await schedule('code_1', scheduleConfig);
    const item = await waitFor(
      async () => {
        const { data } = (await platform.call('GET', '/code_1/schedule')).body;
        return data.state === 'completed' && data;
      },
      { what: 'the run' },
    );
    expect(item).toMatchObject({ progress: 100, attemptsMade: 1, failedReason: null, delay: null });
    expect(item.processedOn).toBeGreaterThanOrEqual(Date.parse(scheduleConfig.scheduledTime));
    const [run, ...others] = await crawls.runs('code_1');
    expect(others).toEqual([]);
    // Events get their positions without a reader.
    await crawls.expectWhole();
    const { body: events } = await platform.call('GET', '/events');
    expect(events.data).toMatchObject([{ eventId: run.eventId, eventType: 'SyncCode1Event' }]);
    expect((await platform.call('POST', '/code_1/pause')).body.message).toBe('No active job found to pause');
  });

  it('that is one-off and paused past its time runs when it is resumed, unless its policy is skip', async () => {
    const paused = [
      ['db_1', 'run_once', 'completed'],
      ['cloud_1', 'skip', 'failed'],
    ] as const;
    for (const [connector, missedRunPolicy] of paused) {
      await schedule(connector, { ...onceIn(HOUR_MS), missedRunPolicy });
      expect((await platform.call('POST', `/${connector}/pause`)).status).toBe(200);
    }
    await platform.crawl.setClock(2 * HOUR_MS);
    for (const [connector, missedRunPolicy, state] of paused) {
      expect((await platform.call('POST', `/${connector}/resume`)).status).toBe(200);
      const isShown = async () =>
        (await platform.call('GET', `/${connector}/schedule`)).body.data.state === state;
      await waitFor(isShown, { what: `${state} under ${missedRunPolicy}` });
    }
    await platform.crawl.setClock(0);
  });

  it('is the last saved of eight that are saved at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_value, minute) => schedule('wiki_1', { ...daily, minute })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
    const { rows } = await platform.db.query('select revision, config from schedules');
    expect(rows).toHaveLength(1);
    const last = answers.find(({ body }) => body.data.jobId === `crawl-wiki_1:${rows[0].revision}`);
    expect(rows[0].config.minute).toBe(last?.body.data.scheduleConfig.minute);
  });

  it('is read, changed and removed by its organisation alone, with all others in every state', async () => {
    const { token, orgId } = await platform.createOrganisation();
    for (const connector of ['files_1', 'mail_1', 'wiki_1']) await schedule(connector);
    await schedule('mail_1', { ...daily, hour: 5 }, token);
    const { body: list } = await platform.call('GET', '/schedule/all', { token });
    expect(list.data.map((item: { data: { orgId: string } }) => item.data.orgId)).toEqual([orgId]);
    expect((await platform.call('GET', '/events', { token })).body.data).toEqual([]);
    expect((await platform.call('GET', '/code_1/runs', { token })).body.pagination.total).toBe(0);
    await platform.call('POST', '/mail_1/pause');
    for (let times = 0; times < 2; times += 1)
      expect(await platform.call('DELETE', '/schedule/all')).toMatchObject({
        status: 200,
        body: { success: true, message: 'All jobs removed' },
      });
    expect((await platform.call('GET', '/schedule/all')).body.data).toEqual([]);
    const { body: left } = await platform.call('GET', '/mail_1/schedule', { token });
    expect(left.data.data.scheduleConfig.hour).toBe(5);
  });

  it('asks for the credential first, then for the scope, then for the role (CRAWL-1, CRAWL-23)', async () => {
    const accounts = '/api/v1/service-accounts';
    const account = { body: { name: `reader-${randomUUID()}` } };
    const { id } = (await platform.toIdentity('POST', accounts, account)).body.serviceAccount;
    const made = await platform.toIdentity('POST', `${accounts}/${id}/tokens`, {
      body: { name: 'reader', scopes: ['crawl:read'] },
    });
    const token = made.body.token.accessToken as string;
    const getStatistics = async (by: string | undefined) =>
      (await platform.call('GET', '/stats', { token: by })).body.message;
    expect(await getStatistics(undefined)).toBe('Unauthorized access');
    expect(await getStatistics('pat_garbage')).toBe('Unauthorized access');
    const { body } = await platform.call('POST', '/mail_1/pause', { token });
    expect(body.error.code).toBe('INSUFFICIENT_SCOPE');
    expect(await getStatistics(token)).toBe('Admin privileges required');
  });
});
