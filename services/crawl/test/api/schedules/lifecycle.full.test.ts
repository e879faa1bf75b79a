import { waitFor } from '@platform/testing';
import { describeEachBackend, type Platform, startPlatform } from '../../support/platform.js';

const daily = { scheduleType: 'daily', hour: 2, minute: 15 };
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString();

describeEachBackend('schedules on %s', (backend) => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform({ backend });
  });
  afterAll(() => platform.close());

  it('a schedule has a row and a job that agree, and removing it deletes both', async () => {
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
    const rows = `select from schedules where connector = 'files_1'`;
    await waitFor(async () => (await platform.db.query(rows)).rowCount === 0, { what: 'the end of the row' });
  });

  it('malformed JSON is rejected as an invalid schedule', async () => {
    const { status, body } = await platform.call('POST', '/files_1/schedule', { raw: '{"scheduleConfig":' });
    expect([status, body.message, body.error.code]).toEqual([
      400,
      'Invalid schedule configuration',
      'VALIDATION_ERROR',
    ]);
  });

  it('a compressed body is rejected with 415 in the format of the service', async () => {
    const { status, body } = await platform.call('POST', '/files_1/schedule', {
      body: { scheduleConfig: daily },
      headers: { 'content-encoding': 'gzip' },
    });
    expect([status, body.success, body.error.code]).toEqual([415, false, 'UNSUPPORTED_MEDIA_TYPE']);
  });

  it('a one-off schedule runs once at its time, can still be read, and its event is listed', async () => {
    const at = inMs(800);
    await platform.call('POST', '/code_1/schedule', {
      body: { scheduleConfig: { scheduleType: 'once', scheduledTime: at } },
    });
    const item = await waitFor(
      async () => {
        const { data } = (await platform.call('GET', '/code_1/schedule')).body;
        return data.state === 'completed' && data;
      },
      { what: 'the run' },
    );
    expect(item).toMatchObject({ progress: 100, attemptsMade: 1, failedReason: null, delay: null });
    expect(item.processedOn).toBeGreaterThanOrEqual(Date.parse(at));
    const { body: runs } = await platform.call('GET', '/code_1/runs');
    expect(runs.data).toHaveLength(1);
    // Events get their positions without a reader.
    const unplaced = 'select from outbox.events where position is null';
    await waitFor(async () => (await platform.db.query(unplaced)).rowCount === 0, { what: 'a position' });
    const { body: events } = await platform.call('GET', '/events');
    const own = events.data.filter(
      (event: { payload: { connector: string } }) => event.payload.connector === 'code_1',
    );
    expect(own).toHaveLength(1);
    expect(own[0]).toMatchObject({ eventId: runs.data[0].eventId, eventType: 'SyncCode1Event' });
    expect((await platform.call('POST', '/code_1/pause')).body.message).toBe('No active job found to pause');
  });

  it('a one-off schedule that is paused past its time runs when it is resumed, unless its policy is skip', async () => {
    for (const [connector, missedRunPolicy, state] of [
      ['db_1', 'run_once', 'completed'],
      ['cloud_1', 'skip', 'failed'],
    ]) {
      // Retried, as a slow machine may start the run before the pause.
      const scheduledTime = await waitFor(
        async () => {
          const scheduleConfig = { scheduleType: 'once', scheduledTime: inMs(500), missedRunPolicy };
          await platform.call('POST', `/${connector}/schedule`, { body: { scheduleConfig } });
          const { status } = await platform.call('POST', `/${connector}/pause`);
          return status === 200 && scheduleConfig.scheduledTime;
        },
        { what: 'the pause before the time' },
      );
      await waitFor(() => Date.now() > Date.parse(scheduledTime), { what: 'the time' });
      expect((await platform.call('POST', `/${connector}/resume`)).status).toBe(200);
      await waitFor(
        async () => (await platform.call('GET', `/${connector}/schedule`)).body.data.state === state,
        {
          what: `${state} under ${missedRunPolicy}`,
        },
      );
    }
  });

  it('of eight concurrent schedules of one connector one remains, with one job', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_value, minute) =>
        platform.call('POST', '/wiki_1/schedule', { body: { scheduleConfig: { ...daily, minute } } }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201));
    const { rows } = await platform.db.query(
      `select revision, config from schedules where connector = 'wiki_1'`,
    );
    expect(rows).toHaveLength(1);
    const last = answers.find(({ body }) => body.data.jobId === `crawl-wiki_1:${rows[0].revision}`);
    expect(rows[0].config.minute).toBe(last?.body.data.scheduleConfig.minute);
  });

  it('an organisation reads and changes only its own schedules', async () => {
    const other = await platform.createOrganisation();
    await platform.call('POST', '/mail_1/schedule', { body: { scheduleConfig: daily } });
    await platform.call('POST', '/mail_1/schedule', {
      token: other.token,
      body: { scheduleConfig: { ...daily, hour: 5 } },
    });
    const asOther = { token: other.token };
    const { body: list } = await platform.call('GET', '/schedule/all', asOther);
    expect(list.data.map((item: { data: { orgId: string } }) => item.data.orgId)).toEqual([other.orgId]);
    // prettier-ignore
    expect((await platform.call('GET', '/stats', asOther)).body.data).toEqual({
      waiting: 0, active: 0, completed: 0, failed: 0, delayed: 1, paused: 0, repeatable: 1, total: 1,
    });
    await platform.call('DELETE', '/schedule/all', asOther);
    expect((await platform.call('GET', '/mail_1/schedule')).body.data.data.scheduleConfig.hour).toBe(2);
    expect((await platform.call('GET', '/events', asOther)).body.data).toEqual([]);
    expect((await platform.call('GET', '/code_1/runs', asOther)).body.pagination.total).toBe(0);
  });

  it('administrators list the connectors with their kinds', async () => {
    const { status, body } = await platform.call('GET', '/connectors');
    expect([status, body.data.length]).toEqual([200, 18]);
    expect(body.data).toContainEqual({
      connector: 'wiki_1',
      kind: 'wiki',
      eventType: 'ReindexAllRecordEvent',
    });
    expect((await platform.call('GET', '/connectors', { token: undefined })).status).toBe(401);
  });

  it('the credential is checked first, then the scope, then the role', async () => {
    const member = await platform.toIdentity('POST', '/api/v1/users', {
      body: {
        email: `m-${backend}@example.com`,
        fullName: 'M',
        role: 'member',
        password: 'correct-Horse-battery-9',
      },
    });
    expect(member.status).toBe(201);
    const login = await platform.toIdentity('POST', '/api/v1/auth/login', {
      body: { email: `m-${backend}@example.com`, password: 'correct-Horse-battery-9' },
    });
    const made = await platform.toIdentity('POST', '/api/v1/personal-access-tokens', {
      token: login.body.accessToken,
      body: { name: 'reader', scopes: ['crawl:read'] },
    });
    const token = made.body.token.accessToken as string;
    expect((await platform.call('GET', '/stats', { token: undefined })).body.message).toBe(
      'Unauthorized access',
    );
    expect((await platform.call('GET', '/stats', { token: 'pat_garbage' })).body.message).toBe(
      'Unauthorized access',
    );
    expect((await platform.call('POST', '/mail_1/pause', { token })).body.error.code).toBe(
      'INSUFFICIENT_SCOPE',
    );
    expect((await platform.call('GET', '/stats', { token })).body.message).toBe('Admin privileges required');
  });
});
