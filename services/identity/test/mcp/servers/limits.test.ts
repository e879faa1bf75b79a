import { waitFor } from '@platform/testing';
import { startIdentity } from '../../identity.js';
import { attacks, type HostileServer, startHostileServer } from './hostile-server.js';
import { ALLOW_LOCAL, createAgent, createMounts } from './platform.js';

// The attacks that kill a process without limits are in hostile-process.full.test.ts.

let hostile: HostileServer;

const identity = await startIdentity({ environment: { ...ALLOW_LOCAL, MCP_SERVER_TIMEOUT_MS: '2000' } });
const session = await identity.login();
const mounts = createMounts(identity, session);
const agent = createAgent(identity, session);
beforeEach(async () => {
  hostile = await startHostileServer();
});
afterEach(async () => {
  await identity.db.query('delete from mcp_servers');
  await hostile.close();
});
afterAll(() => identity.close());

const inEffect = { search: 'kb:read', save: 'semantic:write' };
const textOf = async (name: string): Promise<string> =>
  (await agent.call(name, { query: 'a' })).result.content[0].text as string;

test.each(['wiki__search', 'wiki__save'])('a call is sent once to a server that claims another definition: %s', async (name) => {
  hostile.isModern = true;
  await mounts.mountInEffect(hostile.url, inEffect);
  const listed = hostile.count('tools/list');
  hostile.onCall = attacks.headerMismatch;
  expect(await textOf(name)).toBe('The server wiki refused the call.');
  expect([hostile.count('tools/call'), hostile.count('tools/list')]).toEqual([1, listed]);
}); // prettier-ignore

test('only reads are sent again when a server has forgotten the session', async () => {
  await mounts.mountInEffect(hostile.url, inEffect);
  const forgetOnce = (): void => {
    hostile.onCall = (_message, response) => {
      hostile.onCall = undefined;
      response.writeHead(404).end();
    };
  };
  forgetOnce();
  expect(await textOf('wiki__search')).toBe('done');
  forgetOnce();
  expect(await textOf('wiki__save')).toMatch(/whether it did what it was asked is unknown\.$/);
  expect(await textOf('wiki__save')).toBe('done');
  expect(hostile.count('tools/call')).toBe(4);
});

test.each([false, true])('names that break a line reach neither the log nor the list (stateless revision: %s)', async (isModern) => {
  hostile.isModern = isModern;
  hostile.onList = attacks.forgedNames;
  const warn = jest.spyOn(console, 'warn').mockImplementation(() => undefined);
  try {
    const id = await mounts.mountInEffect(hostile.url, { search: 'kb:read' });
    const names = (await mounts.listTools(id)).map(({ name }) => name);
    expect(names).toEqual(isModern ? ['search'] : ['invalid_header', 'search']);
    expect(warn).not.toHaveBeenCalled();
    expect(identity.logged()).not.toContain('forged');
  } finally {
    warn.mockRestore();
  }
}); // prettier-ignore

test('an answer has a megabyte, unless the mount allows more', async () => {
  const id = await mounts.mountInEffect(hostile.url, inEffect);
  hostile.onCall = attacks.hugeText;
  expect(await textOf('wiki__search')).toBe('The server wiki gave an answer that is too large: ask for less.');
  const { status, body } = await mounts.call('PATCH', `/${id}`, { maxAnswerBytes: 4_194_304 });
  expect([status, body.server.maxAnswerBytes]).toEqual([200, 4_194_304]);
  expect((await textOf('wiki__search')).length).toBe(3_800_000);
  expect((await mounts.call('PATCH', `/${id}`, { maxAnswerBytes: 4_194_305 })).status).toBe(400);
}); // prettier-ignore

test('large answers of an organisation share its memory, and small ones get through', async () => {
  await mounts.mountInEffect(hostile.url, inEffect, { maxAnswerBytes: 4_194_304 });
  const held: (() => void)[] = [];
  hostile.onCall = ({ id }, response) => {
    const result = { content: [{ type: 'text', text: 'a'.repeat(2_500_000) }] };
    const json = JSON.stringify({ jsonrpc: '2.0', id, result });
    response.writeHead(200, { 'content-type': 'application/json' }).write(json.slice(0, -1));
    held.push(() => response.end('}'));
  };
  const calling = [textOf('wiki__search'), textOf('wiki__save')];
  // The answer that is received second is one too many.
  expect(await Promise.race(calling)).toMatch(/^The server wiki gave a large answer while others were received: try again later/);
  hostile.onCall = undefined;
  expect(await textOf('wiki__search')).toBe('done');
  for (const release of held) release();
  const lengths = (await Promise.all(calling)).map(({ length }) => length);
  expect(Math.max(...lengths)).toBe(2_500_000);
}); // prettier-ignore

test.each([
  ['a handshake of 3.8 MB', 'onHandshake', 'hugeHandshake', 'too_large'],
  ['a handshake that drips', 'onHandshake', 'drip', 'timeout'],
  ['an array of pings', 'onList', 'pingArray', 'invalid_answer'],
  ['a list that drips', 'onList', 'drip', 'timeout'],
  ['a list with pages of 3.8 MB', 'onList', 'endlessPages', 'too_large'],
] as const)('%s is broken off', async (_title, when, attack, fault) => {
  hostile[when] = attacks[attack];
  const id = await mounts.mount(hostile.url);
  expect((await mounts.call('POST', `/${id}/test`)).body).toMatchObject({ isUsable: false, fault });
});

test('an organisation has four listings at the same time, and does not hold up another', async () => {
  hostile.onList = attacks.hang;
  const id = await mounts.mount(hostile.url);
  await waitFor(() => hostile.count('tools/list') === 1, { what: 'the job, which lists' });
  const hanging = [1, 2, 3].map(() => mounts.call('POST', `/${id}/test`));
  await waitFor(() => hostile.count('tools/list') === 4, { what: 'the lists that hang' });
  const { status, body } = await mounts.call('POST', `/${id}/refresh`);
  expect([status, body.error.code]).toEqual([429, 'TOO_MANY_LISTINGS']);
  const theirs = createMounts(identity, (await identity.createOrganisation('other@example.org')).session);
  const good = await startHostileServer();
  const test = await theirs.call('POST', `/${await theirs.mount(good.url)}/test`);
  await Promise.all(hanging);
  await good.close();
  expect(test.body).toMatchObject({ isUsable: true, tools: 2 });
}); // prettier-ignore

test('an organisation tests and refreshes servers sixty times a minute, and uses up nothing of another', async () => {
  const other = createMounts(identity, (await identity.createOrganisation('busy@example.org')).session);
  const unknown = '/00000000-0000-7000-8000-000000000000';
  const first = Array.from({ length: 60 }, (_value, index) => `${unknown}/${index % 2 ? 'test' : 'refresh'}`);
  const statuses = await Promise.all(first.map(async (path) => (await other.call('POST', path)).status));
  expect(new Set(statuses)).toEqual(new Set([404]));
  // Another one is allowed each second, however long the sixty took.
  const refused = await waitFor(
    async () => {
      const { status, body } = await other.call('POST', `${unknown}/test`);
      return status === 429 && body;
    },
    { what: 'a refusal', intervalMs: 5 },
  );
  expect(refused.error.code).toBe('RATE_LIMITED');
  expect((await mounts.call('POST', `${unknown}/test`)).status).toBe(404);
}); // prettier-ignore
