import type { ServerResponse } from 'node:http';
import { waitFor } from '@platform/testing';
import { gzipSync } from 'node:zlib';
import { setTimeout as delay } from 'node:timers/promises';
import { startIdentity } from '../../identity.js';
import { createCaller } from '../endpoint/endpoint.js';
import { ALLOW_LOCAL, createAgent, createMounts } from './platform.js';
import { startHttp, startUpstream, textResult, type Upstream } from './upstream.js';

/** A busy machine takes a second for a call that hangs to arrive. */
const TIMEOUT_MS = 4_000;

let upstream: Upstream;
const closing: (() => Promise<void>)[] = [];

const identity = await startIdentity({
  environment: { ...ALLOW_LOCAL, MCP_SERVER_TIMEOUT_MS: String(TIMEOUT_MS), MCP_SERVER_CALLS: '16' },
});
const session = await identity.login();
const mounts = createMounts(identity, session);
const agent = createAgent(identity, session);
beforeEach(async () => {
  upstream = await startUpstream();
});
afterEach(async () => {
  for (const { id } of (await mounts.call('GET')).body.data as { id: string }[])
    await mounts.call('DELETE', `/${id}`);
  await upstream.close();
  for (const close of closing.splice(0)) await close();
});
afterAll(() => identity.close());

const textOf = async (name = 'wiki__search', args: object = { query: 'a' }): Promise<string> => {
  const { result } = await agent.call(name, args);
  expect(result.isError).toBe(true);
  return result.content[0].text as string;
};
const hang = () => new Promise<never>(() => undefined);

/** Puts a server in front of an MCP server, which answers calls itself. */
async function mountInFront(answer: (response: ServerResponse) => void): Promise<void> {
  let isReady = false;
  const front = await startHttp(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    if (isReady && body.includes('tools/call')) {
      answer(response);
      return;
    }
    const { status, headers, text } = await fetch(upstream.url, {
      method: request.method ?? 'POST',
      headers: Object.fromEntries(
        Object.entries(request.headers).filter(([name]) => /^(?:accept|content-type|mcp-)/.test(name)),
      ) as Record<string, string>,
      body,
    }).then(async (found) => ({ status: found.status, headers: found.headers, text: await found.text() }));
    response
      .writeHead(status, { 'content-type': headers.get('content-type') ?? 'application/json' })
      .end(text);
  });
  await mounts.mountInEffect(`http://127.0.0.1:${front.port}/mcp`, {
    search: 'kb:read',
    save: 'semantic:write',
  });
  isReady = true;
  closing.push(front.close);
}

test('a call to a hanging server ends at its deadline, and lists do not wait for it', async () => {
  await mounts.mountInEffect(upstream.url, { search: 'kb:read', save: 'semantic:write' });
  upstream.call = hang;
  const calling = Promise.all([textOf(), textOf('wiki__save', {})]);
  await waitFor(() => upstream.called().length === 2, { what: 'the calls that hang' });
  const names = await Promise.race([agent.listNames(), calling]);
  expect(names).toContain('wiki__search');
  expect(await calling).toEqual([
    'The server wiki gave no answer in time.',
    'The server wiki gave no answer in time; whether it did what it was asked is unknown.',
  ]);
});

test('a server that fails repeatedly is not called until a trial succeeds', async () => {
  await mounts.mountInEffect(upstream.url, { search: 'kb:read' });
  upstream.call = hang;
  await Promise.all([textOf(), textOf()]);
  await Promise.all([textOf(), textOf()]);
  await textOf();
  const called = upstream.called().length;
  expect(await textOf()).toMatch(/^The server wiki has failed repeatedly .* Try again in \d+ seconds\.$/);
  expect(upstream.called().length).toBe(called);
  identity.advance(6_000);
  upstream.call = () => textResult('back');
  expect((await agent.call('wiki__search', { query: 'a' })).result.content).toEqual([
    { type: 'text', text: 'back' },
  ]);
  expect((await agent.call('wiki__search', { query: 'a' })).result.content).toEqual([
    { type: 'text', text: 'back' },
  ]);
});

test.each([
  ['JSON', 'application/json', '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"'],
  ['an event stream', 'text/event-stream', 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"'],
])('an answer of 100 MB as %s is cut off, not held in memory', async (_name, type, head) => {
  let written = 0;
  await mountInFront((response) => {
    response.writeHead(200, { 'content-type': type });
    response.write(head);
    const chunk = Buffer.alloc(65_536, 97);
    const write = (): void => {
      while (written < 100 * 1_048_576 && !response.destroyed) {
        written += chunk.length;
        if (!response.write(chunk)) {
          response.once('drain', write);
          return;
        }
      }
      response.end();
    };
    write();
  });
  expect(await textOf()).toBe('The server wiki gave an answer that is too large: ask for less.');
  expect(written).toBeLessThan(20 * 1_048_576);
}); // prettier-ignore

test('a compressed answer is refused, because its size is unknown', async () => {
  const compressed = gzipSync(Buffer.alloc(50 * 1_048_576, 32));
  await mountInFront((response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    response.end(compressed);
  });
  expect(await textOf()).toBe("The server wiki gave an answer that can't be understood.");
});

test("an error repeats nothing from the server's response", async () => {
  const secret = 'postgres://admin:hunter2@db1.internal';
  await mountInFront((response) => {
    response.writeHead(500, { 'content-type': 'text/plain', 'www-authenticate': secret }).end(`at ${secret}`);
  });
  const texts = [await textOf(), await textOf('wiki__save', {})];
  expect(texts).toEqual([
    "The server wiki gave an answer that can't be understood.",
    "The server wiki gave an answer that can't be understood; whether it did what it was asked is unknown.",
  ]);
  const { body } = await mounts.call('GET');
  await mounts.call('DELETE', `/${body.data[0].id}`);
  await mounts.mountInEffect(upstream.url, { search: 'kb:read' });
  upstream.call = () => {
    throw new Error(`cannot reach ${secret}`);
  };
  expect(await textOf()).toBe('The server wiki refused the call.');
  const { rows } = await identity.db.query('select * from mcp_servers');
  expect(JSON.stringify(rows)).not.toContain('hunter2');
});

test("a server can use only a share of its organisation's concurrent calls", async () => {
  // 16 calls in all: an organisation has four, each of its servers two.
  await mounts.mountInEffect(upstream.url, { search: 'kb:read' });
  const second = await startUpstream();
  closing.push(second.close);
  await mounts.mountInEffect(second.url, { search: 'kb:read' }, { name: 'other' });
  upstream.call = hang;
  const hanging = [textOf(), textOf()];
  await waitFor(() => upstream.called().length === 2, { what: 'the calls that hang' });
  expect(await textOf()).toBe(
    'Too many calls to the server wiki are in progress; nothing was done. Try again later.',
  );
  expect((await agent.call('other__search', { query: 'b' })).result.content[0].text).toBe('found b');
  await Promise.all(hanging);
});

test('progress of the server reaches the caller, and cancelling reaches the server', async () => {
  await mounts.mountInEffect(upstream.url, { search: 'kb:read' });
  let isCancelled = false;
  upstream.call = async ({ query }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken !== undefined)
      for (const progress of [1, 2])
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 2, message: `step ${progress}` } });
    if (query === 'stop') {
      mcpReq.signal.addEventListener('abort', () => {
        isCancelled = true;
      });
      return hang();
    }
    return textResult('done');
  };
  const params = { name: 'wiki__search', arguments: { query: 'a' }, _meta: { progressToken: 'p' } };
  const { text } = await createCaller(identity, session).legacy('tools/call', params);
  const events = text.split('\n').filter((line) => line.startsWith('data: {')).map((line) => JSON.parse(line.slice(6)));
  expect(events.map(({ params: sent, result }) => sent?.message ?? result.content[0].text)).toEqual(['step 1', 'step 2', 'done']);
  expect(events[0].params).toEqual({ progressToken: 'p', progress: 1, total: 2, message: 'step 1' });

  const ending = new AbortController();
  const cancelled = fetch(`${identity.url}/mcp`, {
    method: 'POST',
    signal: ending.signal,
    headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'wiki__search', arguments: { query: 'stop' } } }),
  }).catch(() => 'cancelled');
  await waitFor(() => upstream.called().length === 2, { what: 'the call' });
  await delay(50);
  ending.abort();
  expect(await cancelled).toBe('cancelled');
  await waitFor(() => isCancelled, { what: 'the cancellation at the server' });
}); // prettier-ignore

test('the trace context of the caller reaches the server', async () => {
  await mounts.mountInEffect(upstream.url, { search: 'kb:read' });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  await createCaller(identity, session).legacy('tools/call', { name: 'wiki__search', arguments: { query: 'a' } }, { traceparent });
  const call = upstream.received.find(({ message }) => message.method === 'tools/call');
  expect([call?.headers['traceparent'], call?.message.params?._meta?.['traceparent']]).toEqual([traceparent, traceparent]);
}); // prettier-ignore

test('a server that lists too much or the same name twice is not refreshed', async () => {
  const id = await mounts.mountInEffect(upstream.url, { search: 'kb:read' });
  const [search] = upstream.tools;
  if (!search) throw new Error('no tool');
  for (const [tools, fault] of [
    [Array.from({ length: 201 }, (_value, index) => ({ ...search, name: `tool_${index}` })), 'too_large'],
    [[{ ...search, description: 'a'.repeat(300_000) }], 'too_large'],
    [[search, search], 'invalid_answer'],
  ] as const) {
    upstream.tools = [...tools];
    expect((await mounts.call('POST', `/${id}/refresh`)).status).toBe(502);
    expect((await mounts.call('GET', `/${id}`)).body.server.refreshFault).toBe(fault);
    expect(await agent.listNames()).toContain('wiki__search');
  }
});
