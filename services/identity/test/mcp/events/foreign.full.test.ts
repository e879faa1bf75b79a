import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createMCPClient, experimental_createMCPEventWebhook as createMCPEventWebhook } from '@ai-sdk/mcp';
import { findFreePort } from '@platform/embedded';
import { describeWith, ensurePythonMcp, waitFor } from '@platform/testing';
import { ALLOW_RECEIVERS, type Received } from '../../destinations/receiver.js';
import { startIdentity } from '../../identity.js';
import {
  closeReceivers,
  createSecret,
  createSubscriber,
  startEventReceiver,
  toEvent,
  verify,
} from './agent.js';
import { createCrawl, WITH_SERVICES } from './reported-facts.js';

/* Programs of others: the AI SDK subscribes and receives, and mcp-webhook-events, which ChatGPT was tried with, is compared. */

const run = promisify(execFile);
const identity = await startIdentity({ environment: { ...ALLOW_RECEIVERS, ...WITH_SERVICES } });
const session = await identity.login();
const crawl = createCrawl(identity);
const { accessToken } = await identity.createToken(session, { scopes: ['crawl:read'] });
const EVENT = 'crawl.run.completed';
afterAll(async () => {
  await closeReceivers();
  await identity.close();
});

type Client = Awaited<ReturnType<typeof createMCPClient>>;
type Events = NonNullable<Client['experimental_events']>;
type Store = Parameters<typeof createMCPEventWebhook>[0]['store'];
type Stored = Parameters<Store['set']>[0];

function createStore(): Store {
  const all = new Map<string, Stored>();
  return {
    get: async (key) => all.get(key),
    getById: async (id) => [...all.values()].find((one) => one.id === id),
    set: async (subscription) => void all.set(subscription.key, subscription),
    update: async (key, patch) => void all.set(key, { ...(all.get(key) as Stored), ...patch }),
    delete: async (key) => void all.delete(key),
  };
}

/** Serves a handler of web requests. */
async function serve(handle: (request: Request) => Promise<Response>) {
  const server = createServer((request, response) => {
    const respond = async (): Promise<void> => {
      const body = Buffer.concat(await request.toArray());
      const { url = '', method = 'POST', headers } = request;
      const init = { method, headers: headers as Record<string, string>, body };
      const answer = await handle(new Request(`http://127.0.0.1${url}`, init));
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
    };
    void respond();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

test('EVT-15, EVT-20 the AI SDK lists, subscribes, receives, refreshes and unsubscribes', async () => {
  const store = createStore();
  const received: { eventId: string; data: Record<string, unknown> }[] = [];
  const faults: unknown[] = [];
  const handle = createMCPEventWebhook({
    store,
    onEvent: async ({ event }) => void received.push(event),
    onError: (error) => faults.push(error),
  });
  const receiver = await serve(handle);
  const client = await createMCPClient({
    transport: { type: 'http', url: `${identity.url}/mcp`, headers: { authorization: `Bearer ${accessToken}` } },
    experimental_events: { store },
  });
  try {
    const events: Events = client.experimental_events;
    const listed = await events.list();
    expect(listed.events.map(({ name }) => name)).toContain(EVENT);
    const { id, refreshBefore, truncated } = await events.subscribe({
      name: EVENT, arguments: { connector: 'wiki_1' },
      delivery: { mode: 'webhook', url: receiver.url, allowInsecureLocalhost: true },
    });
    expect([id, refreshBefore, truncated]).toEqual([expect.any(String), expect.any(String), false]);
    await crawl.endRun(identity.orgId, 'files_1');
    const first = await crawl.endRun(identity.orgId, 'wiki_1');
    await waitFor(() => received.length > 0, { what: 'the event', patienceMs: 60_000 });
    expect((await events.refresh({ id })).id).toBe(id);
    const second = await crawl.endRun(identity.orgId, 'wiki_1');
    await waitFor(() => received.length > 1, { what: 'another event', patienceMs: 60_000 });
    expect(received).toMatchObject([
      { eventId: first, data: { connector: 'wiki_1' } },
      { eventId: second, data: { connector: 'wiki_1' } },
    ]);
    await events.unsubscribe({ id });
    expect([await store.getById(id), faults]).toEqual([undefined, []]);
    const { rowCount } = await identity.db.query(`select from fact_destinations where form = 'subscription'`);
    expect(rowCount).toBe(0);
  } finally {
    await client.close();
    await receiver.close();
  }
}); // oxfmt-ignore

test('EVT-32 the receiver of the page about events for agents works as it is written', async () => {
  const page = await readFile(
    new URL('../../../../../docs/connect/agent-events.md', import.meta.url),
    'utf8',
  );
  const [, program = ''] = /```js\n(.*?)```/s.exec(page) ?? [];
  const env = { ...process.env, PLATFORM_URL: identity.url, TOKEN: accessToken };
  const port = await findFreePort();
  // A program from the standard input finds its packages from the working directory.
  const cwd = fileURLToPath(new URL('../../..', import.meta.url));
  const receiver = spawn(process.execPath, ['--input-type=module', '-'], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let printed = '';
  receiver.stdout.on('data', (part) => (printed += String(part)));
  receiver.stdin.end(program.replaceAll('9000', String(port)));
  try {
    await waitFor(() => printed.includes('refreshBefore'), { what: 'the subscription', patienceMs: 30_000 });
    await crawl.endRun(identity.orgId, 'wiki_1');
    await waitFor(() => printed.includes(EVENT) && printed.includes("connector: 'wiki_1'"), {
      what: 'the event',
      patienceMs: 30_000,
    });
    expect(printed).toContain(EVENT);
  } finally {
    const exited = once(receiver, 'exit');
    receiver.kill();
    await exited;
  }
});

/** The names of what a request has, as far as the protocol prescribes them. */
const toForm = ({ headers, body }: Received) => ({
  headers: Object.keys(headers).filter((name) => /^(webhook-|x-mcp-|content-type)/.test(name)).toSorted(),
  type: headers['content-type'],
  id: String(headers['webhook-id']).replace(/[^_]+$/, ''),
  body: Object.keys(JSON.parse(body) as object).toSorted(),
}); // oxfmt-ignore
const namesOf = (value: object) => Object.keys(value).toSorted();

describeWith('python-mcp', 'mcp-webhook-events', () => {
  test('EVT-15, EVT-16 its requests and answers have the form of the platform’s', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'platform-events-'));
    const receiver = await startEventReceiver();
    receiver.answerChallengeWith((challenge, response) => {
      const isBroken = response.req.url?.endsWith('/broken');
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ challenge: isBroken ? 'another' : challenge }));
    });
    const secret = createSecret();
    const program = fileURLToPath(new URL('fixtures/webhook_events.py', import.meta.url));
    const python = await ensurePythonMcp();
    const { stdout } = await run(python, [program, receiver.url, secret, join(folder, 'events.sqlite3')]);
    const theirs = JSON.parse(stdout);
    const [theirChallenge, theirEvent] = [receiver.challenges[0], receiver.accepted[0]] as [Received, Received];
    receiver.challenges.length = 0;
    receiver.accepted.length = 0;

    const agent = createSubscriber(identity, accessToken);
    const subscribed = await agent.follow(EVENT, receiver.url, { secret, args: { connector: 'wiki_1' } });
    const ourEvent = await receiver.received(await crawl.endRun(identity.orgId, 'wiki_1'));
    const [ourChallenge] = receiver.challenges as [Received];
    for (const request of [theirChallenge, theirEvent, ourChallenge, ourEvent]) expect(verify(secret, request)).toBeTruthy();
    expect(toForm(ourChallenge)).toEqual(toForm(theirChallenge));
    expect({ ...toForm(ourEvent), id: '' }).toEqual({ ...toForm(theirEvent), id: '' });
    for (const event of [theirEvent, ourEvent]) expect(event.headers['webhook-id']).toBe(toEvent(event).eventId);
    expect(namesOf(subscribed)).toEqual(expect.arrayContaining(namesOf(theirs.subscribed)));
    const [listed] = (await agent.modern('events/list')).body.result.events;
    expect(namesOf(listed)).toEqual(namesOf(theirs.listed));
    const { body } = await agent.subscribe(EVENT, `${receiver.url}/broken`);
    expect({ code: body.error.code, reason: body.error.data.reason }).toEqual(theirs.refused);
    await rm(folder, { recursive: true });
  });
}); // oxfmt-ignore
