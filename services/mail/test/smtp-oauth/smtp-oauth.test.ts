import { HOUR_MS } from '@platform/service-kit';
import { callUrl, ENCRYPTION_KEYS, waitFor } from '@platform/testing';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { claimTokenRequest } from '../../src/features/smtp-oauth/smtp-oauth.sql.js';
import { buildApp, emailBody, startMail, waitForRuntime } from '../mail.js';
import { startTokenProvider, startXoauthServer } from './token-provider.js';

const provider = await startTokenProvider();
const smtp = await startXoauthServer(provider);
const mail = await startMail({ tokenEndpoints: provider.endpoints });
afterAll(async () => {
  await mail.close();
  await smtp.close();
  await provider.close();
});
beforeEach(() => {
  provider.state.fail = undefined;
  provider.state.requests = 0;
  smtp.state.refusal = undefined;
  smtp.state.mails = 0;
});
afterEach(() => mail.db.query('delete from smtp_tokens'));

const configure = (auth: object, fields: object = {}) =>
  mail.configure({ ...smtp.configuration, ...fields, auth });
const testConnection = async () => {
  // Only ten tests a minute are allowed.
  mail.advance(60_000);
  return (await mail.call('POST', '/api/v1/mail/testConnection', { token: mail.session })).body;
};

test.each([
  ['Microsoft with a client secret', () => provider.auth.microsoft()],
  ['Microsoft with a certificate', () => provider.auth.certificate()],
  ['Google with a service account', () => provider.auth.google()],
])('sends mails with a token of %s, which is requested once', async (_name, getAuth) => {
  await configure(getAuth());
  const answers = await Promise.all([mail.send(), mail.send(), mail.send()]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect([smtp.state.mails, provider.state.requests]).toEqual([3, 1]);
  mail.advance(HOUR_MS);
  expect((await mail.send()).status).toBe(200);
  expect(provider.state.requests).toBe(2);
});

test('stores the tokens encrypted, and logs no secret', async () => {
  await configure(provider.auth.microsoft({ tenant: 'encrypted.example' }));
  await mail.send();
  const token = smtp.state.logins.at(-1) ?? '';
  const { rows } = await mail.db.query('select * from smtp_tokens');
  expect(rows).toHaveLength(1);
  for (const secret of [token, provider.auth.microsoft().clientSecret])
    expect(JSON.stringify(rows) + mail.logged()).not.toContain(secret);
});

test('uses the refresh token that the provider issued last, whatever the replica and its newest key', async () => {
  await configure(provider.auth.custom(await provider.issueRefreshToken()));
  const other = await buildApp(mail.databaseUrl, mail.identityUrl, {
    tokenEndpoints: provider.endpoints,
    environment: { ENCRYPTION_KEYS: `k2:${Buffer.alloc(32, 2).toString('base64')},${ENCRYPTION_KEYS}` },
  });
  await waitForRuntime(other.app);
  await other.app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = other.app.server.address() as AddressInfo;
  const sendThere = () =>
    callUrl(`http://127.0.0.1:${port}/api/v1/mail/emails/sendEmail`, 'POST', {
      token: mail.token,
      body: emailBody(),
    });
  try {
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_value, index) => (index % 2 === 0 ? mail.send() : sendThere())),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(provider.state.requests).toBe(1);
    // The provider revokes everything when a refresh token is used again.
    const endTokens = () => mail.db.query('update smtp_tokens set refresh_at = now(), expires_at = now()');
    await endTokens();
    mail.advance(HOUR_MS);
    expect((await mail.send()).status).toBe(200);
    expect((await testConnection()).ok).toBe(true);
    expect(provider.state.requests).toBe(3);
    expect((await sendThere()).status).toBe(200);
  } finally {
    await other.app.close();
    await other.shutdown.run('test done');
  }
});

test('leaves a provider alone that has refused, and uses a token until it ends', async () => {
  await configure(provider.auth.microsoft({ tenant: 'failing.example' }));
  await mail.send();
  let answer = (): void => undefined;
  provider.state.fail = (response) => {
    answer = () => response.writeHead(503).end();
  };
  const before = provider.state.requests;
  mail.advance(HOUR_MS - 120_000);
  // The provider has not answered yet: no mail waits for the next token while there is one.
  expect((await mail.send()).status).toBe(200);
  await waitFor(() => provider.state.requests === before + 1, { what: 'the request for the next token' });
  answer();
  await waitFor(() => mail.logged().includes('Failed to renew an access token'), { what: 'the refusal' });
  expect((await mail.send()).status).toBe(200);
  provider.state.fail = (response) => {
    response.writeHead(503).end();
  };
  mail.advance(120_000);
  expect((await mail.send()).status).toBe(500);
  expect((await mail.send()).status).toBe(500);
  expect(provider.state.requests - before).toBe(2);
  const { body } = await mail.call('GET', '/api/v1/mail/records?state=failed&limit=1', {
    token: mail.session,
  });
  expect(body.data[0].failure).toMatchObject({ code: 'ETOKEN' });
  provider.state.fail = undefined;
  mail.advance(31_000);
  expect((await mail.send()).status).toBe(200);
});

test('renews a token before it ends, without a mail that waits for it', async () => {
  await configure(provider.auth.microsoft({ tenant: 'renewing.example' }));
  await mail.send();
  mail.advance(HOUR_MS - 120_000);
  await mail.send();
  await waitFor(
    async () =>
      (await mail.db.query('select from smtp_tokens where refresh_at > $1', [new Date(Date.now() + HOUR_MS)]))
        .rowCount === 1,
    { what: 'the next token' },
  );
  mail.advance(120_000);
  const requests = provider.state.requests;
  expect((await mail.send()).status).toBe(200);
  expect(provider.state.requests).toBe(requests);
});

test('stores a refresh token that replaces another one as soon as the database takes it', async () => {
  await configure(provider.auth.custom(await provider.issueRefreshToken()));
  provider.state.fail = (response) => {
    // The database takes nothing from before the answer on.
    void mail.db.query('alter table smtp_tokens rename to smtp_tokens_away').then(() => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          access_token: 'a',
          refresh_token: 'the next one',
          token_type: 'bearer',
          expires_in: 3_600,
        }),
      );
    });
  };
  const sending = mail.send();
  await waitFor(() => mail.logged().includes('Failed to store an access token'), { what: 'the failure' });
  await mail.db.query('alter table smtp_tokens_away rename to smtp_tokens');
  await sending;
  const { rows } = await mail.db.query('select sealed_refresh_token, fetching_until from smtp_tokens');
  expect(rows).toEqual([{ sealed_refresh_token: expect.any(String), fetching_until: null }]);
});

test.each([
  [
    'is compressed',
    { 'content-encoding': 'gzip' },
    gzipSync(JSON.stringify({ access_token: 'a', token_type: 'bearer', padding: ' '.repeat(10_000_000) })),
    'unreachable',
  ],
  [
    'has a token that fits into no AUTH line',
    {},
    JSON.stringify({ access_token: 'a'.repeat(8_193), token_type: 'bearer' }),
    'invalid_answer',
  ],
])('refuses an answer that %s', async (_name, headers, answer, detail) => {
  await configure(provider.auth.microsoft());
  provider.state.fail = (response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(answer);
  };
  expect((await testConnection()).problem).toMatchObject({ step: 'token', detail });
});

test('a replica whose clock is fast does not take over the request of another one', async () => {
  const key = { orgId: mail.orgId, fingerprint: 'x' };
  const claim = (now: number) =>
    claimTokenRequest(mail.db, key, {
      now: new Date(now),
      leaseMs: 15_000,
      issuedBefore: new Date(0),
      failedBefore: new Date(now),
    });
  expect(await claim(Date.now())).toMatchObject({ isFetching: true });
  expect(await claim(Date.now() + HOUR_MS)).toBeUndefined();
});

test('replaces a token that the server refuses, unless it is new', async () => {
  const auth = provider.auth.microsoft({ tenant: 'refused.example' });
  await configure(auth);
  await mail.send();
  smtp.state.refusal = '5.7.3 Authentication unsuccessful';
  // Other connections, which sign in.
  await configure(auth, { fromEmail: 'other@corp.example' });
  expect((await mail.send()).status).toBe(500);
  expect(provider.state.requests).toBe(1);
  mail.advance(60_000);
  expect((await mail.send()).status).toBe(500);
  smtp.state.refusal = undefined;
  expect((await mail.send()).status).toBe(200);
  expect(provider.state.requests).toBe(2);
});

test('the connection test passes with a new token', async () => {
  await configure(provider.auth.google());
  const requests = provider.state.requests;
  for (const count of [1, 2]) {
    expect(await testConnection()).toMatchObject({ ok: true, authenticated: true, problem: null });
    expect(provider.state.requests).toBe(requests + count);
  }
  expect(smtp.state.mails).toBe(0);
});

test('the connection test explains a wrong secret', async () => {
  await configure(provider.auth.microsoft({ clientSecret: 'wrong' }));
  expect(await testConnection()).toMatchObject({
    ok: false,
    problem: { step: 'token', detail: 'invalid_client', advice: expect.stringMatching(/client secret/) },
  });
});

test('the connection test keeps the number of an error of Microsoft', async () => {
  await configure(provider.auth.microsoft());
  provider.state.fail = (response) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    const text = 'AADSTS7000215: Invalid client secret provided.';
    response.end(JSON.stringify({ error: 'invalid_client', error_description: text }));
  };
  const { problem } = await testConnection();
  expect(problem).toMatchObject({ step: 'token', detail: 'AADSTS7000215' });
  expect(JSON.stringify(problem)).not.toContain('AADSTS7000215:');
});

test.each([
  [
    '5.7.139 Authentication unsuccessful, SmtpClientAuthentication is disabled for the Mailbox. Visit https://aka.ms/smtp_auth_disabled',
    'smtp_auth',
    /Authenticated SMTP/,
  ],
  [
    '5.7.139 Authentication unsuccessful, the request did not meet the criteria to be authenticated successfully',
    'permission',
    /Conditional Access/,
  ],
  [
    '5.7.3 Authentication unsuccessful [AM0PR01.eurprd01.prod.exchangelabs.com]',
    'permission',
    /SMTP\.SendAsApp/,
  ],
])('the connection test explains 535 %s', async (refusal, step, advice) => {
  await configure(provider.auth.microsoft());
  smtp.state.refusal = refusal;
  const { problem } = await testConnection();
  expect(problem).toMatchObject({ step, code: 'EAUTH', reply: 535, advice: expect.stringMatching(advice) });
});

test('the connection test explains a mailbox that the token is not for', async () => {
  await configure(provider.auth.microsoft(), { username: 'other@corp.example' });
  expect((await testConnection()).problem).toMatchObject({ step: 'permission', code: 'EAUTH', reply: 535 });
});

test('a token URL leads nowhere that the operator has not allowed, and redirects are not followed', async () => {
  const auth = provider.auth.custom('any');
  await configure({ ...auth, tokenUrl: 'http://127.0.0.2:9/token' });
  const denied = (await testConnection()).problem;
  await configure({ ...auth, tokenUrl: 'https://no-such-host.invalid/token' });
  const unknown = (await testConnection()).problem;
  expect(denied).toEqual(unknown);
  expect(denied).toMatchObject({ step: 'token', detail: 'no_address' });
  await configure(auth);
  provider.state.fail = (response) => {
    response.writeHead(307, { location: provider.endpoints.google }).end();
  };
  const requests = provider.state.requests;
  expect((await testConnection()).problem).toMatchObject({ step: 'token', detail: 'http_307' });
  expect(provider.state.requests).toBe(requests + 1);
});

test('without TLS no token is sent', async () => {
  await configure(provider.auth.microsoft(), { tls: 'starttls' });
  expect((await testConnection()).problem).toMatchObject({ step: 'connection', code: 'ETLS' });
  const logins = smtp.state.logins.length;
  expect((await mail.send()).status).toBe(500);
  expect(smtp.state.logins).toHaveLength(logins);
});
