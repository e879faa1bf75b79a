import { randomUUID } from 'node:crypto';
import { serviceClient } from '../../identity.js';
import { createAgent, useMounts } from './platform.js';
import { textResult } from './upstream.js';

/* MCP-42, MCP-43: an answer knows its age, from the facts that crawl reports. */

const KEY = 'workspace-knowledge-platform/crawls';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const site = await useMounts();
const { identity, session, mounts } = site;
const agent = createAgent(identity, session);

async function getServiceToken(): Promise<string> {
  const basic = Buffer.from(`${serviceClient.id}:${serviceClient.secret}`).toString('base64');
  const { body } = await identity.call('POST', '/api/v1/oauth2/token', {
    raw: 'grant_type=client_credentials',
    headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
  });
  return body.access_token as string;
}
const service = await getServiceToken();

const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();

/** A run that has ended, some time ago. */
const toRun = (outcome: string, agoMs: number, nextInMs: number | null, orgId = identity.orgId) => ({
  id: randomUUID(),
  orgId,
  type: `crawl.run.${outcome}`,
  at: inMs(-agoMs),
  data: {
    runId: randomUUID(),
    connector: 'files_1',
    instance: 'default',
    trigger: 'schedule',
    worker: 'pull',
    mode: 'full',
    scheduledFor: inMs(-agoMs - MINUTE_MS),
    nextRunAt: nextInMs === null ? null : inMs(nextInMs),
    startedAt: null,
    attempts: 1,
    counters: {},
    reason: null,
  },
});
const toAct = (action: string, agoMs: number) => ({
  id: randomUUID(),
  orgId: identity.orgId,
  type: 'audit.entry',
  at: inMs(-agoMs),
  data: {
    action: `crawl_schedule.${action}`,
    actorId: randomUUID(),
    credential: { kind: 'session', id: randomUUID() },
    address: '192.0.2.1',
    userAgent: null,
    requestId: null,
    subjectId: randomUUID(),
    detail: { connector: 'files_1', instance: 'default' },
  },
});
async function report(...facts: object[]): Promise<void> {
  const { status, text } = await identity.call('POST', '/api/v1/internal/facts', {
    token: service,
    body: { facts },
  });
  if (status !== 200) throw new Error(text);
}

async function ask() {
  const { result } = await agent.call('wiki__search', { query: 'a' });
  const texts = (result.content as { text: string }[]).map(({ text }) => text);
  return { texts, state: result._meta?.[KEY]?.[0]?.state as string | undefined, meta: result._meta };
}

beforeEach(async () => {
  await identity.db.query('delete from crawl_ages');
  site.upstream.call = () => ({ ...textResult('found'), _meta: { [KEY]: 'a lie', 'own/a': 1 } });
  await mounts.mountInEffect(site.upstream.url, { search: 'kb:read' }, { connectors: ['files_1'] });
});

test('MCP-42 a result says how old it is, and in words what is late or fails', async () => {
  expect(await ask()).toMatchObject({ texts: ['found', 'files_1 has not been crawled yet.'], state: 'late' });
  await report(toRun('completed', 2 * HOUR_MS, HOUR_MS));
  const fresh = await ask();
  expect(fresh).toMatchObject({ texts: ['found'], state: 'fresh', meta: { 'own/a': 1 } });
  expect(fresh.meta[KEY]).toMatchObject([{ connector: 'files_1', instance: 'default', nextRunAt: expect.any(String) }]);
  await report(toRun('failed', HOUR_MS, HOUR_MS));
  const failing = await ask();
  expect(failing).toMatchObject({ state: 'failing', texts: ['found', expect.stringContaining('files_1 was last crawled 2 hours ago; crawls fail since ')] });
  await report(toAct('paused', MINUTE_MS));
  expect(await ask()).toMatchObject({ texts: ['found'], state: 'paused' });
  await report(toAct('resumed', 30_000), toRun('completed', 10_000, HOUR_MS));
  expect(await ask()).toMatchObject({ texts: ['found'], state: 'fresh' });
}); // oxfmt-ignore

test('MCP-42 a pause outlasts the run that it aborts, and ends with a later run', async () => {
  const aborted = toRun('aborted', MINUTE_MS, HOUR_MS);
  await report(toRun('completed', 2 * HOUR_MS, HOUR_MS), toAct('paused', MINUTE_MS + 500), aborted);
  expect((await ask()).state).toBe('paused');
  await report(toRun('completed', -5 * MINUTE_MS, HOUR_MS));
  expect((await ask()).state).toBe('fresh');
});

test('MCP-42 a connector whose schedule was removed is never fresh, until another schedule is saved', async () => {
  const removed = toAct('removed', 2 * MINUTE_MS);
  // The run that the removal aborts is reported after it.
  await report(toRun('completed', 2 * HOUR_MS, HOUR_MS), toRun('aborted', MINUTE_MS, null), removed);
  const words = 'files_1 was last crawled 2 hours ago; its schedule was removed.';
  expect(await ask()).toMatchObject({ state: 'unscheduled', texts: ['found', words] });
  await report(toAct('saved', MINUTE_MS));
  expect(await ask()).toMatchObject({ state: 'fresh', texts: ['found'] });
  await report(removed);
  expect((await ask()).state).toBe('fresh');
});

test('GRP-7 everybody sees the sources of the tools that they reach, in the words of the answers, and administrators all', async () => {
  const list = async (token: string) =>
    (await identity.call('GET', '/api/v1/knowledge/sources', { token })).body.data as object[];
  const member = (await identity.createMember(session)).session;
  await report(toRun('completed', 2 * HOUR_MS, HOUR_MS));
  const files = { connector: 'files_1', instance: 'default', state: 'fresh', servers: ['wiki'] };
  const shown = [expect.objectContaining({ ...files, text: 'files_1 was last crawled 2 hours ago.' })];
  expect([await list(session), await list(member)]).toEqual([shown, shown]);
  const other = toRun('failed', HOUR_MS, HOUR_MS);
  await report({ ...other, data: { ...other.data, connector: 'code_1', instance: 'eu' } });
  expect((await list(session)).map((source) => source)).toMatchObject([
    { connector: 'code_1', instance: 'eu', state: 'failing', servers: [] },
    files,
  ]);
  expect(await list(member)).toEqual(shown);
  const [{ id }] = (await mounts.call('GET', '')).body.data as [{ id: string }];
  await mounts.decide(id, [{ name: 'search', allowedGroups: [] }]);
  expect(await list(member)).toEqual([]);
  expect(await list(session)).toMatchObject([{ connector: 'code_1' }, { ...files, servers: [] }]);
  const { accessToken: token } = await identity.createToken(session, { scopes: ['user:read'] });
  expect((await identity.call('GET', '/api/v1/knowledge/sources', { token })).status).toBe(403);
});

test('MCP-77 a source says what is crawled, how much, since when, and who can search it, whatever order the facts come in', async () => {
  const list = async (token: string) =>
    (await identity.call('GET', '/api/v1/knowledge/sources', { token })).body.data as object[];
  const { id: memberId, session: member } = await identity.createMember(session);
  const described = (agoMs: number, source: object | null, more: object = {}) => {
    const run = toRun('completed', agoMs, HOUR_MS);
    return { ...run, data: { ...run.data, source, ...more } };
  };
  expect(await list(member)).toMatchObject([{ crawled: null, lastFullAt: null, readers: { everyone: true, groups: [] } }]);
  const source = { description: 'The folder /srv/handbook', documents: 120, oldestAt: inMs(-9 * HOUR_MS) };
  const [full, incremental, event] = [
    described(3 * HOUR_MS, source),
    described(HOUR_MS, null, { mode: 'incremental' }),
    described(MINUTE_MS, null, { worker: 'event' }),
  ];
  await report(incremental, full, event, described(5 * HOUR_MS, { description: 'An older folder' }));
  const shown = {
    crawled: { ...source, newestAt: null },
    lastFullAt: full.at,
    lastCompletedAt: event.at,
  };
  expect(await list(member)).toMatchObject([shown]);
  const [{ id }] = (await mounts.call('GET', '')).body.data as [{ id: string }];
  const group = (await identity.call('POST', '/api/v1/groups', { token: session, body: { name: 'Finance' } })).body.group as { id: string };
  await mounts.decide(id, [{ name: 'search', allowedGroups: [group.id] }]);
  // Whoever is not in the group learns neither of the source nor of the group.
  expect(await list(member)).toEqual([]);
  expect(await list(session)).toMatchObject([{ ...shown, servers: [], readers: { everyone: false, groups: ['Finance'] } }]);
  const { group: board } = (await identity.call('POST', '/api/v1/groups', { token: session, body: { name: 'Board' } })).body as { group: { id: string } };
  await mounts.decide(id, [{ name: 'search', allowedGroups: [group.id, board.id] }]);
  await identity.call('PUT', `/api/v1/groups/${group.id}/members/${memberId}`, { token: session });
  // A member sees the own groups alone.
  expect(await list(member)).toMatchObject([{ servers: ['wiki'], readers: { everyone: false, groups: ['Finance'] } }]);
  expect(await list(session)).toMatchObject([{ readers: { groups: ['Board', 'Finance'] } }]);
}); // oxfmt-ignore

test('MCP-42 facts that come twice, late, or in another order change nothing of what is true', async () => {
  const [first, failed, again, completed, newest] = [
    toRun('completed', 5 * HOUR_MS, -4 * HOUR_MS),
    toRun('failed', 4 * HOUR_MS, -3 * HOUR_MS),
    toRun('failed', 3 * HOUR_MS, -2 * HOUR_MS),
    toRun('completed', 2 * HOUR_MS, HOUR_MS),
    toAct('paused', HOUR_MS),
  ];
  await report(again, completed, first, failed);
  expect((await ask()).state).toBe('fresh');
  await report(newest);
  for (const facts of [[failed, again], [completed, first], [again]]) await report(...facts);
  const { rows } = await identity.db.query('select * from crawl_ages');
  expect(rows).toMatchObject([
    { completed_at: new Date(completed?.at ?? 0), failing_since: null, next_run_at: null, paused_at: new Date(newest?.at ?? 0) },
  ]);
}); // oxfmt-ignore

test('MCP-42 what another organisation crawls says nothing here', async () => {
  const other = await identity.createOrganisation(`ages-${randomUUID()}@example.com`);
  await report(
    toRun('completed', HOUR_MS, HOUR_MS, other.orgId),
    toRun('completed', HOUR_MS, HOUR_MS, randomUUID()),
  );
  expect(await ask()).toMatchObject({ state: 'late' });
  const { rows } = await identity.db.query('select org_id from crawl_ages');
  expect(rows).toEqual([{ org_id: other.orgId }]);
});

test('MCP-43 a mount without connectors passes results on as they are, and unknown connectors are 400', async () => {
  const [{ id }] = (await mounts.call('GET', '')).body.data as [{ id: string }];
  expect((await mounts.get(id)).connectors).toEqual(['files_1']);
  expect((await mounts.call('PATCH', `/${id}`, { connectors: ['nothing_1'] })).status).toBe(400);
  expect((await mounts.call('PATCH', `/${id}`, { connectors: [] })).status).toBe(200);
  expect(await ask()).toEqual({ texts: ['found'], state: undefined, meta: { 'own/a': 1 } });
  const { rows } = await identity.db.query<{ changes: object }>(
    `select changes from audit_entries where action = 'mcp_server.changed' and subject_id = $1`,
    [id],
  );
  expect(rows).toEqual([{ changes: { connectors: { from: 'files_1', to: null } } }]);
});
