import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Answer, createProofKey } from '@platform/testing';
import { createDecoder } from 'fast-jwt';
import { serviceClient, startIdentity } from '../identity.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import {
  createAgentApplication,
  createApplication,
  PUBLIC_URL,
  requestToken,
  toBasic,
} from './applications.js';
import { consent, createAuthorization, createBrowser, exchangeCode, postForm } from './flow.js';

/*
 * What an access token permits: alone, with a proof of its client's key (DPoP, RFC 9449), and exchanged for a token that
 * a tool presents to another service.
 */

const received: string[] = [];
/** Stands in for crawl, to see what reaches it. */
const crawl = createServer((request, response) => {
  received.push(request.headers.authorization?.replace('Bearer ', '') ?? '');
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ success: true, message: 'ok', data: [] }));
});
await new Promise<void>((resolve) => crawl.listen(0, '127.0.0.1', resolve));
const { port } = crawl.address() as AddressInfo;

const identity = await startIdentity({ environment: { CRAWL_URL: `http://127.0.0.1:${port}` } });
const session = await identity.login();
const { application, clientSecret } = await createApplication(identity, session);
const { clientId } = application;
const basic = toBasic(clientId, clientSecret);
afterAll(async () => {
  await identity.close();
  crawl.close();
});
beforeEach(() => {
  received.length = 0;
});

const decode = createDecoder();
const MCP = `${PUBLIC_URL}/mcp`;
const USERS = '/api/v1/users';
const key = createProofKey();
const proveToken = (by = key): string => by.prove({ method: 'POST', url: `${PUBLIC_URL}/oauth2/token` });

const requestBoundToken = (dpop: string, form: Record<string, string>, headers: object = {}) =>
  postForm(identity, 'token', form, { dpop, ...headers });
const requestBoundCredentials = (form = {}) =>
  requestBoundToken(proveToken(), { grant_type: 'client_credentials', ...form }, { authorization: basic });

/** Bound to the key, for the REST API. */
const { access_token: bound, token_type: type } = (await requestBoundCredentials()).body;

const list = (headers: Record<string, string>, path = USERS): Promise<Answer> =>
  identity.call('GET', path, { headers });
const present = (dpop: string, scheme = 'DPoP', credential = bound as string) =>
  list({ authorization: `${scheme} ${credential}`, dpop });
const proveList = (claims: object = {}, header: object = {}, by = key): string =>
  by.prove({ method: 'GET', url: PUBLIC_URL + USERS, token: bound as string }, claims, header);

test('OAUTH-12: a bound token works with a proof of its key, once, and never as a bearer', async () => {
  expect(type).toBe('DPoP');
  expect(decode(bound as string)).toMatchObject({ cnf: { jkt: expect.any(String) } });
  const proof = proveList();
  expect((await present(proof)).status).toBe(200);
  const replayed = await present(proof);
  expect([replayed.status, replayed.headers.get('www-authenticate')]).toEqual([
    401,
    'DPoP realm="platform", error="invalid_dpop_proof", algs="ES256 Ed25519 EdDSA"',
  ]);
  for (const headers of [{}, { dpop: proveList() }] as Record<string, string>[]) {
    const bearer = await list({ authorization: `Bearer ${bound}`, ...headers });
    const challenge = 'Bearer realm="platform", error="invalid_token"';
    expect([bearer.status, bearer.headers.get('www-authenticate')]).toEqual([401, challenge]);
  }
  // The query is no part of the address that a proof names (RFC 9449 §4.2).
  const withQuery = { authorization: `DPoP ${bound}`, dpop: proveList() };
  expect((await list(withQuery, `${USERS}?limit=1`)).status).toBe(200);
});

test('of one proof that is sent many times at once, one request is let in', async () => {
  const proof = proveList();
  const answers = await Promise.all(Array.from({ length: 8 }, () => present(proof)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(7);
});

const now = (): number => Math.floor(Date.now() / 1_000);
test.each<[string, () => string]>([
  ['for another method', () => proveList({ htm: 'POST' })],
  ['for another path', () => proveList({ htu: `${PUBLIC_URL}/api/v1/other` })],
  ['for another host', () => proveList({ htu: `http://elsewhere.example${USERS}` })],
  ['without an address', () => proveList({ htu: undefined })],
  ['for another token', () => proveList({ ath: 'x'.repeat(43) })],
  ['for no token', () => proveList({ ath: undefined })],
  ['of another key', () => proveList({}, {}, createProofKey())],
  ['with the key of another in its header', () => proveList({}, { jwk: createProofKey().publicJwk })],
  ['that is old', () => proveList({ iat: now() - 90 })],
  ['of the future', () => proveList({ iat: now() + 90 })],
  ['without a time', () => proveList({ iat: undefined })],
  ['without an id', () => proveList({ jti: undefined })],
  ['with an endless id', () => proveList({ jti: 'x'.repeat(300) })],
  ['of another type', () => proveList({}, { typ: 'JWT' })],
  ['without an algorithm', () => proveList({}, { alg: 'none' })],
  ['that contains a private key', () => proveList({}, { jwk: key.privateJwk })],
  ['that is no JWT', () => 'x.y.z'],
  ['that is empty', () => ''],
  ['that is two', () => `${proveList()}, ${proveList()}`],
])('a proof %s is refused', async (_what, createProof) => {
  expect((await present(createProof())).status).toBe(401);
});

test('a bound token without a proof, and an ordinary token with one, are refused', async () => {
  expect((await list({ authorization: `DPoP ${bound}` })).status).toBe(401);
  const pat = await identity.createToken(session, { scopes: ['user:read'] });
  for (const credential of [session, pat.accessToken])
    expect((await present(proveList(), 'DPoP', credential)).status).toBe(401);
});

test('OAUTH-12: a connection of a public client is bound with its refresh tokens, at the tools too', async () => {
  const id = await createAgentApplication(identity, session);
  const browser = createBrowser(identity);
  await browser.signIn();
  const authorization = createAuthorization(id);
  const code = (await consent(browser, authorization)).searchParams.get('code') ?? '';
  const { body } = await exchangeCode(identity, authorization, code, {}, { dpop: proveToken() });
  const token = body.access_token as string;
  const callTool = (headers: Record<string, string>) =>
    identity.call('POST', '/mcp', {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: {} } },
      headers,
    });
  const proof = key.prove({ method: 'POST', url: MCP, token });
  const answer = await callTool({ authorization: `DPoP ${token}`, dpop: proof });
  expect(answer.body.result?.structuredContent.credential.kind).toBe('oauth');
  expect((await callTool({ authorization: `Bearer ${token}` })).status).toBe(401);

  const refresh = { grant_type: 'refresh_token', client_id: id, refresh_token: body.refresh_token as string };
  const stolen = await requestBoundToken(proveToken(createProofKey()), refresh);
  expect([stolen.status, stolen.body.error]).toEqual([400, 'invalid_grant']);
  expect((await requestBoundToken('', refresh)).status).toBe(400);
  const renewed = await requestBoundToken(proveToken(), refresh);
  expect([renewed.status, decode(renewed.body.access_token as string).cnf]).toEqual([200, decode(token).cnf]);
});

const listCrawls = (token: string) =>
  createCaller(identity, token).legacy('tools/call', { name: 'list_crawls', arguments: {} });
const requestForTools = async (): Promise<string> =>
  (await requestToken(identity, { clientId, clientSecret }, { resource: MCP })).body.access_token as string;

test("OAUTH-8: a tool calls crawl with a narrower credential than the agent's, which ends together with it", async () => {
  const token = await requestForTools();
  await listCrawls(token);
  await listCrawls(token);
  const [first = '', second = ''] = received;
  expect(first).not.toBe(token);
  expect(second).toBe(first);
  const claims = { aud: ['crawl'], scope: 'crawl:read', client_id: clientId, kind: 'oauth' };
  expect(decode(first)).toMatchObject(claims);
  const findExchanged = async () =>
    (await identity.db.query('select revoked_at from oauth_access_tokens where parent_id is not null')).rows;
  expect(await findExchanged()).toEqual([{ revoked_at: null }]);
  await postForm(identity, 'revoke', { token }, { authorization: basic });
  expect(await findExchanged()).toEqual([{ revoked_at: expect.any(Date) }]);
  expect((await listCrawls(token)).status).toBe(401);
});

test('an exchanged token that is stored while its parent is revoked is refused', async () => {
  await listCrawls(await requestForTools());
  const [exchanged = ''] = received;
  const issued = await identity.call('POST', '/api/v1/oauth2/token', {
    raw: 'grant_type=client_credentials',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: toBasic(serviceClient.id, serviceClient.secret),
    },
  });
  const isActive = async () => {
    const { body } = await identity.call('POST', '/api/v1/oauth2/introspect', {
      token: issued.body.access_token as string,
      body: { tokens: [exchanged] },
    });
    return body.results[0].active as boolean;
  };
  expect(await isActive()).toBe(true);
  await identity.db.query('update oauth_access_tokens set revoked_at = now() where parent_id is null');
  expect(await isActive()).toBe(false);
});

test('the token of a tool call is not bound to the key of the agent, which the platform does not have', async () => {
  const token = (await requestBoundCredentials({ resource: MCP })).body.access_token as string;
  expect(decode(token)).toHaveProperty('cnf');
  await identity.call('POST', '/mcp', {
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_crawls', arguments: {} } },
    headers: { authorization: `DPoP ${token}`, dpop: key.prove({ method: 'POST', url: MCP, token }) },
  });
  const [exchanged = ''] = received;
  expect(decode(exchanged)).toMatchObject({ aud: ['crawl'], client_id: clientId });
  expect(decode(exchanged)).not.toHaveProperty('cnf');
});

test('a personal access token is passed on as it is', async () => {
  const { accessToken } = await identity.createToken(session);
  await listCrawls(accessToken);
  expect(received).toEqual([accessToken.replace('pat_', '').slice(0, -7)]);
});
