import { createVerifier } from 'fast-jwt';
import { createPublicKey, type JsonWebKey } from 'node:crypto';
import { startIdentity } from '../../identity.js';
import { ALLOW_LOCAL, createAgent, createMounts } from './platform.js';
import { startUpstream, type Upstream } from './upstream.js';

let upstream: Upstream;

const identity = await startIdentity({ environment: ALLOW_LOCAL });
const session = await identity.login();
const mounts = createMounts(identity, session);
beforeEach(async () => {
  upstream = await startUpstream();
});
afterEach(async () => {
  for (const { id } of (await mounts.call('GET')).body.data as { id: string }[])
    await mounts.call('DELETE', `/${id}`);
  await upstream.close();
});
afterAll(() => identity.close());

/** Returns the header that each request for a method had. */
const headersOf = (method: string, header: string) =>
  upstream.received.filter(({ message }) => message.method === method).map(({ headers }) => headers[header]);

/** Verifies an assertion as a foreign server does: by the platform's public keys alone. */
async function verify(assertion: string, audience: string) {
  const { body } = await identity.call('GET', '/.well-known/jwks.json');
  const { kid } = JSON.parse(Buffer.from(assertion.split('.')[0] ?? '', 'base64url').toString()) as {
    kid: string;
  };
  const jwk = (body.keys as (JsonWebKey & { kid: string })[]).find((key) => key.kid === kid);
  const key = createPublicKey({ key: jwk ?? {}, format: 'jwk' })
    .export({ type: 'spki', format: 'pem' })
    .toString();
  const check = createVerifier({
    key,
    algorithms: ['EdDSA'],
    allowedIss: 'workspace-platform',
    allowedAud: audience,
  });
  return check(assertion) as Record<string, unknown> & { iat: number; exp: number };
}

test('an assertion names the caller, the organisation and the granted knowledge scopes, for one minute', async () => {
  await mounts.mountInEffect(upstream.url, { search: 'kb:read' }, { credential: { kind: 'assertion' } });
  const { id: userId, session: member } = await identity.createMember(session);
  const token = await identity.createToken(member, { scopes: ['kb:read', 'user:read'] });
  await createAgent(identity, token.accessToken).call('wiki__search', { query: 'a' });
  await createAgent(identity, token.accessToken).call('wiki__search', { query: 'a' });
  await createAgent(identity, session).call('wiki__search', { query: 'a' });
  const assertions = headersOf('tools/call', 'authorization').map((header) => String(header).slice('Bearer '.length));
  const claims = await Promise.all(assertions.map((assertion) => verify(assertion, upstream.url)));
  expect(claims[0]).toMatchObject({ sub: userId, org: identity.orgId, scope: 'kb:read' });
  expect(claims[2]).toMatchObject({ scope: 'kb:read semantic:write' });
  expect(claims.map(({ iat, exp }) => exp - iat)).toEqual([60, 60, 60]);
  expect(new Set(claims.map(({ jti }) => jti)).size).toBe(3);
  const [listing] = headersOf('tools/list', 'authorization');
  expect(await verify(String(listing).slice('Bearer '.length), upstream.url)).toMatchObject({ sub: identity.orgId, scope: '' });
  await expect(verify(assertions[0] ?? '', 'https://other.example.com/mcp')).rejects.toThrow();
}); // prettier-ignore

test('an assertion is not accepted as a credential of the platform', async () => {
  await mounts.mountInEffect(upstream.url, { search: 'kb:read' }, { credential: { kind: 'assertion' } });
  await createAgent(identity, session).call('wiki__search', { query: 'a' });
  const assertion = String(headersOf('tools/call', 'authorization')[0]).slice('Bearer '.length);
  for (const token of [assertion, `pat_${assertion}`])
    expect((await identity.call('GET', '/api/v1/users/me', { token })).status).toBe(401);
});

test("the caller's own token is never sent to a server, whatever its credential", async () => {
  const { accessToken } = await identity.createToken(session, { scopes: ['kb:read'] });
  const bare = accessToken.slice('pat_'.length);
  for (const credential of [{ kind: 'none' }, { kind: 'secret', value: 'Bearer s3cret' }, { kind: 'assertion' }]) {
    const id = await mounts.mountInEffect(upstream.url, { search: 'kb:read' }, { credential });
    expect((await createAgent(identity, accessToken).call('wiki__search', { query: 'a' })).result.isError).toBeUndefined();
    await mounts.call('DELETE', `/${id}`);
  }
  expect(upstream.called()).toHaveLength(3);
  expect(headersOf('tools/call', 'authorization').slice(0, 2)).toEqual([undefined, 'Bearer s3cret']);
  expect(JSON.stringify(upstream.received)).not.toContain(bare);
  expect(JSON.stringify(upstream.received)).not.toContain(session);
}); // prettier-ignore

test('callers do not share sessions of a server that receives assertions', async () => {
  await mounts.mountInEffect(upstream.url, { search: 'kb:read' }, { credential: { kind: 'assertion' } });
  const { session: member } = await identity.createMember(session);
  const agents = [session, member].map((token) => createAgent(identity, token));
  for (const agent of [...agents, ...agents]) await agent.call('wiki__search', { query: 'a' });
  const subjects = await Promise.all(
    headersOf('tools/call', 'authorization').map(
      async (header) => (await verify(String(header).slice(7), upstream.url)).sub,
    ),
  );
  expect(subjects).toEqual([subjects[0], subjects[1], subjects[0], subjects[1]]);
  expect(subjects[0]).not.toBe(subjects[1]);
});

test('a secret is stored sealed, never shown, and not sent to another origin', async () => {
  const credential = { kind: 'secret', header: 'x-api-key', value: 'k-0123456789' };
  const id = await mounts.mountInEffect(upstream.url, { search: 'kb:read' }, { credential });
  await createAgent(identity, session).call('wiki__search', { query: 'a' });
  expect(headersOf('tools/call', 'x-api-key')).toEqual(['k-0123456789']);
  const { text, body } = await mounts.call('GET', `/${id}`);
  expect(body.server.credential).toEqual({ kind: 'secret', header: 'x-api-key' });
  const { rows } = await identity.db.query('select * from mcp_servers');
  const { text: audit } = await identity.call('GET', `/api/v1/audit?subjectId=${id}`, { token: session });
  for (const stored of [text, JSON.stringify(rows), audit, identity.logged()]) expect(stored).not.toContain('k-0123456789');
  const other = await startUpstream();
  const moved = await mounts.call('PATCH', `/${id}`, { url: other.url });
  expect([moved.status, moved.body.error.details[0].field]).toEqual([400, 'credential']);
  expect((await mounts.call('PATCH', `/${id}`, { url: `${upstream.url}2` })).status).toBe(200);
  expect((await mounts.call('PATCH', `/${id}`, { url: other.url, credential })).status).toBe(200);
  await other.close();
}); // prettier-ignore

test('a secret is sent in no header that belongs to HTTP or to the protocol', async () => {
  for (const header of ['host', 'content-length', 'mcp-session-id', 'Authorization', 'a b', 'x:y'])
    expect([header, (await mounts.call('POST', '', { name: 'wiki', url: upstream.url, credential: { kind: 'secret', header, value: 'a' } })).status]).toEqual([header, 400]);
  for (const value of ['a\r\nb: c', 'ä', ' a', ''])
    expect([value, (await mounts.call('POST', '', { name: 'wiki', url: upstream.url, credential: { kind: 'secret', value } })).status]).toEqual([value, 400]);
}); // prettier-ignore
