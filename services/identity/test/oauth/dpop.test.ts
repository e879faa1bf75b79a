import { type Answer, callUrl, createProofKey, type ProofKey } from '@platform/testing';
import { createDecoder } from 'fast-jwt';
import * as oauth from 'oauth4webapi';
import type { IdentityUnderTest } from '../identity.js';
import { createApplication } from './applications.js';
import { consent, createAuthorization } from './flow.js';
import { type PublicIdentity, startPublicIdentity } from './public-identity.js';

/* Access tokens that are bound to a key of their client (DPoP, RFC 9449). */

let running: PublicIdentity;
let identity: IdentityUnderTest;
let key: ProofKey;
let clientId: string;
let clientSecret: string;
/** Bound to the key, for the REST API. */
let token: string;
let tokenType: string;

const decode = createDecoder();
const USERS = '/api/v1/users';

const requestBoundToken = (
  proof: string,
  form: Record<string, string>,
  headers: object = {},
): Promise<Answer> =>
  callUrl(`${identity.url}/oauth2/token`, 'POST', {
    raw: new URLSearchParams(form).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', dpop: proof, ...headers },
  });

const proveToken = (by = key): string => by.prove({ method: 'POST', url: `${identity.url}/oauth2/token` });

const toBasic = (): object => ({
  authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`,
});

beforeAll(async () => {
  running = await startPublicIdentity();
  ({ identity } = running);
  key = createProofKey();
  const { application, clientSecret: secret } = await createApplication(identity, await identity.login());
  clientId = application.clientId;
  clientSecret = secret;
  const { body } = await requestBoundToken(proveToken(), { grant_type: 'client_credentials' }, toBasic());
  tokenType = body.token_type as string;
  token = body.access_token as string;
});
afterAll(() => identity.close());

const list = (headers: Record<string, string>, path = USERS): Promise<Answer> =>
  identity.call('GET', path, { headers });
const present = (proof: string, scheme = 'DPoP', credential = token) =>
  list({ authorization: `${scheme} ${credential}`, dpop: proof });
const proveList = (claims: object = {}, header: object = {}, by = key): string =>
  by.prove({ method: 'GET', url: identity.url + USERS, token }, claims, header);

test('OAUTH-12: a bound token works with a proof of its key, once, and never as a bearer', async () => {
  expect(tokenType).toBe('DPoP');
  expect(decode(token)).toMatchObject({ cnf: { jkt: expect.any(String) } });
  const proof = proveList();
  expect((await present(proof)).status).toBe(200);
  const replayed = await present(proof);
  expect(replayed.status).toBe(401);
  expect(replayed.headers.get('www-authenticate')).toBe(
    'DPoP realm="platform", error="invalid_dpop_proof", algs="ES256 Ed25519 EdDSA"',
  );
  for (const headers of [{}, { dpop: proveList() }] as Record<string, string>[]) {
    const bearer = await list({ authorization: `Bearer ${token}`, ...headers });
    expect([bearer.status, bearer.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="platform", error="invalid_token"',
    ]);
  }
  // The query is no part of the address that a proof names (RFC 9449 §4.2).
  const withQuery = { authorization: `DPoP ${token}`, dpop: proveList() };
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
  ['for another path', () => proveList({ htu: `${identity.url}/api/v1/other` })],
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
])('a proof %s is refused', async (_what, createProof) => {
  expect((await present(createProof())).status).toBe(401);
});

test('a request without a proof, and one with two, are refused', async () => {
  expect((await list({ authorization: `DPoP ${token}` })).status).toBe(401);
  expect((await present(`${proveList()}, ${proveList()}`)).status).toBe(401);
});

test('an ordinary token is not accepted with the scheme of bound ones', async () => {
  const session = await identity.login();
  const pat = await identity.createToken(session, { scopes: ['user:read'] });
  for (const credential of [session, pat.accessToken])
    expect((await present(proveList(), 'DPoP', credential)).status).toBe(401);
});

test('the certified client library binds a token, and uses it', async () => {
  const server = await oauth
    .discoveryRequest(new URL(`${identity.url}/oauth2`), {
      algorithm: 'oauth2',
      // oxlint-disable-next-line typescript/no-deprecated -- marked so that nobody leaves it on: the test has no TLS
      [oauth.allowInsecureRequests]: true,
    })
    .then((response) => oauth.processDiscoveryResponse(new URL(`${identity.url}/oauth2`), response));
  expect(server.dpop_signing_alg_values_supported).toEqual(['ES256', 'Ed25519', 'EdDSA']);
  const client = { client_id: clientId };
  const proofs = oauth.DPoP({}, await oauth.generateKeyPair('ES256'));
  // oxlint-disable-next-line typescript/no-deprecated -- as above
  const options = { DPoP: proofs, [oauth.allowInsecureRequests]: true };
  const authentication = oauth.ClientSecretBasic(clientSecret);
  const response = await oauth.clientCredentialsGrantRequest(server, client, authentication, {}, options);
  const answer = await oauth.processClientCredentialsResponse(server, client, response);
  expect(answer.token_type).toBe('dpop');
  const target = new URL(identity.url + USERS);
  const users = await oauth.protectedResourceRequest(
    answer.access_token,
    'GET',
    target,
    undefined,
    null,
    options,
  );
  expect(users.status).toBe(200);
});

test('a connection of a public client is bound with its refresh tokens, at the tools too', async () => {
  const session = await identity.login();
  const { application } = await createApplication(identity, session, {
    grantTypes: ['authorization_code', 'refresh_token'],
    scopes: ['user:read'],
    redirectUris: ['http://127.0.0.1/callback'],
    authMethod: 'none',
    role: undefined,
  });
  const id = application.clientId;
  const resource = `${identity.url}/mcp`;
  const authorization = createAuthorization(id, { resource });
  const code = (await consent(running.browser, authorization)).searchParams.get('code') ?? '';
  const form = {
    grant_type: 'authorization_code',
    client_id: id,
    code,
    code_verifier: authorization.verifier,
    redirect_uri: 'http://127.0.0.1:33418/callback',
  };
  const { body } = await requestBoundToken(proveToken(), form);
  const [bound, refreshToken] = [body.access_token as string, body.refresh_token as string];
  const callTool = (headers: Record<string, string>) =>
    identity.call('POST', '/mcp', {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: {} } },
      headers,
    });
  const proof = key.prove({ method: 'POST', url: resource, token: bound });
  const answer = await callTool({ authorization: `DPoP ${bound}`, dpop: proof });
  expect([answer.status, answer.body.result?.structuredContent.credential.kind]).toEqual([200, 'oauth']);
  const refused = await callTool({ authorization: `Bearer ${bound}` });
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringContaining('error="invalid_token"'),
  ]);
  const refresh = { grant_type: 'refresh_token', client_id: id, refresh_token: refreshToken };
  const stolen = await requestBoundToken(proveToken(createProofKey()), refresh);
  expect([stolen.status, stolen.body.error]).toEqual([400, 'invalid_grant']);
  const unproven = await requestBoundToken('', refresh);
  expect(unproven.status).toBe(400);
  const renewed = await requestBoundToken(proveToken(), refresh);
  expect([renewed.status, decode(renewed.body.access_token as string).cnf]).toEqual([200, decode(bound).cnf]);
});
