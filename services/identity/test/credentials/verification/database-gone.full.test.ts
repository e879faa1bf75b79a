import { type Answer, startOwnPostgres, startStopwatch, waitFor } from '@platform/testing';
import { type IdentityUnderTest, startIdentity } from '../../identity.js';
import { type ProbeService, startProbeService } from './probe-service.js';

type OwnPostgres = Awaited<ReturnType<typeof startOwnPostgres>>;

let postgres: OwnPostgres;
let identity: IdentityUnderTest;
let probe: ProbeService;
let session: string;
let token: string;
/** A token that is limited to a tool: without the database, nobody knows to which. */
let limited: string;

beforeAll(async () => {
  postgres = await startOwnPostgres();
  identity = await startIdentity({ adminUrl: postgres.url() });
  session = await identity.login();
  token = (await identity.createToken(session, { scopes: ['user:read', 'pat:read', 'pat:write'] }))
    .accessToken;
  const bounds = { tools: ['whoami'], connectors: ['code_1'] };
  limited = (await identity.createToken(session, { scopes: ['user:read'], bounds })).accessToken;
  probe = await startProbeService(identity.url);
});
afterAll(async () => {
  await probe.close();
  await identity.close();
  await postgres.close();
});

const message = 'Service temporarily unavailable';
const UNAVAILABLE = { error: { code: 'SERVICE_UNAVAILABLE', message } };
/** Other services do nothing before they have verified the credential. */
const NOTHING_DONE = { error: { code: 'NOTHING_DONE', message } };

const requests: [label: string, send: () => Promise<Answer>, expected?: object][] = [
  ['verification', () => identity.call('GET', '/api/v1/users/me', { token })],
  ['a list', () => identity.call('GET', '/api/v1/personal-access-tokens', { token: session })],
  [
    'a creation',
    () => identity.call('POST', '/api/v1/personal-access-tokens', { token: session, body: { name: 'x' } }),
  ],
  [
    'a login',
    () =>
      identity.call('POST', '/api/v1/auth/login', {
        body: { email: 'a@b.example', password: 'whatever-it-is' },
      }),
  ],
  ['another service', () => probe.whoami(token), NOTHING_DONE],
  ['GRP-9 a limited credential at another service', () => probe.whoami(limited), NOTHING_DONE],
  ...(['tools/list', 'tools/call'] as const).map((method): [string, () => Promise<Answer>, object] => [
    `GRP-9 ${method} with a limited credential`,
    () =>
      identity.call('POST', '/mcp', {
        token: limited,
        body: { jsonrpc: '2.0', id: 1, method, params: { name: 'whoami', arguments: {} } },
      }),
    { jsonrpc: '2.0', id: null, error: { code: -32_603, message } },
  ]),
];

async function expectUnavailable(): Promise<void> {
  for (const [label, send, expected = UNAVAILABLE] of requests) {
    const stopwatch = startStopwatch();
    // Send many concurrently, so that queued requests are covered too.
    const answers = await Promise.all(Array.from({ length: 20 }, send));
    const tookMs = stopwatch.stop();
    expect([label, ...new Set(answers.map(({ status }) => status))]).toEqual([label, 503]);
    for (const { body, headers } of answers) {
      expect(body).toEqual(expected);
      expect(headers.get('retry-after')).toBe('1');
    }
    expect(tookMs).toBeLessThan(2_000);
  }
  expect((await identity.call('GET', '/health/ready')).status).toBe(503);
  expect((await identity.call('GET', '/health/live')).status).toBe(200);
  // Requests that need no database still succeed.
  expect((await identity.call('GET', '/api/v1/users/me', { token: 'garbage' })).status).toBe(401);
}

const hasRecovered = async () => {
  const answers = await Promise.all([
    ...requests.map(([, send]) => send()),
    identity.call('GET', '/health/ready'),
  ]);
  return answers.every(({ status }) => status === 200 || status === 201 || status === 401);
};

test('responds with 503 within two seconds when the database is down, and recovers at once', async () => {
  await postgres.kill();
  await expectUnavailable();
  await postgres.start();
  await waitFor(hasRecovered, { what: 'recovery', intervalMs: 100 });
});

test('responds with 503 within two seconds when the database hangs', async () => {
  await postgres.pause();
  try {
    await expectUnavailable();
  } finally {
    await postgres.resume();
  }
  await waitFor(hasRecovered, { what: 'recovery', intervalMs: 100 });
});
