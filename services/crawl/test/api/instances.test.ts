import { randomUUID } from 'node:crypto';
import { waitFor } from '@platform/testing';
import { daily } from '../support/crawls.js';
import { type Platform, startPlatform } from '../support/platform.js';

describe('instances of a connector', () => {
  let platform: Platform;
  let member: { readonly userId: string; readonly token: string };
  beforeAll(async () => {
    platform = await startPlatform({ backend: 'postgres' });
    const accounts = '/api/v1/service-accounts';
    const made = await platform.toIdentity('POST', accounts, { body: { name: `owner-${randomUUID()}` } });
    const userId = made.body.serviceAccount.id as string;
    const scopes = ['crawl:read', 'crawl:write', 'crawl:delete'];
    const { body } = await platform.toIdentity('POST', `${accounts}/${userId}/tokens`, {
      body: { name: 'owner', scopes },
    });
    member = { userId, token: body.token.accessToken as string };
  });
  afterAll(() => platform.close());
  afterEach(async () => {
    const { data } = (await platform.call('GET', '/instances?limit=100')).body;
    for (const { connector, instance } of data)
      await platform.call('DELETE', `/${connector}/instances/${instance}`);
  });

  const hr = '/wiki_1/instances/hr';
  const save = (path = hr, body: object = { displayName: 'HR wiki' }) => platform.call('PUT', path, { body });
  const schedule = (path: string, more: object = {}) =>
    platform.call('POST', `${path}/schedule`, { body: { scheduleConfig: daily, ...more } });
  const complete = async (path: string) => {
    const { runId } = (await platform.call('POST', `${path}/run`)).body.data;
    return waitFor(
      async () => {
        const { data } = (await platform.call('GET', `${path}/runs/${runId}`)).body;
        return data.outcome === 'completed' && data;
      },
      { what: 'the end of the run' },
    );
  };

  it('have their own schedules, runs, events and statistics beside the default one', async () => {
    expect((await schedule(hr)).status).toBe(404);
    expect((await save()).body.data).toEqual({
      connector: 'wiki_1',
      instance: 'hr',
      displayName: 'HR wiki',
      ownerId: null,
      scheduleState: null,
    });
    expect((await schedule(hr)).status).toBe(201);
    expect((await platform.call('GET', '/wiki_1/schedule')).status).toBe(404);
    await schedule('/wiki_1');
    const { orgId } = platform.admin;
    const { data: all } = (await platform.call('GET', '/schedule/all')).body;
    expect(all).toMatchObject([
      { id: `crawl-wiki-1-${orgId}`, instance: 'default', displayName: null },
      {
        id: `crawl-wiki-1-${orgId}-hr`,
        instance: 'hr',
        displayName: 'HR wiki',
        data: { connector: 'wiki_1' },
      },
    ]);
    expect((await platform.call('GET', '/stats')).body.data).toMatchObject({ delayed: 2, repeatable: 2 });

    await platform.call('POST', `${hr}/pause`);
    expect((await platform.call('GET', `${hr}/schedule`)).body.data.state).toBe('paused');
    const run = await complete('/wiki_1');
    expect(run.event.payload).not.toHaveProperty('connectorInstance');
    await platform.call('POST', `${hr}/resume`);
    const other = await complete('/wiki_1/instances/hr');
    expect(other).toMatchObject({
      instance: 'hr',
      event: { payload: { connector: 'wiki_1', connectorInstance: 'hr' } },
    });
    expect((await platform.call('GET', `/wiki_1/runs/${other.runId}`)).status).toBe(404);
    expect((await platform.call('GET', '/wiki_1/runs')).body.data).toMatchObject([{ runId: run.runId }]);
    // `default` is the same by either path.
    expect((await platform.call('GET', '/wiki_1/instances/default/runs')).body.data).toMatchObject([
      { runId: run.runId },
    ]);
    const eventsOf = async (query: string) =>
      (await platform.call('GET', `/events?${query}`)).body.data.map(
        ({ payload }: { payload: { runId: string } }) => payload.runId,
      );
    expect(await eventsOf('connector=wiki_1')).toEqual([run.runId, other.runId]);
    expect(await eventsOf('connector=wiki_1&instance=default')).toEqual([run.runId]);
    expect(await eventsOf('connector=wiki_1&instance=hr')).toEqual([other.runId]);
    const { rows } = await platform.db.query('select event_key as key from outbox.events order by seq');
    expect(rows).toEqual([{ key: `${orgId}:wiki_1` }, { key: `${orgId}:wiki_1:hr` }]);
    const queue = (await platform.call('GET', '/queue')).body.data.connectors;
    expect(queue).toMatchObject([
      { instance: 'default', completed: 1 },
      { instance: 'hr', displayName: 'HR wiki', completed: 1 },
    ]);
  });

  it.each(['safe\u202egnp.exe', 'a\u2066b', 'a\u0007b', '\u200b'])(
    'are not called %j',
    async (displayName) => {
      const { status, body } = await save(hr, { displayName });
      expect([status, body.error.details]).toEqual([400, expect.stringContaining('displayName')]);
    },
  );

  it('give workers their orders, with separate checkpoints', async () => {
    await save();
    const claim = (more: object = {}) =>
      platform.call('POST', '/work/claim', { body: { connectors: ['wiki_1'], worker: 'test', ...more } });
    const orders: Record<string, unknown> = {};
    for (const path of ['/wiki_1', hr]) {
      await schedule(path, { worker: 'pull' });
      await platform.call('POST', `${path}/run`);
    }
    const getStandstill = async (path: string) =>
      (await platform.call('GET', `${path}/schedule`)).body.data.standstill?.code;
    const standstills = [await getStandstill('/wiki_1')];
    for (const instances of [['hr'], ['default']]) {
      const { order, lease } = (await claim({ instances })).body;
      standstills.push(await getStandstill('/wiki_1'));
      orders[order.instance] = order;
      const body = { lease, state: 'completed', checkpoint: { of: order.instance } };
      await platform.call('POST', `/work/${order.runId}/finish`, { body });
    }
    // A worker of another instance is none of this one's.
    expect(standstills).toEqual(['no_worker', 'no_worker', undefined]);
    expect(orders).toMatchObject({
      hr: { connector: 'wiki_1', displayName: 'HR wiki', checkpoint: null },
      default: { displayName: null, checkpoint: null },
    });
    for (const path of ['/wiki_1', hr]) await platform.call('POST', `${path}/run`);
    for (let count = 0; count < 2; count += 1) {
      const { order } = (await claim()).body;
      expect(order.checkpoint).toEqual({ of: order.instance });
    }
  });

  it('are listed page by page, and are removed with their schedules', async () => {
    for (const path of ['/files_1/instances/b', '/files_1/instances/a', hr]) await save(path);
    await schedule('/files_2');
    await schedule(hr);
    const list = async (query: string) => (await platform.call('GET', `/instances?${query}`)).body;
    const first = await list('limit=2');
    expect(first.data).toMatchObject([{ instance: 'a' }, { instance: 'b' }]);
    const second = await list(`limit=2&cursor=${first.nextCursor}`);
    expect(second).toMatchObject({
      data: [
        { connector: 'files_2', instance: 'default', displayName: null, scheduleState: 'active' },
        { connector: 'wiki_1', instance: 'hr', scheduleState: 'active' },
      ],
      nextCursor: null,
    });
    expect((await list('connector=wiki_1')).data).toHaveLength(1);
    expect((await platform.call('GET', '/instances?cursor=x')).status).toBe(400);
    expect((await platform.call('DELETE', hr)).status).toBe(200);
    expect([
      (await platform.call('GET', hr)).status,
      (await platform.call('GET', `${hr}/schedule`)).status,
    ]).toEqual([404, 404]);
    expect((await schedule(hr)).status).toBe(404);
  });

  it('leave nothing behind when they are removed', async () => {
    const path = '/wiki_1/instances/gone';
    await save(path);
    await schedule(path, { worker: 'pull' });
    await platform.call('POST', `${path}/run`);
    const claimed = await platform.call('POST', '/work/claim', {
      body: { connectors: ['wiki_1'], instances: ['gone'], worker: 'test' },
    });
    const { order, lease } = claimed.body;
    await platform.call('POST', `/work/${order.runId}/heartbeat`, { body: { lease, log: ['one'] } });
    const count = async () => {
      const { rows } = await platform.db.query(
        `select (select count(*) from runs where instance = 'gone')::int as runs, (select count(*) from run_log)::int as log,
           (select count(*) from worker_sightings where instance = 'gone')::int as sightings,
           (select count(*) from connector_states where instance = 'gone')::int as states`,
      );
      return rows[0];
    };
    expect(await count()).toEqual({ runs: 1, log: 1, sightings: 1, states: 1 });
    expect((await platform.call('DELETE', path)).status).toBe(200);
    expect(await count()).toEqual({ runs: 0, log: 0, sightings: 0, states: 0 });
  });

  it.each(['HR', 'a b', '-a', 'a-', 'a'.repeat(51), '%00'])('refuses the name %j', async (name) => {
    expect((await save(`/wiki_1/instances/${encodeURI(name)}`)).status).toBe(400);
    const answer = await platform.call('GET', `/wiki_1/instances/${encodeURI(name)}/schedule`, {
      token: member.token,
    });
    expect(answer.status).toBe(403);
  });

  it('are managed by the member who owns them, and by no other', async () => {
    await save();
    await save('/wiki_1/instances/sales', { displayName: 'Sales', ownerId: randomUUID() });
    const asMember = async (method: string, path: string, body?: object) =>
      (await platform.call(method, path, { token: member.token, ...(body && { body }) })).status;
    expect(await asMember('GET', `${hr}/schedule`)).toBe(403);
    await save(hr, { displayName: 'HR wiki', ownerId: member.userId });
    expect(await asMember('POST', `${hr}/schedule`, { scheduleConfig: daily })).toBe(201);
    expect(await asMember('POST', `${hr}/run`)).toBe(202);
    expect(await asMember('GET', hr)).toBe(200);
    for (const [method, path] of [
      ['GET', '/wiki_1/schedule'],
      ['GET', '/wiki_1/instances/sales/runs'],
      ['PUT', hr],
      ['DELETE', hr],
    ] as const)
      expect([method, path, await asMember(method, path)]).toEqual([method, path, 403]);
    const { data } = (await platform.call('GET', '/instances', { token: member.token })).body;
    expect(data).toMatchObject([{ instance: 'hr' }]);
    await save('/wiki_1/instances/default', { displayName: 'Wiki', ownerId: member.userId });
    expect(await asMember('POST', '/wiki_1/schedule', { scheduleConfig: daily })).toBe(201);
  });

  it('are limited in number', async () => {
    await platform.db.query(
      `insert into connector_instances (org_id, connector, instance, display_name)
       select $1, 'files_5', 'i' || n, 'x' from generate_series(1, 1000) n`,
      [platform.admin.orgId],
    );
    const refused = await save();
    expect([refused.status, refused.body.error.code]).toEqual([409, 'TOO_MANY_INSTANCES']);
    expect((await save('/files_5/instances/i1')).status).toBe(200);
    await platform.db.query('truncate connector_instances');
  });
});
