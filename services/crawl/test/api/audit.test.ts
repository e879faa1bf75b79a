import { waitFor } from '@platform/testing';
import { acts } from '../../src/domain/act.js';
import { type Platform, startPlatform } from '../support/platform.js';

const weekly = { scheduleType: 'weekly', daysOfWeek: [1, 3], hour: 2, minute: 15, timezone: 'Europe/Berlin' };
const PROBE = 'audit-probe/1.0';
const hr = '/wiki_1/instances/hr';

interface Entry {
  readonly action: string;
  readonly subjectId: string | null;
  readonly detail: object;
  readonly credential: { readonly id: string };
  readonly userAgent: string | null;
}

/* The acts of people and workers on crawls are in the audit of identity. */
describe('the audit', () => {
  let platform: Platform;
  beforeAll(async () => {
    platform = await startPlatform({
      backend: 'postgres',
      env: {
        ENDPOINT_ALLOWED_TARGETS: '127.0.0.1:9',
      },
    });
  });
  afterAll(() => platform.close());

  const call = (method: string, path: string, body?: object) =>
    platform.call(method, path, { headers: { 'user-agent': PROBE }, ...(body && { body }) });
  const listEntries = async (): Promise<Entry[]> => {
    const { body } = await platform.toIdentity('GET', '/api/v1/audit?limit=100');
    return (body.data as Entry[]).filter(({ userAgent }) => userAgent === PROBE);
  };

  it('records each act once, with who did it, and records nothing of what was refused', async () => {
    const schedule = (path: string, more: object = {}) =>
      call('POST', `${path}/schedule`, { scheduleConfig: weekly, metadata: { key: 'private' }, ...more });
    const endpoint = (await call('POST', '/endpoints', { url: 'http://127.0.0.1:9/', description: 'Wiki' }))
      .body.data;
    await call('POST', `/endpoints/${endpoint.endpointId}/rotate`);
    await call('DELETE', `/endpoints/${endpoint.endpointId}`);
    expect((await call('DELETE', `/endpoints/${endpoint.endpointId}`)).status).toBe(404);
    await call('PUT', hr, { displayName: 'HR wiki' });
    const secret = 'private-of-the-source';
    const { hookId } = (await call('POST', `${hr}/hooks`, { kind: 'github', secret })).body.data;
    await call('POST', `${hr}/hooks/${hookId}/rotate`, { secret });
    await call('DELETE', `${hr}/hooks/${hookId}`);
    expect((await call('DELETE', `${hr}/hooks/${hookId}`)).status).toBe(404);
    await schedule(hr, { worker: 'pull', fullEvery: 'P7D' });
    const work = { connectors: ['wiki_1'], worker: 'laptop' };
    for (const _ of [1, 2]) await call('POST', '/work/claim', work);
    const { runId } = (await call('POST', `${hr}/run`, { mode: 'full' })).body.data;
    expect((await call('POST', '/work/claim', work)).status).toBe(200);
    expect((await call('POST', `${hr}/run`)).status).toBe(409);
    expect((await call('DELETE', `${hr}/checkpoint`)).status).toBe(409);
    await call('POST', `${hr}/runs/${runId}/cancel`);
    expect((await call('POST', `${hr}/runs/${runId}/cancel`)).status).toBe(409);
    await call('DELETE', `${hr}/checkpoint`);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await call('POST', `${hr}/pause`, { until });
    expect((await call('POST', `${hr}/pause`)).status).toBe(400);
    await call('POST', `${hr}/resume`);
    expect((await call('POST', `${hr}/resume`)).status).toBe(400);
    await call('DELETE', `${hr}/schedule`);
    await call('DELETE', `${hr}/schedule`);
    await call('DELETE', hr);
    await schedule('/files_1');
    await schedule('/chat_1');
    await call('DELETE', '/schedule/all');

    const expected = [
      'crawl_endpoint.created',
      'crawl_endpoint.secret_rotated',
      'crawl_endpoint.removed',
      'crawl_instance.saved',
      'crawl_hook.created',
      'crawl_hook.secret_rotated',
      'crawl_hook.removed',
      'crawl_schedule.saved',
      'crawl_worker.connected',
      'crawl_run.requested',
      'crawl_run.cancelled',
      'crawl_checkpoint.reset',
      'crawl_schedule.paused',
      'crawl_schedule.resumed',
      'crawl_schedule.removed',
      'crawl_instance.removed',
      'crawl_schedule.saved',
      'crawl_schedule.saved',
      'crawl_schedule.removed',
      'crawl_schedule.removed',
    ];
    expect(new Set(expected)).toEqual(new Set(acts));
    const entries = await waitFor(
      async () => {
        const found = await listEntries();
        return found.length >= expected.length && found.toReversed();
      },
      { what: 'the entries in the audit' },
    );
    expect(entries.map(({ action }) => action)).toEqual(expected);
    const { body: me } = await platform.toIdentity('GET', '/api/v1/users/me');
    const credential = { kind: 'session', id: expect.any(String) };
    for (const entry of entries)
      expect(entry).toMatchObject({
        actorId: me.user.id,
        credential,
        address: '127.0.0.1',
        userAgent: PROBE,
      });
    const wiki = { connector: 'wiki_1', instance: 'hr' };
    expect(entries.slice(3, 16).map(({ detail }) => detail)).toEqual([
      { ...wiki, displayName: 'HR wiki' },
      { ...wiki, kind: 'github', description: '' },
      wiki,
      wiki,
      {
        ...wiki,
        scheduleType: 'weekly',
        daysOfWeek: '1,3',
        hour: '2',
        minute: '15',
        timezone: 'Europe/Berlin',
        jitterMs: '0',
        missedRunPolicy: 'run_once',
        worker: 'pull',
        fullEvery: 'P7D',
      },
      { connector: 'wiki_1', instance: '*', worker: 'laptop' },
      { ...wiki, mode: 'full' },
      wiki,
      wiki,
      { ...wiki, until },
      wiki,
      wiki,
      wiki,
    ]);
    expect(entries[0]).toMatchObject({
      subjectId: endpoint.endpointId,
      detail: { url: 'http://127.0.0.1:9/', description: 'Wiki' },
    });
    expect(entries[9]?.subjectId).toBe(runId);
    expect(entries[7]?.subjectId).toBe(entries[14]?.subjectId);
    expect(entries[6]?.subjectId).toBe(hookId);
    expect(JSON.stringify(entries)).not.toMatch(/private|whsec/);
  });

  it('records the first request of each credential that works', async () => {
    const created = await platform.toIdentity('POST', '/api/v1/personal-access-tokens', {
      body: { name: 'worker of the test', scopes: ['crawl:work'] },
    });
    const { id, accessToken: token } = created.body.token as { id: string; accessToken: string };
    const claim = () =>
      platform.call('POST', '/work/claim', {
        token,
        headers: { 'user-agent': PROBE },
        body: { connectors: ['wiki_1'], worker: 'server' },
      });
    await Promise.all([claim(), claim(), claim()]);
    await claim();
    const list = async () =>
      (await listEntries()).filter(({ action }) => action === 'crawl_worker.connected');
    await waitFor(async () => (await list()).length > 1, { what: 'the entry' });
    expect((await list()).map(({ credential, detail }) => [credential.id, detail])).toEqual([
      [id, { connector: 'wiki_1', instance: '*', worker: 'server' }],
      [expect.not.stringContaining(id), { connector: 'wiki_1', instance: '*', worker: 'laptop' }],
    ]);
  });
});
