import { createPublicKey, type JsonWebKey } from 'node:crypto';
import type { LookupAddress } from 'node:dns';
import { createEgress, parseTarget, type Target } from '@platform/service-kit';
import { createVerifier } from 'fast-jwt';
import { fetch } from 'undici';
import { toUpstreamFault } from '../../../src/base/egress/faults.js';
import { startReplica } from '../../replica.js';
import { createAgent, createMounts, useMounts } from './platform.js';
import { startHttp, startUpstream } from './upstream.js';

/* The requests that leave the platform for a mounted server: to which addresses, and with which credential. */

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

/** Creates the wall with a resolver that gives these answers in turn, and counts the connections to a listener. */
async function createWall(allowed: string[], answers: string[] = []) {
  let requests = 0;
  const listener = await startHttp((_request, response) => {
    requests += 1;
    response.end('reached');
  });
  closing.push(listener.close);
  const resolved: string[] = [];
  const egress = createEgress(
    allowed.map((text) => parseTarget(text.replace('PORT', String(listener.port))) as Target),
    { maxAnswerBytes: 1_000, maxConnections: 8, timeoutMs: 2_000 },
    async (host) => {
      resolved.push(host);
      if (host.endsWith('.invalid')) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
      const address = answers.length > 1 ? (answers.shift() ?? '') : (answers[0] ?? '');
      return [{ address, family: 4 }] satisfies LookupAddress[];
    },
  );
  closing.push(() => egress.agent.destroy());
  const get = (host: string, protocol = 'http') =>
    fetch(`${protocol}://${host}:${listener.port}/`, {
      dispatcher: egress.agent,
      headers: { connection: 'close' },
    }).then(
      (response) => response.text(),
      (error: unknown) => toUpstreamFault(error).kind,
    );
  return { agent: egress.agent, get, resolved, countRequests: () => requests };
}

test('private and loopback addresses are denied, also when names resolve to them', async () => {
  const wall = await createWall([], ['127.0.0.1']);
  for (const host of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '10.0.0.1', '169.254.169.254', '0.0.0.0', '2130706433', '0x7f.1'])
    for (const protocol of ['http', 'https'])
      expect([host, protocol, await wall.get(host, protocol)]).toEqual([host, protocol, 'no_address']);
  expect(wall.resolved).toEqual([]);
  expect(await wall.get('kb.example.com', 'https')).toBe('no_address');
  expect(wall.resolved).toEqual(['kb.example.com']);
  expect(wall.countRequests()).toBe(0);
}); // oxfmt-ignore

test('a name that resolves to a denied address and one that does not exist have the same fault', async () => {
  const wall = await createWall([], ['10.0.0.1']);
  const faults = await Promise.all(
    ['db.internal', 'nothing.invalid'].map((host) =>
      fetch(`https://${host}/`, { dispatcher: wall.agent }).catch((error: unknown) => toUpstreamFault(error)),
    ),
  );
  expect(faults[0]).toMatchObject({ kind: 'no_address', code: undefined });
  expect(faults[1]).toEqual(faults[0]);
});

test('a public address is denied without TLS', async () => {
  const wall = await createWall([], ['9.9.9.9']);
  expect(await wall.get('kb.example.com')).toBe('no_address');
  expect(await wall.get('9.9.9.9')).toBe('no_address');
});

test('a name that later resolves to another address is judged by the connected address', async () => {
  // Allowed by its address, which the second answer is not.
  const wall = await createWall(['127.0.0.1/32:PORT'], ['127.0.0.1', '127.0.0.2']);
  expect(await wall.get('kb.example.com')).toBe('reached');
  expect(await wall.get('kb.example.com')).toBe('no_address');
  // One lookup for each connection: nothing is resolved between the judgement and the connection.
  expect([wall.resolved.length, wall.countRequests()]).toEqual([2, 1]);
});

const site = await useMounts();
const { identity, session, mounts } = site;

test('MCP-14: a redirect of a server is not followed, to a private address or elsewhere', async () => {
  let reached = 0;
  const metadata = await startHttp((_request, response) => {
    reached += 1;
    response.end('{}');
  });
  const redirecting = await startHttp((_request, response) => {
    response.writeHead(307, { location: `http://127.0.0.1:${metadata.port}/latest/meta-data` }).end();
  });
  closing.push(metadata.close, redirecting.close);
  const id = await mounts.mount(`http://127.0.0.1:${redirecting.port}/mcp`);
  expect(await mounts.test(id)).toMatchObject({ isUsable: false, fault: 'redirect', code: 307 });
  expect(reached).toBe(0);
});

test('MCP-14: where an operator allows no local target, a server is neither called there nor mounted at a URL that could never be reached', async () => {
  const id = await mounts.mountInEffect(site.upstream.url, { search: 'kb:read' });
  const strict = await startReplica(identity.databaseUrl);
  closing.push(strict.close);
  expect((await createAgent(strict, session).call('wiki__search', { query: 'a' })).result.isError).toBe(true);
  expect(site.upstream.called()).toEqual([]);
  expect(await createAgent(identity, session).getText()).toBe('found a');
  const { call } = createMounts(strict, session);
  for (const url of [
    'http://kb.example.com/mcp', 'https://127.0.0.1/mcp', 'https://10.1.2.3/mcp', 'https://[::1]/mcp', 'ftp://kb.example.com/',
    'https://user:secret@kb.example.com/mcp', 'https://kb.example.com/mcp#part', 'kb.example.com', 'https://2130706433/', 'https://kb.example.com:0/mcp',
  ])
    for (const { status, body } of [await call('POST', '', { name: 'other', url }), await call('PATCH', `/${id}`, { url })])
      expect([url, status, body.error?.details?.[0]?.field]).toEqual([url, 400, 'url']);
}); // oxfmt-ignore

/** Returns the header that each request for a method had. */
const headersOf = (method: string, header: string) =>
  site.upstream.received
    .filter(({ message }) => message.method === method)
    .map(({ headers }) => headers[header]);
const assertionsOf = (method: string): string[] =>
  headersOf(method, 'authorization').map((header) => String(header).slice('Bearer '.length));

/** Verifies an assertion as a foreign server does: by the platform's public keys alone. */
async function verify(assertion: string, audience = site.upstream.url) {
  const { body } = await identity.call('GET', '/.well-known/jwks.json');
  const [header = ''] = assertion.split('.');
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString()) as { kid: string };
  const jwk = (body.keys as (JsonWebKey & { kid: string })[]).find((key) => key.kid === kid) ?? {};
  const key = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString();
  const allowed = { allowedIss: 'workspace-platform', allowedAud: audience };
  const check = createVerifier({ key, algorithms: ['EdDSA'], ...allowed });
  return check(assertion) as Record<string, unknown> & { iat: number; exp: number };
}

const withAssertion = { credential: { kind: 'assertion' } };

test('MCP-16: an assertion names the caller, the organisation and the granted knowledge scopes, for one minute', async () => {
  await mounts.mountInEffect(site.upstream.url, { search: 'kb:read' }, withAssertion);
  const { id: userId, session: member } = await identity.createMember(session);
  const token = await identity.createToken(member, { scopes: ['kb:read', 'user:read'] });
  for (const credential of [token.accessToken, token.accessToken, session])
    await createAgent(identity, credential).call('wiki__search', { query: 'a' });
  const assertions = assertionsOf('tools/call');
  const claims = await Promise.all(assertions.map((assertion) => verify(assertion)));
  expect(claims[0]).toMatchObject({ sub: userId, org: identity.orgId, scope: 'kb:read' });
  expect(claims[2]).toMatchObject({ scope: 'kb:read semantic:write' });
  expect(claims.map(({ iat, exp }) => exp - iat)).toEqual([60, 60, 60]);
  expect(new Set(claims.map(({ jti }) => jti)).size).toBe(3);
  const [listing = ''] = assertionsOf('tools/list');
  expect(await verify(listing)).toMatchObject({ sub: identity.orgId, scope: '' });
  const [assertion = ''] = assertions;
  await expect(verify(assertion, 'https://other.example.com/mcp')).rejects.toThrow();
  // It is no credential of the platform.
  for (const presented of [assertion, `pat_${assertion}`])
    expect((await identity.call('GET', '/api/v1/users/me', { token: presented })).status).toBe(401);
});

test("MCP-16: the caller's own token is never sent to a server, whatever its credential", async () => {
  const { accessToken } = await identity.createToken(session, { scopes: ['kb:read'] });
  const agent = createAgent(identity, accessToken);
  for (const credential of [{ kind: 'none' }, { kind: 'secret', value: 'Bearer s3cret' }, { kind: 'assertion' }]) {
    const id = await mounts.mountInEffect(site.upstream.url, { search: 'kb:read' }, { credential });
    expect(await agent.getText()).toBe('found a');
    await mounts.call('DELETE', `/${id}`);
  }
  expect(headersOf('tools/call', 'authorization')).toEqual([undefined, 'Bearer s3cret', expect.stringMatching(/^Bearer ey/)]);
  const sent = JSON.stringify(site.upstream.received);
  for (const secret of [accessToken.slice('pat_'.length), session]) expect(sent).not.toContain(secret);
}); // oxfmt-ignore

test('callers do not share sessions of a server that receives assertions', async () => {
  await mounts.mountInEffect(site.upstream.url, { search: 'kb:read' }, withAssertion);
  const { session: member } = await identity.createMember(session);
  const agents = [session, member].map((token) => createAgent(identity, token));
  for (const agent of [...agents, ...agents]) await agent.call('wiki__search', { query: 'a' });
  const claims = await Promise.all(assertionsOf('tools/call').map((assertion) => verify(assertion)));
  const [one, two, ...again] = claims.map(({ sub }) => sub);
  expect(again).toEqual([one, two]);
  expect(one).not.toBe(two);
});

test('a secret is stored sealed, never shown, and not sent to another origin', async () => {
  const value = 'k-0123456789';
  const credential = { kind: 'secret', header: 'x-api-key', value };
  const id = await mounts.mountInEffect(site.upstream.url, { search: 'kb:read' }, { credential });
  await createAgent(identity, session).call('wiki__search', { query: 'a' });
  expect(headersOf('tools/call', 'x-api-key')).toEqual([value]);
  const { text, body } = await mounts.call('GET', `/${id}`);
  expect(body.server.credential).toMatchObject({ kind: 'secret', header: 'x-api-key' });
  const { rows } = await identity.db.query('select * from mcp_servers');
  const { text: audit } = await identity.call('GET', `/api/v1/audit?subjectId=${id}`, { token: session });
  for (const stored of [text, JSON.stringify(rows), audit, identity.logged()]) expect(stored).not.toContain(value);
  const other = await startUpstream();
  closing.push(other.close);
  const moved = await mounts.call('PATCH', `/${id}`, { url: other.url });
  expect([moved.status, moved.body.error.details[0].field]).toEqual([400, 'credential']);
  expect((await mounts.call('PATCH', `/${id}`, { url: `${site.upstream.url}2` })).status).toBe(200);
  expect((await mounts.call('PATCH', `/${id}`, { url: other.url, credential })).status).toBe(200);
}); // oxfmt-ignore

test.each([
  ...['host', 'content-length', 'keep-alive', 'proxy-connection', 'via', 'date', 'mcp-session-id', 'Authorization', 'a b', 'x:y'].map((header) => ({ header })),
  ...['a\r\nb: c', 'ä', ' a', ''].map((value) => ({ value })),
])('a secret is sent in no header that belongs to HTTP or to the protocol, and adds none: %j', async (fields) => {
  const credential = { kind: 'secret', value: 'a', ...fields };
  const { status } = await mounts.call('POST', '', { name: 'wiki', url: site.upstream.url, credential });
  expect(status).toBe(400);
}); // oxfmt-ignore
