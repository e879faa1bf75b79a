import { callUrl, type CallOptions, waitFor } from '@platform/testing';
import { admin, createIdentityDatabase } from '../identity.js';
import { environmentFor, type Server, startServer } from '../process/process.js';
import { closeReceivers, createSubscriber, startEventReceiver } from './events/agent.js';
import { attacks, startHostileServer } from './servers/hostile-server.js';
import { ALLOW_LOCAL, createAgent, createMounts } from './servers/platform.js';

/* Two processes of the image, as in production: one reads what servers of others answer, one does everything else. */

const database = await createIdentityDatabase();
const environment = {
  ...environmentFor(database.url),
  ...ALLOW_LOCAL,
  DESTINATION_ALLOWED_TARGETS: '127.0.0.0/8',
  MCP_SERVER_REFRESH_MS: '1000',
};
const main: Server = await startServer({ ...environment, ROLE: 'main' });
const startMcp = () => startServer({ ...environment, ROLE: 'mcp' });
let mcp: Server = await startMcp();
/** Routes like the gateways. */
const platform = {
  call: (method: string, path: string, options?: CallOptions) =>
    callUrl((/^\/(?:mcp|api\/v1\/mcp-servers)/.test(path) ? mcp : main).url + path, method, options),
};
const login = await platform.call('POST', '/api/v1/auth/login', { body: admin });
const session = login.body.accessToken as string;

afterAll(async () => {
  for (const { child, exit } of [main, mcp]) {
    child.kill('SIGKILL');
    await exit;
  }
  await database.drop();
});

test('OPS-13 the main process leaves what servers of others answer to the other role', async () => {
  for (const path of [
    '/mcp',
    '/oauth2/upstream/callback',
    '/api/v1/mcp-servers',
    '/api/v1/mcp-servers/00000000-0000-4000-8000-000000000000',
  ])
    expect([path, (await callUrl(main.url + path, 'GET', { token: session })).status]).toEqual([path, 404]);
  const { status, body } = await platform.call('GET', '/api/v1/mcp-servers', { token: session });
  expect([status, JSON.stringify(body)]).toEqual([200, expect.stringContaining('[]')]);
  expect((await callUrl(`${main.url}/api/v1/users/me`, 'GET', { token: session })).status).toBe(200);
});

test('OPS-13 a process that a mounted server brings down takes no request of the others with it', async () => {
  const hostile = await startHostileServer();
  const mounts = createMounts(platform, session);
  const agent = createAgent(platform, session);
  await mounts.mountInEffect(hostile.url, { search: 'kb:read' });
  // The refresh is a job of the role "mcp".
  await waitFor(() => hostile.count('tools/list') >= 2, { what: 'the job that lists the tools' });

  hostile.onCall = attacks.manyParts;
  const calls = Promise.allSettled(
    Array.from({ length: 32 }, () => agent.call('wiki__search', { query: 'a' })),
  );
  await waitFor(() => hostile.count('tools/call') > 0, { what: 'the calls at the server' });
  for (let count = 0; count < 100; count += 1) {
    // As V8 ends a process whose heap is exhausted.
    if (count === 20) mcp.child.kill('SIGABRT');
    expect((await callUrl(`${main.url}/api/v1/users/me`, 'GET', { token: session })).status).toBe(200);
  }
  await Promise.all([calls, mcp.exit]);
  expect((await callUrl(`${main.url}/health/live`, 'GET')).status).toBe(200);

  hostile.onCall = undefined;
  mcp = await startMcp();
  expect((await agent.call('wiki__search', { query: 'cats' })).result.isError).not.toBe(true);
  await hostile.close();
});

test('EVT-29 a subscription is made at the role "mcp", and sent and ended by the main process', async () => {
  const receiver = await startEventReceiver();
  const createToken = async (scopes: string[]) => {
    const body = { name: 'agent', scopes };
    const created = await platform.call('POST', '/api/v1/personal-access-tokens', { token: session, body });
    return created.body.token as { id: string; accessToken: string };
  };
  const revoke = async (): Promise<string> => {
    const { id } = await createToken(['user:read']);
    await platform.call('DELETE', `/api/v1/personal-access-tokens/${id}`, { token: session });
    return id;
  };
  const follower = await createToken(['pat:read']);
  await createSubscriber(platform, follower.accessToken).follow('my_token.revoked', receiver.url);
  const revoked = [await revoke()];
  await waitFor(() => receiver.events().length === 1, { what: 'the event', patienceMs: 30_000 });
  // What a mounted server can bring down sends nothing.
  mcp.child.kill('SIGKILL');
  await mcp.exit;
  revoked.push(await revoke());
  await waitFor(() => receiver.events().length === 2, { what: 'the other event', patienceMs: 30_000 });
  expect(receiver.events().map(({ data }) => data['tokenId'])).toEqual(revoked);
  const { body } = await platform.call('GET', '/api/v1/events/subscriptions', { token: session });
  const [{ id } = { id: '' }] = body.data as { id: string }[];
  const stopped = await platform.call('DELETE', `/api/v1/events/subscriptions/${id}`, { token: session });
  expect(stopped.status).toBe(200);
  mcp = await startMcp();
  await closeReceivers();
});
