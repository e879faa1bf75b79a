import { request } from 'node:http';
import { createProofKey } from '@platform/testing';
import { makeDataDir, type Platform, printed, startPlatform, until } from './platform.js';

const START_MS = 180_000;
const CRAWL = '/api/v1/crawlingManager';
const SMTP = '/api/v1/configurationManager/smtpConfig';
const MIB = 1_048_576;

let platform: Platform;
let session: string;

/** The fields of the responses that the tests read; each response has some of them. */
interface Body {
  readonly accessToken: string;
  readonly token: {
    readonly id: string;
    readonly accessToken: string;
  };
  readonly data: readonly { readonly payload: unknown }[];
  readonly smtp: unknown;
}

interface Answer {
  readonly status: number;
  readonly body: Body;
}

interface Mail {
  readonly id: string;
  readonly to: readonly string[];
  readonly text: string;
  readonly html: string;
  readonly attachments: unknown;
}

async function call(method: string, path: string, token?: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${platform.port}${path}`, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

async function start(): Promise<void> {
  platform = await startPlatform({ dataDir: dataDir.path });
  await platform.settled;
  const email = printed(platform, 'Admin');
  const login = await call('POST', '/api/v1/auth/login', undefined, {
    email,
    password: printed(platform, 'Password'),
  });
  session = login.body.accessToken;
}

async function stop(): Promise<void> {
  platform.child.kill('SIGTERM');
  await platform.exited;
}

async function readInbox<T>(path: string): Promise<T> {
  return (await (await fetch(`http://127.0.0.1:${platform.inboxPort}${path}`)).json()) as T;
}

async function readNewestMail(): Promise<Mail> {
  const { mails } = await readInbox<{ mails: readonly Pick<Mail, 'id' | 'to'>[] }>('/api/mails');
  // The administrator is mailed about each new token.
  const newest = mails.find(({ to }) => to.includes('ada@example.com'));
  if (!newest) throw new Error('no mail to ada@example.com is in the inbox');
  return { ...newest, ...(await readInbox<Mail>(`/api/mails/${newest.id}`)) };
}

async function sendMail(subject: string, attachments: readonly unknown[] = []): Promise<Answer> {
  const fields = { name: 'mailer', scopes: ['SEND_MAIL'] };
  const { token } = (await call('POST', '/api/v1/personal-access-tokens', session, fields)).body;
  return call('POST', '/api/v1/mail/emails/sendEmail', token.accessToken, {
    emailTemplateType: 'loginWithOTP',
    sendEmailTo: ['ada@example.com'],
    subject,
    templateData: { userName: 'Ada', companyName: 'Example', otp: '493817' },
    attachments,
  });
}

const dataDir = await makeDataDir();
await start();

afterAll(async () => {
  await stop();
  await dataDir.remove();
});

it('a crawl that is scheduled through the gateway completes, and its sync event is in the feed', async () => {
  const scheduledTime = new Date(Date.now() + 1_000).toISOString();
  const scheduleConfig = { scheduleType: 'once', scheduledTime };
  expect((await call('POST', `${CRAWL}/wiki_1/schedule`, session, { scheduleConfig })).status).toBe(201);
  await until(async () => (await call('GET', `${CRAWL}/events`, session)).body.data.length === 1);
  const { body } = await call('GET', `${CRAWL}/events`, session);
  expect(body.data[0]?.payload).toMatchObject({ connector: 'wiki_1' });
});

it('a mail that is sent through the gateway is in the inbox, with nothing configured', async () => {
  expect(await sendMail('Grüße')).toMatchObject({ status: 200, body: { data: { status: true } } });
  const mail = await readNewestMail();
  expect(mail).toMatchObject({ subject: 'Grüße', to: ['ada@example.com'], from: 'noreply@example.com' });
  expect([mail.text, mail.html]).toEqual([
    expect.stringContaining('493817'),
    expect.stringContaining('493817'),
  ]);
  const page = await fetch(`http://127.0.0.1:${platform.inboxPort}/`);
  expect(await page.text()).toContain('<title>Inbox</title>');
});

it('the inbox shows a mail without running its scripts, and answers this machine only', async () => {
  const { id } = await readNewestMail();
  const url = `http://127.0.0.1:${platform.inboxPort}/api/mails/${id}/html`;
  expect((await fetch(url)).headers.get('content-security-policy')).toMatch(/^sandbox .*default-src 'none'/);
  const status = await new Promise((done, fail) => {
    const rebound = request(url, { headers: { host: 'attacker.example' } }, (answer) => {
      answer.resume();
      done(answer.statusCode);
    });
    rebound.once('error', fail).end();
  });
  expect(status).toBe(403);
});

it('two concurrent mails with 25 MiB of attachments arrive complete, and one byte more is rejected', async () => {
  const attachment = (bytes: number) => ({
    filename: 'archive.bin',
    content: Buffer.alloc(bytes, 7).toString('base64'),
    contentType: 'application/octet-stream',
  });
  const sent = await Promise.all(['1', '2'].map((subject) => sendMail(subject, [attachment(25 * MIB)])));
  expect(sent.map(({ status }) => status)).toEqual([200, 200]);
  expect((await readNewestMail()).attachments).toEqual([
    { filename: 'archive.bin', contentType: 'application/octet-stream', sizeBytes: 25 * MIB },
  ]);
  expect((await sendMail('too much', [attachment(25 * MIB + 1)])).status).toBe(400);
  expect(await sendMail('far too much', [attachment(30 * MIB)])).toMatchObject({
    status: 413,
    body: { error: { code: 'PAYLOAD_TOO_LARGE' } },
  });
});

it('a browser that signs in on the page of the gateway calls every service by its cookie', async () => {
  const base = `http://127.0.0.1:${platform.port}`;
  const page = await fetch(`${base}/sign-in`);
  const [, csrf = ''] = /name="csrf" value="([^"]+)"/.exec(await page.text()) ?? [];
  const getCookies = (response: Response) =>
    response.headers.getSetCookie().map((line) => line.split(';', 1)[0] ?? '');
  const email = printed(platform, 'Admin');
  const signedIn = await fetch(`${base}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie: getCookies(page).join('; '), 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ csrf, returnTo: '/', email, password: printed(platform, 'Password') }),
  });
  expect(signedIn.status).toBe(303);
  const cookie = getCookies(signedIn).join('; ');
  const [, token = ''] = /platform_csrf=([^;]+)/.exec(cookie) ?? [];
  const ask = async (path: string, headers: Record<string, string>) =>
    (await fetch(base + path, { headers: { cookie, 'sec-fetch-site': 'same-origin', ...headers } })).status;
  for (const path of ['/api/v1/users/me', '/api/v1/mail/records', `${CRAWL}/stats`])
    expect([path, await ask(path, { 'x-csrf-token': token }), await ask(path, {})]).toEqual([path, 200, 403]);
  const proof = { cookie, 'sec-fetch-site': 'same-origin', 'x-csrf-token': token };
  await fetch(`${base}/api/v1/auth/logout`, { method: 'POST', headers: proof });
  for (const path of ['/api/v1/users/me', '/api/v1/mail/records', `${CRAWL}/stats`])
    expect([path, await ask(path, { 'x-csrf-token': token })]).toEqual([path, 401]);
});

it('a token that is bound to a key works in every service with a proof for the address of the gateway alone', async () => {
  const base = `http://localhost:${platform.port}`;
  const fields = { grantTypes: ['client_credentials'], scopes: ['user:read', 'crawl:read', 'SEND_MAIL'] };
  const created = await fetch(`${base}/api/v1/oauth-applications`, {
    method: 'POST',
    headers: { authorization: `Bearer ${session}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bound', role: 'admin', ...fields }),
  });
  const { application, clientSecret } = (await created.json()) as {
    application: { clientId: string };
    clientSecret: string;
  };
  const key = createProofKey();
  const issued = await fetch(`${base}/oauth2/token`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`${application.clientId}:${clientSecret}`).toString('base64')}`,
      dpop: key.prove({ method: 'POST', url: `${base}/oauth2/token` }),
    },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token: token } = (await issued.json()) as { access_token: string };
  const ask = async (path: string, scheme: string, url: string) => {
    const proof = key.prove({ method: 'GET', url, token });
    return (await fetch(base + path, { headers: { authorization: `${scheme} ${token}`, dpop: proof } }))
      .status;
  };
  for (const path of ['/api/v1/users', '/api/v1/mail/records', `${CRAWL}/stats`])
    expect([
      path,
      await ask(path, 'DPoP', base + path),
      await ask(path, 'DPoP', `http://elsewhere.example${path}`),
      await ask(path, 'Bearer', base + path),
    ]).toEqual([path, 200, 401, 401]);
});

it('routes between services do not exist for the clients of the gateway', async () => {
  const paths = ['mail/internal/sendEmail', 'oauth2/token', 'oauth2/introspect'];
  const answers = await Promise.all(paths.map((path) => call('POST', `/api/v1/${path}`, session, {})));
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
  expect((await call('GET', '/.well-known/jwks.json')).status).toBe(200);
});

it(
  'a second start keeps the schedules and the events, and never overwrites the SMTP server',
  async () => {
    const own = { host: 'smtp.example.com', port: 2525, fromEmail: 'hello@example.com' };
    expect((await call('POST', SMTP, session, own)).status).toBe(200);
    const before = (await call('GET', `${CRAWL}/events`, session)).body.data;
    await stop();
    await start();
    expect((await call('GET', SMTP, session)).body.smtp).toMatchObject(own);
    expect(platform.output()).toContain("the organisation's SMTP server is smtp.example.com:2525");
    expect((await call('GET', `${CRAWL}/events`, session)).body.data).toEqual(before);
    expect((await call('GET', `${CRAWL}/wiki_1/schedule`, session)).status).toBe(200);
  },
  START_MS,
);
