import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createProofKey } from '@platform/testing';
import { createDecoder } from 'fast-jwt';
import { serviceClient, startIdentity } from '../identity.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { createApplication, PUBLIC_URL, requestToken } from './applications.js';

const decode = createDecoder();
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
afterAll(async () => {
  await identity.close();
  crawl.close();
});

test("OAUTH-8: a tool calls crawl with a narrower credential than the agent's, which ends together with it", async () => {
  const session = await identity.login();
  const { application, clientSecret } = await createApplication(identity, session);
  const { clientId } = application;
  const { body } = await requestToken(
    identity,
    { clientId, clientSecret },
    { resource: `${PUBLIC_URL}/mcp` },
  );
  const token = body.access_token as string;
  const list = () =>
    createCaller(identity, token).legacy('tools/call', { name: 'list_crawls', arguments: {} });
  await list();
  await list();
  const [first = '', second = ''] = received;
  expect(first).not.toBe(token);
  expect(second).toBe(first);
  expect(decode(first)).toMatchObject({
    aud: ['crawl'],
    scope: 'crawl:read',
    client_id: clientId,
    kind: 'oauth',
  });
  const introspect = async () => {
    const { rows } = await identity.db.query(
      'select revoked_at from oauth_access_tokens where parent_id is not null',
    );
    return rows as { revoked_at: Date | null }[];
  };
  expect(await introspect()).toEqual([{ revoked_at: null }]);
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  const headers = { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' };
  await identity.call('POST', '/oauth2/revoke', { raw: `token=${token}`, headers });
  expect(await introspect()).toEqual([{ revoked_at: expect.any(Date) }]);
  expect((await list()).status).toBe(401);
});

test('an exchanged token that is stored while its parent is revoked is refused', async () => {
  received.length = 0;
  const created = await createApplication(identity, await identity.login());
  const credentials = { clientId: created.application.clientId, clientSecret: created.clientSecret };
  const { body } = await requestToken(identity, credentials, { resource: `${PUBLIC_URL}/mcp` });
  await createCaller(identity, body.access_token as string).legacy('tools/call', {
    name: 'list_crawls',
    arguments: {},
  });
  const [exchanged = ''] = received;
  const basic = Buffer.from(`${serviceClient.id}:${serviceClient.secret}`).toString('base64');
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const issued = await identity.call('POST', '/api/v1/oauth2/token', {
    raw: 'grant_type=client_credentials',
    headers: { ...headers, authorization: `Basic ${basic}` },
  });
  const isActive = async () => {
    const answer = await identity.call('POST', '/api/v1/oauth2/introspect', {
      token: issued.body.access_token as string,
      body: { tokens: [exchanged] },
    });
    return answer.body.results[0].active as boolean;
  };
  expect(await isActive()).toBe(true);
  await identity.db.query('update oauth_access_tokens set revoked_at = now() where parent_id is null');
  expect(await isActive()).toBe(false);
});

test('the token of a tool call is not bound to the key of the agent, which the platform does not have', async () => {
  const { application, clientSecret } = await createApplication(identity, await identity.login());
  const key = createProofKey();
  const basic = Buffer.from(`${application.clientId}:${clientSecret}`).toString('base64');
  const resource = `${PUBLIC_URL}/mcp`;
  const { body } = await identity.call('POST', '/oauth2/token', {
    raw: new URLSearchParams({ grant_type: 'client_credentials', resource }).toString(),
    headers: {
      authorization: `Basic ${basic}`,
      'content-type': 'application/x-www-form-urlencoded',
      dpop: key.prove({ method: 'POST', url: `${PUBLIC_URL}/oauth2/token` }),
    },
  });
  const token = body.access_token as string;
  expect(decode(token)).toHaveProperty('cnf');
  const before = received.length;
  await identity.call('POST', '/mcp', {
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_crawls', arguments: {} } },
    headers: {
      authorization: `DPoP ${token}`,
      dpop: key.prove({ method: 'POST', url: resource, token }),
    },
  });
  expect(received).toHaveLength(before + 1);
  expect(decode(received.at(-1) ?? '')).toMatchObject({ aud: ['crawl'], client_id: application.clientId });
  expect(decode(received.at(-1) ?? '')).not.toHaveProperty('cnf');
});

test('a personal access token is passed on as it is', async () => {
  received.length = 0;
  const { accessToken } = await identity.createToken(await identity.login());
  await createCaller(identity, accessToken).legacy('tools/call', { name: 'list_crawls', arguments: {} });
  expect(received).toEqual([accessToken.replace('pat_', '').slice(0, -7)]);
});
