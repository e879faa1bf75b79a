import type { CallResult, CrawlOperations } from '@platform/clients';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type IdentityUnderTest, startIdentity } from '../../identity.js';
import { environmentFor, startServer } from '../../process/process.js';
import { startReplica } from '../../replica.js';
import { createCaller } from './endpoint.js';

/*
 * The behaviour of a waiting call when crawl fails it, or this service ends. Runs of a real crawl service are waited for in
 * packages/local/test/tools.test.ts; here it is a server that a test can break.
 */

let crawl: Server;
let CRAWL_URL: string;
/** The schedule requests received. */
let scheduled: number;
let listRuns: RequestListener;
let identity: IdentityUnderTest;
let session: string;

type Run = CallResult<CrawlOperations['listRuns']>['data'][number];
const run = (outcome: Run['outcome']): Run => ({
  runId: '01900000-0000-7000-8000-000000000000', connector: 'wiki_1', instance: 'default', trigger: 'schedule', outcome, scheduledFor: '2100-01-01T00:00:00.000Z',
  startedAt: null, finishedAt: null, attempts: 1, progress: outcome === 'completed' ? 100 : 20, reason: null, eventId: null, worker: 'event', mode: 'incremental', slices: 0,
  items: 0, deleted: 0, failed: 0, bytes: 0, claimedBy: null, claimedAt: null, leaseUntil: null, requestedBy: null, waitingSince: null,
}); // oxfmt-ignore
const answerRun =
  (outcome: Run['outcome']): RequestListener =>
  (_request, response) => {
    const pagination = { page: 1, limit: 100, total: 1, totalPages: 1 };
    response.end(JSON.stringify({ success: true, message: 'Runs', data: [run(outcome)], pagination }));
  };
const scheduleConfig = { scheduleType: 'once', scheduledTime: '2100-01-01T00:00:00.000Z', isEnabled: true, timezone: 'UTC', jitterMs: 0, missedRunPolicy: 'run_once' }; // oxfmt-ignore

beforeAll(async () => {
  crawl = createServer((request, response) => {
    request.resume();
    if (request.method === 'GET') listRuns(request, response);
    else {
      scheduled += 1;
      const data = { jobId: 'wiki:1', connector: 'wiki_1', scheduleConfig, scheduledAt: new Date().toISOString() };
      response.writeHead(201).end(JSON.stringify({ success: true, message: 'Scheduled', data }));
    }
  }).listen(0, '127.0.0.1');
  await once(crawl, 'listening');
  CRAWL_URL = `http://127.0.0.1:${(crawl.address() as AddressInfo).port}`;
  const environment = { CRAWL_URL, TOOL_TIMEOUT_MS: '300', TOOL_WAITS: '12', TOOL_WAITS_PER_CREDENTIAL: '2' };
  identity = await startIdentity({ environment });
  session = await identity.login();
}); // oxfmt-ignore
beforeEach(() => {
  scheduled = 0;
});
afterAll(async () => {
  await identity.close();
  crawl.closeAllConnections();
  await new Promise((closed) => crawl.close(closed));
});

const params = { name: 'schedule_crawl', arguments: { connector: 'wiki_1', scheduleConfig, wait: true } };

/** Starts a call that receives progress until its response, or until it is closed. */
function startWait(url: string, token: string) {
  const controller = new AbortController();
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const message = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { ...params, _meta: { progressToken: 1 } } };
  const asked = fetch(`${url}/mcp`, { method: 'POST', headers, body: JSON.stringify(message), signal: controller.signal });
  let report = (_message: string): void => undefined;
  let fail = (_reason: unknown): void => undefined;
  const progress = new Promise<string>((resolve, reject) => {
    report = resolve;
    fail = reject;
  });
  progress.catch(() => undefined);
  async function read() {
    let text = '';
    for await (const chunk of (await asked).body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      const [, seen] = /"message":"(\w+)"/.exec(text) ?? [];
      if (seen !== undefined) report(seen);
    }
    const last = text.split('\n').findLast((line) => line.startsWith('data: {'));
    return JSON.parse(last?.slice(6) ?? '{}').result;
  }
  const answer = read();
  // A call that ends without progress is a failure, not something to wait for.
  answer.then((result) => fail(new Error(`No progress: ${JSON.stringify(result)}`)), fail);
  return { answer, progress, close: () => controller.abort() };
} // oxfmt-ignore

test('a wait ends after its maximum time, and says so', async () => {
  listRuns = answerRun('active');
  const brief = await startReplica(identity.databaseUrl, { CRAWL_URL, TOOL_WAIT_MAX_MS: '1000' });
  const { structuredContent } = await startWait(brief.url, session).answer;
  await brief.close();
  expect(structuredContent).toMatchObject({ run: { outcome: 'active' }, waitEnded: 'too_long' });
});

test('a wait survives a short outage of the crawl service', async () => {
  const moments: RequestListener[] = [
    answerRun('active'),
    (request) => request.socket.destroy(),
    () => undefined,
    (_request, response) => response.writeHead(503).end('{"success":false,"message":"Later"}'),
    answerRun('completed'),
  ];
  listRuns = (request, response) => (moments.shift() ?? answerRun('failed'))(request, response);
  const { structuredContent } = await startWait(identity.url, session).answer;
  expect(structuredContent).toMatchObject({ run: { outcome: 'completed' }, waitEnded: 'run_ended' });
  expect(moments).toHaveLength(0);
});

test.each([
  [401, '{"success":false,"message":"Revoked"}', /is scheduled, but .*: Revoked$/],
  [500, '{"success":false,"message":"Broken"}', /is scheduled, but .*: Broken$/],
  [200, '{', /is scheduled, but .* can't be understood/],
])('a wait that crawl fails with %d %s states that the crawl is scheduled', async (status, body, text) => {
  listRuns = (_request, response) => response.writeHead(status).end(body);
  const { isError, content } = await startWait(identity.url, session).answer;
  expect([isError, content[0].text, scheduled]).toEqual([true, expect.stringMatching(text), 1]);
});

test('limits concurrent waits per credential and organisation, and schedules nothing beyond the limit', async () => {
  listRuns = answerRun('active');
  const other = (await identity.createToken(session, { scopes: ['crawl:read', 'crawl:write'] })).accessToken;
  const one = startWait(identity.url, session);
  const two = startWait(identity.url, session);
  await Promise.all([one.progress, two.progress]);
  const refused = async (token: string) => (await createCaller(identity, token).legacy('tools/call', params)).body.result;
  const tooMany = { isError: true, content: [{ text: expect.stringMatching(/may have 2 at once, an organisation 3, all together 12; nothing was done.*get_crawl/) }] };
  expect(await refused(session)).toMatchObject(tooMany);
  const three = startWait(identity.url, other);
  await three.progress;
  expect(await refused(other)).toMatchObject(tooMany);
  const four = startWait(identity.url, (await identity.createOrganisation('other@example.com')).session);
  await four.progress;
  expect(scheduled).toBe(4);
  listRuns = answerRun('completed');
  for (const wait of [one, two, three, four]) expect((await wait.answer).structuredContent.waitEnded).toBe('run_ended');
  // Their permits are released.
  expect((await startWait(identity.url, session).answer).structuredContent.waitEnded).toBe('run_ended');
}); // oxfmt-ignore

test('closing the connection cancels a wait, a notification with its id does not', async () => {
  listRuns = answerRun('active');
  const token = await identity.createToken(session, { scopes: ['crawl:read', 'crawl:write', 'pat:read'] });
  const outcomes = async () => {
    const { body } = await identity.call('GET', `/api/v1/personal-access-tokens/${token.id}/activity`, { token: session });
    return (body.data as { outcome: string }[]).map(({ outcome }) => outcome);
  };
  const notified = startWait(identity.url, token.accessToken);
  await notified.progress;
  const cancelled = await createCaller(identity, token.accessToken).post('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}');
  expect(cancelled.status).toBe(202);
  listRuns = answerRun('completed');
  expect((await notified.answer).structuredContent.run.outcome).toBe('completed');
  listRuns = answerRun('active');
  const closed = startWait(identity.url, token.accessToken);
  await closed.progress;
  closed.close();
  await expect(closed.answer).rejects.toThrow(/abort/i);
  while ((await outcomes()).length < 2) await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await outcomes()).toEqual(['cancelled', 'completed']);
}); // oxfmt-ignore

test('SIGTERM ends a wait with a response, and then the process, even while crawl does not respond', async () => {
  const first = answerRun('active');
  let silent = (_asked: unknown): void => undefined;
  const asked = new Promise((resolve) => {
    silent = resolve;
  });
  listRuns = (request, response) => {
    first(request, response);
    listRuns = silent;
  };
  const server = await startServer({ ...environmentFor(identity.databaseUrl), CRAWL_URL });
  try {
    const wait = startWait(server.url, session);
    await Promise.all([wait.progress, asked]);
    server.child.kill('SIGTERM');
    expect((await wait.answer).structuredContent).toMatchObject({ run: { outcome: 'active' }, waitEnded: 'shutting_down' });
    const { code, stderr, stdout } = await server.exit;
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).not.toContain('shutdown step failed');
  } finally {
    server.child.kill('SIGKILL');
    await server.exit;
  }
}); // oxfmt-ignore
