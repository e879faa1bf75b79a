import { createDecoder } from 'fast-jwt';
import * as oauth from 'oauth4webapi';
import { startIdentity } from '../identity.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { createApplication, PUBLIC_URL, requestToken } from './applications.js';

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

const decode = createDecoder();

async function obtain(fields: object = {}, parameters: Record<string, string> = {}) {
  const created = await createApplication(identity, session, fields);
  const { clientId } = created.application;
  const credentials = { clientId, clientSecret: created.clientSecret };
  const answer = await requestToken(identity, credentials, parameters);
  return { ...created, credentials, answer, token: answer.body.access_token as string };
}

/** Creates a personal access token that acts as the service account of an application. */
async function createAccountToken(accountId = ''): Promise<string> {
  const body = { name: 'script', scopes: ['user:read'] };
  const path = `/api/v1/service-accounts/${accountId}/tokens`;
  return (await identity.call('POST', path, { token: session, body })).body.token.accessToken as string;
}

const listUsers = (token: string) => identity.call('GET', '/api/v1/users', { token });

test('OAUTH-3, OAUTH-4: an application gets a token for ten minutes with its scopes, which works as its service account', async () => {
  const { answer, application, token } = await obtain();
  expect([answer.status, answer.body]).toEqual([
    200,
    { access_token: token, token_type: 'Bearer', expires_in: 600, scope: 'crawl:read user:read' },
  ]);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(decode(token)).toMatchObject({
    iss: 'workspace-platform',
    sub: application.serviceAccount?.id,
    org: identity.orgId,
    kind: 'oauth',
    client_id: application.clientId,
    aud: ['identity', 'mail', 'crawl'],
  });
  expect((await listUsers(token)).status).toBe(200);
});

test('a narrower scope and resource are granted as requested, and other scopes are left out', async () => {
  const resource = `${PUBLIC_URL}/api/v1/crawlingManager`;
  const { token, credentials } = await obtain({}, { scope: 'crawl:read', resource });
  expect(decode(token)).toMatchObject({ aud: ['crawl'], scope: 'crawl:read' });
  expect((await listUsers(token)).status).toBe(401);
  const worker = await obtain({ scopes: ['crawl:work'] }, { resource });
  expect(decode(worker.token)).toMatchObject({ aud: ['crawl'], scope: 'crawl:work' });
  // Agents ask for the scopes that the challenge of the tools names.
  const partly = await requestToken(identity, credentials, {
    scope: 'crawl:read kb:read crawl:delete other',
  });
  expect([partly.status, partly.body.scope]).toEqual([200, 'crawl:read']);
  expect(decode(partly.body.access_token as string)).toMatchObject({ scope: 'crawl:read' });
  for (const fields of [{ scope: 'kb:read' }, { scope: 'user:read', resource }, { scope: 'other' }]) {
    const none = await requestToken(identity, credentials, fields);
    expect([none.status, none.body.error]).toEqual([400, 'invalid_scope']);
  }
  const elsewhere = await requestToken(identity, credentials, { resource: 'https://elsewhere.example/mcp' });
  expect([elsewhere.status, elsewhere.body.error]).toEqual([400, 'invalid_target']);
});

test('applications that request tokens at the same moment each get their own, and a disabled one is refused', async () => {
  const scopes = [['user:read'], ['crawl:read'], ['crawl:read', 'user:read'], ['user:read']];
  const applications = await Promise.all(scopes.map((names) => obtain({ scopes: names })));
  const disabled = applications.pop();
  const path = `/api/v1/oauth-applications/${disabled?.credentials.clientId}`;
  await identity.call('PATCH', path, { token: session, body: { isDisabled: true } });
  const requests = Array.from({ length: 5 }, () => applications).flat();
  const tokens = requests.map(async ({ credentials, application }) => {
    const { body } = await requestToken(identity, credentials);
    const { client_id: clientId, sub, scope } = decode(body.access_token as string) as Record<string, string>;
    expect([clientId, sub]).toEqual([credentials.clientId, application.serviceAccount?.id]);
    expect((await listUsers(body.access_token as string)).status).toBe(scope?.includes('user') ? 200 : 403);
    return `${sub} ${scope}`;
  });
  const refused = disabled && (await requestToken(identity, disabled.credentials));
  expect([refused?.status, new Set(await Promise.all(tokens)).size]).toEqual([401, 3]);
});

test('only the SHA-256 of a token is stored, and the response is the same for a wrong secret and an unknown client', async () => {
  const { token, credentials } = await obtain();
  const { rows } = await identity.db.query('select * from oauth_access_tokens');
  expect(JSON.stringify(rows)).not.toContain(token.split('.')[2]);
  for (const wrong of [
    { ...credentials, clientSecret: 'x'.repeat(43) },
    { ...credentials, clientId: '019ab000-0000-7000-8000-000000000000' },
  ]) {
    const answer = await requestToken(identity, wrong);
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_client']);
  }
});

test.each([
  ['disabling the application', 'PATCH', '', { isDisabled: true }],
  ['removing the application', 'DELETE', '', undefined],
])('%s refuses its tokens at once, and new ones', async (_what, method, suffix, body) => {
  const { token, credentials, application } = await obtain();
  const personal = await createAccountToken(application.serviceAccount?.id);
  for (const value of [token, personal]) expect((await listUsers(value)).status).toBe(200);
  const path = `/api/v1/oauth-applications/${credentials.clientId}${suffix}`;
  expect((await identity.call(method, path, { token: session, ...(body && { body }) })).status).toBe(200);
  for (const value of [token, personal]) expect((await listUsers(value)).status).toBe(401);
  expect((await requestToken(identity, credentials)).status).toBe(401);
});

test('an application that is enabled again gets new access tokens, and its personal access tokens work again', async () => {
  const { token, credentials, application } = await obtain();
  const personal = await createAccountToken(application.serviceAccount?.id);
  const path = `/api/v1/oauth-applications/${credentials.clientId}`;
  for (const isDisabled of [true, false])
    await identity.call('PATCH', path, { token: session, body: { isDisabled } });
  expect([(await listUsers(token)).status, (await listUsers(personal)).status]).toEqual([401, 200]);
  expect((await requestToken(identity, credentials)).status).toBe(200);
});

test("a demoted service account loses the administrators' scopes in its existing tokens", async () => {
  const { token, credentials } = await obtain({ scopes: ['user:read'] });
  const path = `/api/v1/oauth-applications/${credentials.clientId}`;
  await identity.call('PATCH', path, { token: session, body: { role: 'member' } });
  expect((await listUsers(token)).status).toBe(403);
});

test('a token ends after ten minutes, and its row is deleted', async () => {
  const other = await startIdentity();
  try {
    const created = await createApplication(other, await other.login());
    const credentials = { clientId: created.application.clientId, clientSecret: created.clientSecret };
    const { body } = await requestToken(other, credentials);
    other.advance(601_000);
    expect((await other.call('GET', '/api/v1/users', { token: body.access_token as string })).status).toBe(
      401,
    );
    await other.sweep();
    expect((await other.db.query('select 1 from oauth_access_tokens')).rowCount).toBe(0);
  } finally {
    await other.close();
  }
});

test.each([
  ['GET', '/api/v1/personal-access-tokens'],
  ['GET', '/api/v1/personal-access-tokens/admin'],
  ['POST', '/api/v1/personal-access-tokens'],
  ['POST', '/api/v1/users'],
  ['GET', '/api/v1/audit'],
  ['GET', '/api/v1/oauth-applications'],
  ['POST', '/api/v1/auth/logout'],
])('a service account cannot use routes for people: %s %s', async (method, path) => {
  const { token } = await obtain();
  const body = method === 'POST' ? { body: {} } : {};
  expect((await identity.call(method, path, { token, ...body })).status).toBe(403);
});

test.each(['kb:read', 'semantic:write', 'pat:read', 'pat:write', 'user:write'])(
  'an application cannot be registered for %s, which depends on a person',
  async (scope) => {
    const body = { name: 'x', grantTypes: ['client_credentials'], scopes: [scope], role: 'admin' };
    const { status } = await identity.call('POST', '/api/v1/oauth-applications', { token: session, body });
    expect(status).toBe(400);
  },
);

test('whoami tells an agent that it acts for a service account', async () => {
  const { token, application } = await obtain({}, { resource: `${PUBLIC_URL}/mcp` });
  const caller = createCaller(identity, token);
  const { body } = await caller.legacy('tools/call', { name: 'whoami', arguments: {} });
  expect(body.result.structuredContent).toMatchObject({
    user: null,
    serviceAccount: { id: application.serviceAccount?.id, name: 'Nightly sync', role: 'admin' },
    credential: { kind: 'oauth', scopes: ['crawl:read', 'user:read'] },
  });
  const list = await caller.legacy('tools/list');
  const names = (list.body.result.tools as { name: string }[]).map(({ name }) => name);
  expect(names).not.toContain('list_my_tokens');
});

test('a token for the remote tools is refused by the REST API, and the reverse', async () => {
  const forTools = await obtain({}, { resource: `${PUBLIC_URL}/mcp` });
  expect((await listUsers(forTools.token)).status).toBe(401);
  const forApi = await obtain();
  expect((await createCaller(identity, forApi.token).legacy('tools/list')).status).toBe(401);
});

test('two secrets overlap; a revoked one is refused; each shows its last use', async () => {
  const { credentials, application } = await obtain();
  const base = `/api/v1/oauth-applications/${credentials.clientId}`;
  const second = await identity.call('POST', `${base}/secrets`, { token: session });
  expect(second.status).toBe(201);
  const newer = { ...credentials, clientSecret: second.body.clientSecret as string };
  expect((await requestToken(identity, newer)).status).toBe(200);
  expect((await requestToken(identity, credentials)).status).toBe(200);
  expect((await identity.call('POST', `${base}/secrets`, { token: session })).status).toBe(409);
  const revoked = await identity.call('DELETE', `${base}/secrets/${application.secrets[0]?.id}`, {
    token: session,
  });
  expect(revoked.status).toBe(200);
  expect((await requestToken(identity, credentials)).status).toBe(401);
  expect((await requestToken(identity, newer)).status).toBe(200);
  const { body } = await identity.call('GET', base, { token: session });
  expect(body.application.secrets).toEqual([
    { id: second.body.secret.id, createdAt: expect.any(String), lastUsedAt: expect.any(String) },
  ]);
});

test('a certified client library gets a token and understands a refusal', async () => {
  const { credentials } = await obtain();
  const server = { issuer: `${PUBLIC_URL}/oauth2`, token_endpoint: `${identity.url}/oauth2/token` };
  const client = { client_id: credentials.clientId };
  const request = (secret: string) =>
    oauth.clientCredentialsGrantRequest(
      server,
      client,
      oauth.ClientSecretBasic(secret),
      new URLSearchParams({ scope: 'user:read' }),
      // oxlint-disable-next-line typescript/no-deprecated -- marked so that nobody leaves it on: the test has no TLS
      { [oauth.allowInsecureRequests]: true },
    );
  const response = await request(credentials.clientSecret);
  const answer = await oauth.processClientCredentialsResponse(server, client, response);
  expect(answer).toMatchObject({ token_type: 'bearer', expires_in: 600, scope: 'user:read' });
  const refused = oauth.processClientCredentialsResponse(server, client, await request('wrong'));
  await expect(refused).rejects.toMatchObject({ status: 401 });
});
