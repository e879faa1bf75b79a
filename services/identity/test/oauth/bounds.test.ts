import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { introspect } from '../introspection.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { startWithApplication } from './connected-application.js';
import { createAuthorization, openConsent, refresh } from './flow.js';

/* Connections that the person has limited at consent. */

/** The tokens with which the tool endpoint calls crawl. */
const received: string[] = [];
const crawl = createServer(({ headers }, response) => {
  received.push((headers.authorization ?? '').replace('Bearer ', ''));
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ success: true, message: '', data: [] }));
});
await new Promise<void>((resolve) => {
  crawl.listen(0, '127.0.0.1', resolve);
});
const CRAWL_URL = `http://127.0.0.1:${(crawl.address() as AddressInfo).port}`;
const running = await startWithApplication({ CRAWL_URL });
const { identity, session, clientId, browser, connect } = running;
afterAll(async () => {
  await running.close();
  crawl.closeAllConnections();
  crawl.close();
});

const listTools = async (token: string): Promise<string[]> => {
  const { body } = await createCaller(identity, token).legacy('tools/list');
  return body.result.tools.map(({ name }: { name: string }) => name).toSorted();
};
async function findApps(path = '') {
  return (await identity.call('GET', `/api/v1/connected-apps${path}`, { token: session })).body.data;
}
const countGrants = async () => (await identity.db.query('select from oauth_grants')).rowCount;

test('OAUTH-27 the person limits a connection by ticking what it can use, and a refresh changes nothing', async () => {
  const { token, refreshToken } = await connect({
    tools: ['whoami', 'list_connectors'],
    connectors: ['code_1', 'files_1'],
  });
  expect(await listTools(token)).toEqual(['list_connectors', 'whoami']);
  const call = await createCaller(identity, token).legacy('tools/call', {
    name: 'list_crawls',
    arguments: {},
  });
  expect(call.body.error.message).toBe('Unknown tool: list_crawls');
  const refreshed = await refresh(identity, clientId, refreshToken);
  expect(await listTools(refreshed.body.access_token)).toEqual(['list_connectors', 'whoami']);
  const bounds = { tools: ['whoami', 'list_connectors'], connectors: ['code_1', 'files_1'] };
  expect((await findApps())[0].bounds).toEqual(bounds);
  expect((await findApps('/admin'))[0].bounds).toEqual(bounds);
  expect((await introspect(identity, token)).authorization_details).toEqual([{ type: 'bounds', ...bounds }]);
  const { rows } = await identity.db.query<{ detail: { bounds: string } }>(
    `select detail from audit_entries where action = 'connected_app.authorized' order by id desc limit 1`,
  );
  expect(JSON.parse(rows[0]?.detail.bounds ?? '')).toEqual(bounds);
});

test('OAUTH-27 the token with which a tool calls a service has the bounds of the connection', async () => {
  const { token } = await connect({ connectors: ['code_1'] });
  received.length = 0;
  await createCaller(identity, token).legacy('tools/call', { name: 'list_connectors', arguments: {} });
  expect(received).toHaveLength(1);
  expect(received[0]).not.toBe(token);
  expect(await introspect(identity, received[0] ?? '')).toMatchObject({
    active: true,
    authorization_details: [{ type: 'bounds', connectors: ['code_1'] }],
  });
});

test('AUTH-62 decisions about a connection are what its tokens can do', async () => {
  const { token } = await connect({
    scope: ['user:read', 'crawl:read'],
    tools: ['whoami', 'list_crawls'],
    connectors: ['code_1'],
  });
  const [{ id }] = await findApps();
  const subject = { type: 'connection', id };
  const ask = (path: string, body: object) =>
    identity.call('POST', `/access/v1/${path}`, { token: session, body: { subject, ...body } });
  const evaluate = async (name: string, resource: object) =>
    (await ask('evaluation', { action: { name }, resource })).body.context?.reason;
  const found: string[] = [];
  for (const name of ['user:read', 'crawl:read']) {
    const { body } = await ask('search/resource', { action: { name }, resource: { type: 'tool' } });
    found.push(...body.results.map((one: { id: string }) => one.id));
  }
  expect(found.toSorted()).toEqual(await listTools(token));
  expect(await evaluate('crawl:read', { type: 'tool', id: 'get_crawl' })).toBe('bound');
  expect(await evaluate('crawl:read', { type: 'connector', id: 'code_1' })).toBe('permitted');
  expect(await evaluate('crawl:read', { type: 'connector', id: 'wiki_1' })).toBe('bound');
  expect(await evaluate('crawl:write', { type: 'connector', id: 'code_1' })).toBe('scope');
  await identity.call('DELETE', `/api/v1/connected-apps/${id}`, { token: session });
  expect(await evaluate('user:read', { type: 'tool', id: 'whoami' })).toBe('inactive');
});

test('OAUTH-27 nothing ticked is no limit, and "none" allows nothing', async () => {
  const free = await connect();
  expect((await findApps())[0].bounds).toBeNull();
  expect(await introspect(identity, free.token)).not.toHaveProperty('authorization_details');
  const limited = await connect({ tools: '-', connectors: ['-', 'code_1'] });
  expect(await listTools(limited.token)).toEqual([]);
  expect((await findApps())[0].bounds).toEqual({ tools: [], connectors: ['code_1'] });
});

test('OAUTH-27 the page offers what concerns the scopes and the place, and opens again as it was left', async () => {
  const { page, path } = await openConsent(browser, createAuthorization(clientId));
  expect(page.text).toMatch(/<details\s*>/);
  expect(page.text).toMatch(/name="tools" value="whoami"\s+\/>/);
  expect(page.text).toContain('name="connectors" value="code_1"');
  expect(page.text).not.toContain('name="servers"');
  const left = await browser.get(`${path}?ticked=user%3Aread&tools=whoami+list_crawls&connectors=-`);
  expect(left.text).toMatch(/<details open/);
  for (const name of ['whoami', 'list_crawls'])
    expect(left.text).toMatch(new RegExp(`name="tools" value="${name}" checked`));
  expect(left.text).toMatch(/name="tools" value="get_crawl"\s+\/>/);
  expect(left.text).toContain('name="connectors" value="-" checked');
  const { page: other } = await openConsent(browser, createAuthorization(clientId, { scope: 'user:read' }));
  expect(other.text).not.toContain('name="connectors"');
});

test('OAUTH-27 a name that the person cannot choose is refused, and nothing is connected', async () => {
  const before = await countGrants();
  for (const fields of [
    { tools: 'wiki__search' },
    { servers: 'wiki' },
    { connectors: 'code_9' },
    { tools: Array.from({ length: 101 }, () => 'whoami') },
  ]) {
    const { path, csrf } = await openConsent(browser, createAuthorization(clientId));
    const answer = await browser.post(path, { csrf, decision: 'allow', scope: 'user:read', ...fields });
    expect([fields, answer.status]).toEqual([fields, 400]);
  }
  expect(await countGrants()).toBe(before);
});
