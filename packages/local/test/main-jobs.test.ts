import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callUrl, createProofKey, testPlatform, waitFor } from '@platform/testing';

/* The main jobs of `npm start`, through its gateway, as the administrator that it prints. */

const CRAWL = '/api/v1/crawlingManager';
const MIB = 1_048_576;
const RECIPIENT = 'main-jobs@example.com';
/** A path of each service. */
const PATHS = ['/api/v1/users/me', '/api/v1/mail/records', `${CRAWL}/stats`];

const { url, inboxPort, firstAdmin } = await testPlatform();
const call = (method: string, path: string, token?: string, body?: object) =>
  callUrl(url + path, method, { token, ...(body && { body }) });
const session = (await call('POST', '/api/v1/auth/login', undefined, firstAdmin)).body.accessToken as string;

interface Mail {
  readonly id: string;
  readonly to: readonly string[];
}
async function readNewestMail() {
  const inbox = `http://127.0.0.1:${inboxPort}/api/mails`;
  const { mails } = (await callUrl(inbox, 'GET')).body as { mails: readonly Mail[] };
  const newest = mails.find(({ to }) => to.includes(RECIPIENT));
  if (!newest) throw new Error(`no mail to ${RECIPIENT} is in the inbox`);
  return { ...newest, ...(await callUrl(`${inbox}/${newest.id}`, 'GET')).body };
}

async function sendMail(subject: string, attachments: readonly unknown[] = []) {
  const fields = { name: 'mailer', scopes: ['SEND_MAIL'] };
  const { token } = (await call('POST', '/api/v1/personal-access-tokens', session, fields)).body;
  return call('POST', '/api/v1/mail/emails/sendEmail', token.accessToken, {
    emailTemplateType: 'loginWithOTP',
    sendEmailTo: [RECIPIENT],
    subject,
    templateData: { userName: 'Ada', companyName: 'Example', otp: '493817' },
    attachments,
  });
}

test('a crawl that is scheduled through the gateway completes, and its sync event is in the feed', async () => {
  const scheduledTime = new Date(Date.now() + 1_000).toISOString();
  const scheduleConfig = { scheduleType: 'once', scheduledTime };
  expect((await call('POST', `${CRAWL}/wiki_1/schedule`, session, { scheduleConfig })).status).toBe(201);
  const events = await waitFor(
    async () => {
      const { data } = (await call('GET', `${CRAWL}/events`, session)).body;
      return data.length === 1 && data;
    },
    { what: 'the event' },
  );
  expect(events[0].payload).toMatchObject({ connector: 'wiki_1' });
});

test('a mail that is sent through the gateway is in the inbox, with nothing configured', async () => {
  expect(await sendMail('Grüße')).toMatchObject({ status: 200, body: { data: { status: true } } });
  const code = expect.stringContaining('493817');
  expect(await readNewestMail()).toMatchObject({
    subject: 'Grüße',
    to: [RECIPIENT],
    from: 'noreply@example.com',
    text: code,
    html: code,
  });
});

test('two concurrent mails with 25 MiB of attachments arrive complete, and one byte more is rejected', async () => {
  const attachment = (bytes: number) => ({
    filename: 'archive.bin',
    content: Buffer.alloc(bytes, 7).toString('base64'),
    contentType: 'application/octet-stream',
  });
  const sent = await Promise.all(['1', '2'].map((subject) => sendMail(subject, [attachment(25 * MIB)])));
  for (const { status, body } of sent) expect([status, body.error]).toEqual([200, undefined]);
  expect((await readNewestMail()).attachments).toEqual([
    { filename: 'archive.bin', contentType: 'application/octet-stream', sizeBytes: 25 * MIB },
  ]);
  expect((await sendMail('too much', [attachment(25 * MIB + 1)])).status).toBe(400);
  expect(await sendMail('far too much', [attachment(30 * MIB)])).toMatchObject({
    status: 413,
    body: { error: { code: 'PAYLOAD_TOO_LARGE' } },
  });
});

test('a browser that signs in on the page of the gateway calls every service by its cookie', async () => {
  const page = await fetch(`${url}/sign-in`);
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(await page.text()) ?? [];
  const getCookies = (response: Response) =>
    response.headers.getSetCookie().map((line) => line.split(';', 1)[0] ?? '');
  const signedIn = await fetch(`${url}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: getCookies(page).join('; '), 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ csrf, returnTo: '/', ...firstAdmin }),
  });
  expect(signedIn.status).toBe(303);
  const cookie = getCookies(signedIn).join('; ');
  const [, token = ''] = /platform_csrf=([^;]+)/.exec(cookie) ?? [];
  const headers = { cookie, 'sec-fetch-site': 'same-origin' };
  const proof = { ...headers, 'x-csrf-token': token };
  const ask = async (path: string, sent: Record<string, string>) =>
    (await callUrl(url + path, 'GET', { headers: sent })).status;
  for (const path of PATHS)
    expect([path, await ask(path, proof), await ask(path, headers)]).toEqual([path, 200, 403]);
  await callUrl(`${url}/api/v1/auth/logout`, 'POST', { headers: proof });
  for (const path of PATHS) expect([path, await ask(path, proof)]).toEqual([path, 401]);
});

test('a token that is bound to a key works in every service with a proof for the address of the gateway alone', async () => {
  const fields = { grantTypes: ['client_credentials'], scopes: ['user:read', 'crawl:read', 'SEND_MAIL'] };
  const created = await call('POST', '/api/v1/oauth-applications', session, {
    name: 'bound',
    role: 'admin',
    ...fields,
  });
  const { application, clientSecret } = created.body;
  const key = createProofKey();
  const issued = await callUrl(`${url}/oauth2/token`, 'POST', {
    raw: 'grant_type=client_credentials',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from(`${application.clientId}:${clientSecret}`).toString('base64')}`,
      dpop: key.prove({ method: 'POST', url: `${url}/oauth2/token` }),
    },
  });
  const token = issued.body.access_token as string;
  const ask = async (path: string, scheme: string, provenUrl: string) => {
    const dpop = key.prove({ method: 'GET', url: provenUrl, token });
    const headers = { authorization: `${scheme} ${token}`, dpop };
    return (await callUrl(url + path, 'GET', { headers })).status;
  };
  for (const path of ['/api/v1/users', ...PATHS.slice(1)])
    expect([
      path,
      await ask(path, 'DPoP', url + path),
      await ask(path, 'DPoP', `http://elsewhere.example${path}`),
      await ask(path, 'Bearer', url + path),
    ]).toEqual([path, 200, 401, 401]);
});

test('what mail and crawl refuse to a token is in its log, with the reason [AUD-25]', async () => {
  const fields = { name: 'refused', scopes: ['crawl:read'], bounds: { connectors: ['wiki_1'] } };
  const { token } = (await call('POST', '/api/v1/personal-access-tokens', session, fields)).body;
  const ask = async (method: string, path: string) =>
    (await call(method, path, token.accessToken, method === 'GET' ? undefined : {})).status;
  expect(await ask('GET', `${CRAWL}/jira_1/schedule`)).toBe(403);
  expect(await ask('POST', `${CRAWL}/wiki_1/pause`)).toBe(403);
  expect(await ask('POST', '/api/v1/mail/emails/sendEmail')).toBe(403);
  const refusals = await waitFor(
    async () => {
      const { body } = await call('GET', `/api/v1/agents/token/${token.id}`, session);
      return body.refusals.length === 3 && body.refusals;
    },
    { what: 'the refusals' },
  );
  const brief = ({ via, tool, reason, lacks }: Record<string, unknown>) => [via, tool, reason, lacks];
  expect(refusals.map(brief).toSorted()).toEqual([
    ['rest', 'GET /api/v1/crawlingManager/:connector/schedule', 'bounds', []],
    ['rest', 'POST /api/v1/crawlingManager/:connector/pause', 'scope', ['crawl:write']],
    ['rest', 'POST /api/v1/mail/emails/sendEmail', 'scope', ['SEND_MAIL']],
  ]);
});

test('destinations, crawl endpoints and mounted servers may be on this machine, over plain HTTP [OPS-25]', async () => {
  const received: string[] = [];
  const server = createServer((request, response) => {
    received.push(request.url ?? '');
    response.end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const create = async (path: string, body: object) => {
    const created = await call('POST', path, session, body);
    expect([path, created.status, created.body.error]).toEqual([path, 201, undefined]);
    return created.body;
  };
  const at = (path: string) => `http://localhost:${port}/${path}`;
  const { destination } = await create('/api/v1/events/destinations', { form: 'webhook', url: at('facts') });
  const { data: endpoint } = await create(`${CRAWL}/endpoints`, { url: at('crawl') });
  const mount = await create('/api/v1/mcp-servers', { name: 'local', url: at('mcp'), isEnabled: true });
  const tests = [
    `/api/v1/events/destinations/${destination.id}/test`,
    `${CRAWL}/endpoints/${endpoint.endpointId}/test`,
    `/api/v1/mcp-servers/${mount.server.id}/test`,
  ];
  for (const path of tests) expect([path, (await call('POST', path, session)).status]).toEqual([path, 200]);
  expect(new Set(received)).toEqual(new Set(['/facts', '/crawl', '/mcp']));
  server.closeAllConnections();
  server.close();
});

test('routes between services do not exist for the clients of the gateway', async () => {
  for (const path of ['mail/internal/sendEmail', 'oauth2/token', 'oauth2/introspect', 'internal/refusals'])
    expect([path, (await call('POST', `/api/v1/${path}`, session, {})).status]).toEqual([path, 404]);
  expect((await call('GET', '/.well-known/jwks.json')).status).toBe(200);
});
