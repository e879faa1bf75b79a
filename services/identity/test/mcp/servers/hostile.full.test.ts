import { waitFor } from '@platform/testing';
import { gzipSync } from 'node:zlib';
import { createCaller } from '../endpoint/endpoint.js';
import { attacks, type HostileServer, startHostileServer } from './hostile-server.js';
import { createAgent, createMounts, useMounts } from './platform.js';
import { textResult } from './upstream.js';

/* What a mounted server may do to its callers. The attacks that would kill a process are in process.full.test.ts. */

// A busy machine takes a second for a call that hangs to arrive.
const TIMEOUT_MS = '4000';
// An organisation has four of sixteen calls, each of its servers two.
const site = await useMounts({ MCP_SERVER_TIMEOUT_MS: TIMEOUT_MS, MCP_SERVER_CALLS: '16' });
const { identity, session, mounts } = site;
const agent = createAgent(identity, session);
let hostile: HostileServer;
beforeEach(async () => {
  hostile = await startHostileServer();
});
afterEach(() => hostile.close());

const inEffect = { search: 'kb:read', save: 'semantic:write' };
const { getText } = agent;
const MIB = 1_048_576;

/** Lets calls hang until they are released. */
function hold() {
  const releases: (() => void)[] = [];
  return {
    wait: () => new Promise<void>((resolve) => releases.push(resolve)),
    release: () => releases.splice(0).forEach((resolve) => resolve()),
  };
}

test('a call to a hanging server ends at its deadline, and lists do not wait for it', async () => {
  await mounts.mountInEffect(hostile.url, inEffect);
  hostile.onCall = attacks.hang;
  const calling = Promise.all([getText(), getText('wiki__save')]);
  await waitFor(() => hostile.count('tools/call') === 2, { what: 'the calls that hang' });
  expect(await Promise.race([agent.listNames(), calling])).toContain('wiki__search');
  expect(await calling).toEqual([
    'The server wiki gave no answer in time.',
    'The server wiki gave no answer in time; whether it did what it was asked is unknown.',
  ]);
});

test('a server that fails repeatedly is not called until a trial succeeds', async () => {
  await mounts.mountInEffect(hostile.url, inEffect);
  hostile.onCall = (_message, response) => void response.writeHead(500).end();
  for (let count = 0; count < 5; count += 1) await getText();
  expect(await getText()).toMatch(/^The server wiki has failed repeatedly .* Try again in \d+ seconds\.$/);
  expect(hostile.count('tools/call')).toBe(5);
  identity.advance(6_000);
  hostile.onCall = undefined;
  expect([await getText(), await getText()]).toEqual(['done', 'done']);
});

test.each([
  ['JSON', 'application/json', '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"'],
  ['an event stream', 'text/event-stream', 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"'],
])('an answer of 100 MB as %s is cut off, not held in memory', async (_name, type, head) => {
  let written = 0;
  await mounts.mountInEffect(hostile.url, inEffect);
  hostile.onCall = (_message, response) => {
    response.writeHead(200, { 'content-type': type });
    response.write(head);
    const chunk = Buffer.alloc(65_536, 97);
    const write = (): void => {
      while (written < 100 * MIB && !response.destroyed) {
        written += chunk.length;
        if (!response.write(chunk)) {
          response.once('drain', write);
          return;
        }
      }
      response.end();
    };
    write();
  };
  expect(await getText()).toBe('The server wiki gave an answer that is too large: ask for less.');
  expect(written).toBeLessThan(20 * MIB);
}); // oxfmt-ignore

test('a compressed answer is refused, because its size is unknown', async () => {
  const compressed = gzipSync(Buffer.alloc(5 * MIB, 32));
  await mounts.mountInEffect(hostile.url, inEffect);
  hostile.onCall = (_message, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(compressed);
  };
  expect(await getText()).toBe("The server wiki gave an answer that can't be understood.");
});

test('an answer has a megabyte, unless the mount allows more', async () => {
  const id = await mounts.mountInEffect(hostile.url, inEffect);
  hostile.onCall = attacks.hugeText;
  expect(await getText()).toBe('The server wiki gave an answer that is too large: ask for less.');
  const { status, body } = await mounts.call('PATCH', `/${id}`, { maxAnswerBytes: 4 * MIB });
  expect([status, body.server.maxAnswerBytes]).toEqual([200, 4 * MIB]);
  expect((await getText()).length).toBe(3_800_000);
  expect((await mounts.call('PATCH', `/${id}`, { maxAnswerBytes: 4 * MIB + 1 })).status).toBe(400);
});

test('large answers of an organisation share its memory, and small ones get through', async () => {
  await mounts.mountInEffect(hostile.url, inEffect, { maxAnswerBytes: 4 * MIB });
  const held: (() => void)[] = [];
  hostile.onCall = ({ id }, response) => {
    const result = { content: [{ type: 'text', text: 'a'.repeat(2_500_000) }] };
    const json = JSON.stringify({ jsonrpc: '2.0', id, result });
    response.writeHead(200, { 'content-type': 'application/json' }).write(json.slice(0, -1));
    held.push(() => response.end('}'));
  };
  const calling = [getText(), getText('wiki__save')];
  // The answer that is received second is one too many.
  expect(await Promise.race(calling)).toMatch(
    /^The server wiki gave a large answer while others were received: try again later/,
  );
  hostile.onCall = undefined;
  expect(await getText()).toBe('done');
  for (const release of held) release();
  const lengths = (await Promise.all(calling)).map(({ length }) => length);
  expect(Math.max(...lengths)).toBe(2_500_000);
});

test("a server can use only a share of its organisation's concurrent calls", async () => {
  await mounts.mountInEffect(site.upstream.url, { search: 'kb:read' });
  await mounts.mountInEffect(hostile.url, inEffect, { name: 'other' });
  const { wait, release } = hold();
  site.upstream.call = async () => {
    await wait();
    return textResult('released');
  };
  const hanging = [getText(), getText()];
  await waitFor(() => site.upstream.called().length === 2, { what: 'the calls that hang' });
  expect(await getText()).toBe(
    'Too many calls to the server wiki are in progress; nothing was done. Try again later.',
  );
  expect(await getText('other__search')).toBe('done');
  release();
  expect(await Promise.all(hanging)).toEqual(['released', 'released']);
});

test.each([
  ['wiki__search', "The server wiki gave an answer that can't be understood."],
  [
    'wiki__save',
    "The server wiki gave an answer that can't be understood; whether it did what it was asked is unknown.",
  ],
])("an error of %s repeats nothing from the server's response", async (name, text) => {
  const secret = 'postgres://admin:hunter2@db1.internal';
  await mounts.mountInEffect(hostile.url, inEffect);
  hostile.onCall = (_message, response) => {
    response.writeHead(500, { 'content-type': 'text/plain', 'www-authenticate': secret }).end(secret);
  };
  expect(await getText(name)).toBe(text);
  hostile.onCall = ({ id }, response) => {
    const error = { code: -32_603, message: secret };
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id, error }));
  };
  expect(await getText(name)).toBe('The server wiki refused the call.');
  const { rows } = await identity.db.query('select * from mcp_servers');
  expect(JSON.stringify(rows)).not.toContain('hunter2');
});

test.each(['wiki__search', 'wiki__save'])(
  'a call is sent once to a server that claims another definition: %s',
  async (name) => {
    hostile.isModern = true;
    await mounts.mountInEffect(hostile.url, inEffect);
    const listed = hostile.count('tools/list');
    hostile.onCall = attacks.headerMismatch;
    expect(await getText(name)).toBe('The server wiki refused the call.');
    expect([hostile.count('tools/call'), hostile.count('tools/list')]).toEqual([1, listed]);
  },
);

test('only reads are sent again when a server has forgotten the session', async () => {
  await mounts.mountInEffect(hostile.url, inEffect);
  const forgetOnce = (): void => {
    hostile.onCall = (_message, response) => {
      hostile.onCall = undefined;
      response.writeHead(404).end();
    };
  };
  forgetOnce();
  expect(await getText()).toBe('done');
  forgetOnce();
  expect(await getText('wiki__save')).toMatch(/whether it did what it was asked is unknown\.$/);
  expect(await getText('wiki__save')).toBe('done');
  expect(hostile.count('tools/call')).toBe(4);
});

test.each([false, true])(
  'names that break a line reach neither the log nor the list (stateless revision: %s)',
  async (isModern) => {
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
  },
);

test.each([
  ['a handshake of 3.8 MB', 'onHandshake', 'hugeHandshake', 'too_large'],
  ['a handshake that drips', 'onHandshake', 'drip', 'timeout'],
  ['an array of pings', 'onList', 'pingArray', 'invalid_answer'],
  ['a list that drips', 'onList', 'drip', 'timeout'],
  ['a list with pages of 3.8 MB', 'onList', 'endlessPages', 'too_large'],
] as const)('%s is broken off', async (_title, when, attack, fault) => {
  hostile[when] = attacks[attack];
  const id = await mounts.mount(hostile.url);
  expect(await mounts.test(id)).toMatchObject({ isUsable: false, fault });
});

test('a server that lists too much is not refreshed', async () => {
  const id = await mounts.mountInEffect(site.upstream.url, { search: 'kb:read' });
  const [search] = site.upstream.tools;
  if (!search) throw new Error('no tool');
  site.upstream.tools = [search, { ...search, name: 'large', description: 'a'.repeat(600_000) }];
  expect((await mounts.refresh(id)).status).toBe(502);
  expect((await mounts.get(id)).refreshFault).toBe('too_large');
  expect(await agent.listNames()).toContain('wiki__search');
});

test('an organisation has four listings at the same time, and does not hold up another', async () => {
  hostile.onList = attacks.hang;
  const id = await mounts.mount(hostile.url);
  await waitFor(() => hostile.count('tools/list') === 1, { what: 'the job, which lists' });
  const hanging = [1, 2, 3].map(() => mounts.test(id));
  await waitFor(() => hostile.count('tools/list') === 4, { what: 'the lists that hang' });
  const { status, body } = await mounts.refresh(id);
  expect([status, body.error.code]).toEqual([429, 'TOO_MANY_LISTINGS']);
  const theirs = createMounts(identity, (await identity.createOrganisation('other@example.org')).session);
  const tested = await theirs.test(await theirs.mount(site.upstream.url));
  await Promise.all(hanging);
  await theirs.removeAll();
  expect(tested).toMatchObject({ isUsable: true, tools: 2 });
});

test('an organisation tests and refreshes servers sixty times a minute, and uses up nothing of another', async () => {
  const busy = createMounts(identity, (await identity.createOrganisation('busy@example.org')).session);
  const unknown = '/00000000-0000-7000-8000-000000000000';
  const first = Array.from({ length: 60 }, (_value, index) => `${unknown}/${index % 2 ? 'test' : 'refresh'}`);
  const statuses = await Promise.all(first.map(async (path) => (await busy.call('POST', path)).status));
  expect(new Set(statuses)).toEqual(new Set([404]));
  // Another one is allowed each second, however long the sixty took.
  const refused = await waitFor(
    async () => {
      const { status, body } = await busy.call('POST', `${unknown}/test`);
      return status === 429 && body;
    },
    { what: 'a refusal', intervalMs: 5 },
  );
  expect(refused.error.code).toBe('RATE_LIMITED');
  expect((await mounts.call('POST', `${unknown}/test`)).status).toBe(404);
});

test('progress of the server reaches the caller, and cancelling and the trace context reach the server', async () => {
  await mounts.mountInEffect(site.upstream.url, { search: 'kb:read' });
  let isHanging = false;
  let isCancelled = false;
  site.upstream.call = async ({ query }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken !== undefined)
      for (const progress of [1, 2]) {
        const params = { progressToken, progress, total: 2, message: `step ${progress}` };
        await mcpReq.notify({ method: 'notifications/progress', params });
      }
    if (query === 'a') return textResult('done');
    return new Promise<never>(() => {
      mcpReq.signal.addEventListener('abort', () => {
        isCancelled = true;
      });
      isHanging = true;
    });
  };
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const call = (query: string) => ({ name: 'wiki__search', arguments: { query }, _meta: { progressToken: 'p' } });
  const { text } = await createCaller(identity, session).legacy('tools/call', call('a'), { traceparent });
  const events = text.split('\n').filter((line) => line.startsWith('data: {')).map((line) => JSON.parse(line.slice(6)));
  expect(events.map(({ params, result }) => params?.message ?? result.content[0].text)).toEqual(['step 1', 'step 2', 'done']);
  expect(events[0].params).toEqual({ progressToken: 'p', progress: 1, total: 2, message: 'step 1' });
  const received = site.upstream.received.find(({ message }) => message.method === 'tools/call');
  expect([received?.headers['traceparent'], received?.message.params?._meta?.['traceparent']]).toEqual([traceparent, traceparent]);

  const ending = new AbortController();
  const cancelled = identity.call('POST', '/mcp', {
    token: session,
    signal: ending.signal,
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call('stop') },
    headers: { accept: 'application/json, text/event-stream' },
  });
  await waitFor(() => isHanging, { what: 'the call' });
  ending.abort();
  await expect(cancelled).rejects.toThrow(/abort/i);
  await waitFor(() => isCancelled, { what: 'the cancellation at the server' });
}); // oxfmt-ignore
