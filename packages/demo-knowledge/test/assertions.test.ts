import { ALL_SCOPES, callText, ORG, startKnowledge } from './knowledge.js';

/* MCP-16, MCP-19: what a server that is mounted has to check of the platform's assertions. */

const knowledge = await startKnowledge({ hasCrawls: false });
await knowledge.start();
afterAll(() => knowledge.close());

const now = () => Math.floor(Date.now() / 1_000);
const list = (token: string | undefined) =>
  fetch(knowledge.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
  });

test('accepts an assertion of the platform once', async () => {
  const assertion = await knowledge.sign();
  expect((await list(assertion)).status).toBe(200);
  const replayed = await list(assertion);
  expect(replayed.status).toBe(401);
  expect(await replayed.text()).toContain('used before');
});

test('accepts the assertion with which the platform lists tools: without a user and without scopes', async () => {
  expect((await list(await knowledge.sign({ sub: ORG, scope: '' }))).status).toBe(200);
});

test.each([
  ['for another server', { aud: 'https://other.example.com/mcp' }],
  ['of another issuer', { iss: 'somebody' }],
  ['for another organisation', { org: '0198a000-0000-7000-8000-00000000ffff' }],
  ['without an organisation', { org: undefined }],
  ['without a user', { sub: undefined }],
  ['without an id', { jti: undefined }],
  ['without an expiry', { exp: undefined }],
  ['that has expired', () => ({ iat: now() - 70, exp: now() - 10 })],
  ['that is older than a minute, though it expires later', () => ({ iat: now() - 120, exp: now() + 600 })],
  ['of the future', () => ({ iat: now() + 60, exp: now() + 120 })],
])('refuses an assertion %s', async (_name, claims) => {
  const answer = await list(await knowledge.sign(typeof claims === 'function' ? claims() : claims));
  expect(answer.status).toBe(401);
  expect(answer.headers.get('www-authenticate')).toContain('invalid_token');
});

// oxfmt-ignore
test('refuses an assertion that the platform has not signed', async () => {
  const [header = '', payload = ''] = (await knowledge.sign()).split('.');
  const unsigned = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
  for (const token of [undefined, 'garbage', `${unsigned}.${payload}.`, `${header}.${payload}.AAAA`, await knowledge.sign({}, true)])
    expect([token, (await list(token)).status]).toEqual([token, 401]);
});

// oxfmt-ignore
test('requires the scope of a tool in the assertion, even if the platform has checked it', async () => {
  const reader = await knowledge.connect({ scope: 'kb:read' });
  expect(await callText(reader, 'add_note', { title: 'a', text: 'b' })).toBe('This needs the scope semantic:write.');
  const writer = await knowledge.connect({ scope: 'semantic:write' });
  expect(await callText(writer, 'search', { query: 'b' })).toBe('This needs the scope kb:read.');
  expect(await callText(writer, 'read_page', { path: 'a.md' })).toBe('This needs the scope kb:read.');
});

// oxfmt-ignore
test('speaks both eras of the protocol', async () => {
  for (const [mode, era] of [[{ pin: '2026-07-28' }, 'modern'], ['legacy', 'legacy']] as const) {
    const client = await knowledge.connect({ scope: ALL_SCOPES }, { versionNegotiation: { mode } });
    expect([era, (await client.listTools()).tools.map(({ name }) => name)]).toEqual([era, ['search', 'read_page', 'add_note']]);
  }
});
