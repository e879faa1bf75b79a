import { waitFor } from '@platform/testing';
import { setTimeout as delay } from 'node:timers/promises';
import { startIdentity } from '../../identity.js';
import { startReplica } from '../../replica.js';
import { ALLOW_LOCAL, createAgent, createMounts } from './platform.js';
import { saveTool, searchTool, startUpstream } from './upstream.js';

const REFRESH_MS = 3_000;
const environment = { ...ALLOW_LOCAL, MCP_SERVER_REFRESH_MS: String(REFRESH_MS) };

const identity = await startIdentity({ environment });
const replica = await startReplica(identity.databaseUrl, environment);
const session = await identity.login();
const mounts = createMounts(identity, session);
const upstream = await startUpstream();
afterAll(async () => {
  await replica.close();
  await identity.close();
  await upstream.close();
});

const createAgents = () =>
  [identity, { ...identity, call: replica.call }].map((one) => createAgent(one, session));
const listMountedNames = async (agent: ReturnType<typeof createAgent>) =>
  (await agent.listNames()).filter((name) => name.includes('__'));

test('a change takes effect with the next request at every replica', async () => {
  const [here, there] = createAgents();
  if (!here || !there) throw new Error('no agents');
  expect(await listMountedNames(there)).toEqual([]);
  const id = await mounts.mountInEffect(upstream.url, { search: 'kb:read', save: 'kb:read' });
  expect(await listMountedNames(there)).toEqual(['wiki__save', 'wiki__search']);
  for (let round = 0; round < 6; round += 1) {
    const scope = round % 2 === 0 ? 'none' : 'kb:read';
    await mounts.decide(id, [{ name: 'search', scope }]);
    const expected = scope === 'none' ? ['wiki__save'] : ['wiki__save', 'wiki__search'];
    expect(await Promise.all([listMountedNames(there), listMountedNames(here)])).toEqual([
      expected,
      expected,
    ]);
  }
  await mounts.call('PATCH', `/${id}`, { isEnabled: false });
  expect((await there.call('wiki__search', { query: 'a' })).error).toMatchObject({ code: -32_602 });
  await mounts.call('DELETE', `/${id}`);
  expect(await listMountedNames(there)).toEqual([]);
});

test('the replicas together refresh each server once in an interval, and see what has changed', async () => {
  const id = await mounts.mountInEffect(upstream.url, { search: 'kb:read', save: 'kb:read' });
  const [, there] = createAgents();
  upstream.received.length = 0;
  const countLists = () => upstream.received.filter(({ message }) => message.method === 'tools/list').length;
  await waitFor(() => countLists() > 0, { what: 'the first refresh' });
  upstream.received.length = 0;
  await delay(REFRESH_MS * 2);
  // Each replica looks every two seconds, so that an interval is a little longer than configured.
  expect(countLists()).toBeGreaterThanOrEqual(1);
  expect(countLists()).toBeLessThanOrEqual(2);
  upstream.tools = [{ ...searchTool, description: 'Something else.' }, saveTool];
  await waitFor(async () => (await listMountedNames(there as never)).length === 1, { what: 'the changed tool to be out of effect' });
  const { rows } = await identity.db.query(`select count(*)::int as count from audit_entries where subject_id = $1 and action = 'mcp_server.tools_offered'`, [id]);
  expect(rows).toEqual([{ count: 2 }]);
}); // oxfmt-ignore
