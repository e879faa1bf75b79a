import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { SignedCredential } from './credential.js';
import { createIdentityClient } from './identity-client.js';
import { INTROSPECTION_PATH, JWKS_PATH, TOKEN_PATH } from './introspection.js';

type Fault = 'breaks' | 'breaks behind a gateway' | 'hangs' | 'never ends';
const TRICKLE_MS = 50;

/** Breaks the connections of the first introspections, here or behind a gateway, or leaves them unanswered. */
async function startIdentity(fault: Fault, faulty: number) {
  let asked = 0;
  let isAway = false;
  let keysAsked = 0;
  let authorization = '';
  let clients: unknown;
  async function answerQuestion(request: IncomingMessage) {
    const question = (await json(request)) as { tokens: string[]; clients: unknown };
    clients = question.clients;
    return {
      results: question.tokens.map(() => ({
        active: true,
        role: 'admin',
        username: 'a@example.com',
        name: 'A',
      })),
    };
  }
  const server: Server = createServer((request, response) => {
    const answer = (body: object) =>
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    if (request.url === JWKS_PATH) keysAsked += 1;
    if (request.url === TOKEN_PATH) authorization = request.headers.authorization ?? '';
    if (isAway) response.writeHead(503).end('{}');
    else if (request.url === TOKEN_PATH) answer({ access_token: 'service', expires_in: 600 });
    else if (request.url !== INTROSPECTION_PATH) answer({ keys: [] });
    else if ((asked += 1) > faulty) void answerQuestion(request).then(answer);
    else if (fault === 'breaks') request.socket.destroy();
    else if (fault === 'never ends') {
      const timer = setInterval(() => response.write(' '), TRICKLE_MS);
      response.on('close', () => {
        clearInterval(timer);
      });
    } else if (fault !== 'hangs') response.writeHead(502).end('<html>Bad Gateway</html>');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const failures: unknown[] = [];
  const identity = createIdentityClient({
    onKeysFailed: (error) => failures.push(error),
    identityUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    clientId: 'test',
    clientSecret: 'a+b/c= d',
    timeoutMs: fault === 'hangs' || fault === 'never ends' ? 1_500 : 5_000,
    clock: Date.now,
  });
  return {
    identity,
    asked: () => asked,
    clients: () => clients,
    keysAsked: () => keysAsked,
    authorization: () => authorization,
    failures: () => failures.length,
    setAway: (next: boolean) => {
      isAway = next;
    },
    async close() {
      server.closeAllConnections();
      await identity.close().catch(() => undefined);
      server.close();
    },
  };
}

const credential = { token: 'token', digest: 'digest', claims: {} } as SignedCredential;

test.each([
  ['a question whose connection broke is asked once more', 'breaks', 1, 2, { role: 'admin' }],
  ['a connection that breaks again is 503', 'breaks', 2, 2, undefined],
  [
    'a question is asked once more when a gateway answers 502',
    'breaks behind a gateway',
    1,
    2,
    { role: 'admin' },
  ],
  ['a gateway that answers 502 again is 503', 'breaks behind a gateway', 2, 2, undefined],
  ['a question that nobody answers in time is 503, and not repeated', 'hangs', 1, 1, undefined],
  ['an answer that does not end in time is 503, and not repeated', 'never ends', 1, 1, undefined],
] as const)('%s', async (_title, fault, faulty, questions, expected) => {
  const { identity, asked, close } = await startIdentity(fault, faulty);
  const answer = await identity.liveness(credential).catch((error: unknown) => error);
  expect(answer).toMatchObject(expected ?? { statusCode: 503 });
  expect(asked()).toBe(questions);
  await close();
});

test('introspects one token once for each address, in one batch', async () => {
  const { identity, asked, clients, close } = await startIdentity('breaks', 0);
  try {
    const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.1'];
    await Promise.all(addresses.map((address) => identity.liveness(credential, { address })));
    expect(asked()).toBe(1);
    expect(clients()).toEqual([{ address: '192.0.2.1' }, { address: '192.0.2.2' }]);
  } finally {
    await close();
  }
});

test('treats the keys as stale between a failed poll and the next successful one, without polling for it', async () => {
  const { identity, keysAsked, setAway, close } = await startIdentity('breaks', 0);
  await identity.start();
  const polls: boolean[] = [];
  for (const isAway of [true, false]) {
    setAway(isAway);
    const before = keysAsked();
    expect(identity.keySet.isStale()).toBe(!isAway);
    while (identity.keySet.isStale() !== isAway) await delay(20);
    polls.push(keysAsked() === before + 1);
  }
  expect(polls).toEqual([true, true]);
  expect(identity.keySet.current()).toEqual(new Map());
  await close();
});

test('reports an outage of identity once, however often the keys are requested', async () => {
  const { identity, keysAsked, failures, setAway, close } = await startIdentity('breaks', 0);
  await identity.start();
  setAway(true);
  while (keysAsked() < 3) await delay(20);
  expect(failures()).toBe(1);
  await close();
});

test('OPS-9 reports nothing while identity starts together with the service', async () => {
  const { identity, keysAsked, failures, setAway, close } = await startIdentity('breaks', 0);
  setAway(true);
  await identity.start();
  while (keysAsked() < 3) await delay(20);
  setAway(false);
  while (identity.keySet.isStale()) await delay(20);
  expect(failures()).toBe(0);
  await close();
});

test('form-encodes the client secret in the header (RFC 6749 section 2.3.1)', async () => {
  const { identity, authorization, close } = await startIdentity('breaks', 0);
  try {
    expect(await identity.serviceToken()).toBe('service');
    const [, basic = ''] = authorization().split(' ');
    expect(Buffer.from(basic, 'base64').toString()).toBe('test:a%2Bb%2Fc%3D+d');
  } finally {
    await close();
  }
});
