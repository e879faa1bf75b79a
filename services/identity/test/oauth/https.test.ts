import { startIdentity } from '../identity.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { createApplication } from './applications.js';
import { consent, createAuthorization, createBrowser, exchangeCode } from './flow.js';

const publicUrl = 'https://knowledge.example.com';
const resource = `${publicUrl}/mcp`;

const identity = await startIdentity({ environment: { PUBLIC_URL: publicUrl } });
const { application } = await createApplication(identity, await identity.login(), {
  grantTypes: ['authorization_code', 'refresh_token'],
  redirectUris: ['http://127.0.0.1/callback'],
  authMethod: 'none',
});
const clientId = application.clientId;
afterAll(() => identity.close());

test('behind a gateway with TLS, an application connects, and every cookie is kept to TLS and to this host', async () => {
  const browser = createBrowser(identity, publicUrl);
  await browser.signIn();
  const authorization = createAuthorization(clientId, { resource });
  const started = await browser.get(authorization.url);
  const lines = started.headers.getSetCookie();
  expect(lines.map((line) => line.split('=', 1)[0])).toEqual(
    expect.arrayContaining(['__Secure-oauth_interaction', '__Secure-oauth_resume']),
  );
  for (const line of lines) expect(line).toMatch(/secure/i);
  for (const line of lines) expect(line).toMatch(/httponly/i);
  for (const line of lines) expect(line).toMatch(/samesite=lax/i);
  const target = await consent(browser, authorization);
  expect(target.searchParams.get('iss')).toBe(`${publicUrl}/oauth2`);
  const answer = await exchangeCode(identity, authorization, target.searchParams.get('code') ?? '');
  expect(answer.status).toBe(200);
  const list = await createCaller(identity, answer.body.access_token as string).legacy('tools/list');
  expect(list.status).toBe(200);
});

test('the answers of the authorization server have the security headers of all others', async () => {
  const answer = await identity.call('POST', '/oauth2/token', {
    raw: '',
    headers: { 'x-forwarded-host': 'x' },
  });
  expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(answer.headers.get('x-request-id')).toBeTruthy();
});

test('no connection outlives its grant, however often it is refreshed', async () => {
  const browser = createBrowser(identity, publicUrl);
  await browser.signIn();
  const authorization = createAuthorization(clientId, { resource });
  const target = await consent(browser, authorization);
  const { body } = await exchangeCode(identity, authorization, target.searchParams.get('code') ?? '');
  await identity.db.query(`update oauth_grants set expires_at = now() + interval '5 seconds'`);
  const raw = new URLSearchParams({
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: body.refresh_token as string,
  }).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const refreshed = await identity.call('POST', '/oauth2/token', { raw, headers });
  expect(refreshed.body.expires_in).toBeLessThanOrEqual(5);
  await identity.db.query(`update oauth_grants set expires_at = now() - interval '1 second'`);
  const again = new URLSearchParams({
    grant_type: 'refresh_token',
    client_id: clientId,
    refresh_token: refreshed.body.refresh_token as string,
  }).toString();
  expect((await identity.call('POST', '/oauth2/token', { raw: again, headers })).body.error).toBe(
    'invalid_grant',
  );
});
