import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { introspect } from '../introspection.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { createApplication, PUBLIC_URL, requestToken } from './applications.js';
import { startWithApplication } from './connected-application.js';
import { consent, createAuthorization, exchangeCode, openConsent, refresh } from './flow.js';

/* Connections that the person has limited at consent, and applications that their administrator has limited. */

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

describe('an application that acts as its service account', () => {
  const PATH = '/api/v1/oauth-applications';
  const change = (id: string, body: object) =>
    identity.call('PATCH', `${PATH}/${id}`, { token: session, body });
  const bounds = { tools: ['whoami', 'list_connectors'], connectors: ['code_1'] };

  async function startApplication(fields: object) {
    const { application, clientSecret } = await createApplication(identity, session, fields);
    const credentials = { clientId: application.clientId, clientSecret };
    const obtain = async () =>
      (await requestToken(identity, credentials, { resource: `${PUBLIC_URL}/mcp` })).body
        .access_token as string;
    return { id: application.clientId, clientSecret, obtain };
  }

  test('PAT-59 has the bounds that its administrator gives it, with a token for a service as well', async () => {
    const { id, obtain } = await startApplication({ bounds });
    const token = await obtain();
    expect(await listTools(token)).toEqual(['list_connectors', 'whoami']);
    expect((await introspect(identity, token)).authorization_details).toEqual([
      { type: 'bounds', ...bounds },
    ]);
    received.length = 0;
    await createCaller(identity, token).legacy('tools/call', { name: 'list_connectors', arguments: {} });
    expect((await introspect(identity, received[0] ?? '')).authorization_details).toEqual([
      { type: 'bounds', ...bounds },
    ]);
    for (const path of [`/${id}`, '']) {
      const { body } = await identity.call('GET', `${PATH}${path}`, { token: session });
      expect((body.application ?? body.data[0]).bounds).toEqual(bounds);
    }
  });

  test('PAT-59 has other bounds, or none, with the next request', async () => {
    const { id, obtain } = await startApplication({});
    const token = await obtain();
    expect(await listTools(token)).toContain('list_crawls');
    expect((await change(id, { bounds: { tools: ['whoami'] } })).body.application.bounds).toEqual({
      tools: ['whoami'],
    });
    expect(await listTools(token)).toEqual(['whoami']);
    expect((await change(id, { name: 'Other' })).body.application.bounds).toEqual({
      tools: ['whoami'],
    });
    expect((await change(id, { bounds: null })).body.application.bounds).toBeNull();
    expect(await listTools(token)).toContain('list_crawls');
    const { body } = await identity.call('GET', `/api/v1/audit?subjectId=${id}`, { token: session });
    expect(body.data.map(({ changes }: { changes: object }) => changes)).toMatchObject([
      { bounds: { from: '{"tools":["whoami"]}', to: null } },
      { name: {} },
      { bounds: { from: null, to: '{"tools":["whoami"]}' } },
      {},
    ]);
  });

  test('PAT-59 does not limit the members who connect it, who choose themselves', async () => {
    const both = await startApplication({
      grantTypes: ['authorization_code', 'client_credentials'],
      redirectUris: ['http://127.0.0.1/callback'],
      bounds: { tools: [] },
    });
    expect(await listTools(await both.obtain())).toEqual([]);
    const authorization = createAuthorization(both.id);
    const code = (await consent(browser, authorization)).searchParams.get('code') ?? '';
    const { body } = await exchangeCode(identity, authorization, code, { client_secret: both.clientSecret });
    expect(await listTools(body.access_token)).toContain('whoami');
  });

  test('PAT-58 PAT-59 names what cannot be chosen, and what can', async () => {
    for (const [fields, field] of [
      [{ bounds: { connectors: ['code_9'] } }, 'bounds.connectors.0'],
      [{ bounds: { servers: ['wiki'] } }, 'bounds.servers.0'],
      [{ bounds: {} }, 'bounds'],
      [
        {
          bounds,
          grantTypes: ['authorization_code'],
          redirectUris: ['http://127.0.0.1/callback'],
          role: undefined,
        },
        'bounds',
      ],
    ] as const) {
      const body = { name: 'x', grantTypes: ['client_credentials'], scopes: ['user:read'], ...fields };
      const answer = await identity.call('POST', PATH, { token: session, body });
      expect([answer.status, answer.body.error.details?.[0].field]).toEqual([400, field]);
    }
    const { body } = await identity.call('GET', `${PATH}/bounds`, { token: session });
    expect(body.bounds).toMatchObject({
      tools: expect.arrayContaining(['whoami']),
      connectors: expect.arrayContaining(['code_1']),
    });
  });
});
