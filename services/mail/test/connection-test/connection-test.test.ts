import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { startMail } from '../mail.js';
import { startSmtp, toConfiguration } from '../smtp-server.js';

const servers: SMTPServer[] = [];

// One test waits for the timeout.
const mail = await startMail({ environment: { SMTP_TIMEOUT_MS: '3000' } });
afterAll(() => mail.close());
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise<void>((resolve) => server.close(resolve));
});

/** Starts a server with the self-signed certificate of the smtp-server package. */
async function start(options: SMTPServerOptions): Promise<number> {
  const server = new SMTPServer({ logger: false, authOptional: true, ...options });
  server.on('error', () => undefined);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.server.address() as AddressInfo).port;
}

const report = async (fields: object) => {
  // Only ten tests a minute are allowed.
  mail.advance(60_000);
  await mail.configure({ host: '127.0.0.1', fromEmail: 'noreply@corp.example', ...fields });
  return (await mail.call('POST', '/api/v1/mail/testConnection', { token: mail.session })).body;
};

test('a server without TLS passes with a warning', async () => {
  const port = await start({ disabledCommands: ['STARTTLS', 'AUTH'] });
  expect(await report({ port })).toMatchObject({
    ok: true,
    server: `127.0.0.1:${port}`,
    tls: null,
    authenticated: false,
    problem: null,
    warnings: [expect.stringContaining('unencrypted')],
  });
});

test('the report says whether the login was accepted, and explains a refused login', async () => {
  const port = await start({
    disabledCommands: ['STARTTLS'],
    onAuth: ({ password }, _session, done) => {
      if (password === 'right') done(null, { user: 'u' });
      else done(new Error('no'));
    },
  });
  expect(await report({ port, username: 'u', password: 'right' })).toMatchObject({
    ok: true,
    authenticated: true,
  });
  expect(await report({ port, username: 'u', password: 'wrong' })).toMatchObject({
    ok: false,
    problem: { code: 'EAUTH', reply: 535, advice: expect.stringContaining('password') },
  });
});

test.each(['auto', 'starttls', 'implicit'])(
  'tls %s refuses an untrusted certificate, for mails too',
  async (tls) => {
    const port = await start({ secure: tls === 'implicit' });
    const found = await report({ port, tls });
    expect(found).toMatchObject({
      ok: false,
      problem: { message: expect.stringContaining('certificate of 127.0.0.1 was refused') },
    });
    expect((await mail.send()).status).toBe(500);
  },
);

test('tls starttls refuses a server without STARTTLS, and tls none never uses TLS', async () => {
  const port = await start({ disabledCommands: ['STARTTLS'] });
  expect(await report({ port, tls: 'starttls' })).toMatchObject({ ok: false, problem: { code: 'ETLS' } });
  const offering = await start({});
  expect(await report({ port: offering, tls: 'none' })).toMatchObject({ ok: true, tls: null });
});

test('a closed port, a silent server and garbage are reported as different problems', async () => {
  expect(await report({ port: 9 })).toMatchObject({ ok: false, problem: { detail: 'ECONNREFUSED' } });
  const smtp = await startSmtp(() => 'hang');
  expect(await report({ port: smtp.port })).toMatchObject({ ok: false, problem: { code: 'ETIMEDOUT' } });
  smtp.behave((step) => (step === 'CONNECT' ? 'HTTP/1.1 400 Bad Request' : undefined));
  expect(await report({ port: smtp.port })).toMatchObject({ ok: false, problem: { code: 'EPROTOCOL' } });
  await smtp.close();
});

test('an organisation may run ten tests a minute', async () => {
  mail.advance(60_000);
  const port = await start({ disabledCommands: ['STARTTLS', 'AUTH'] });
  await mail.configure(toConfiguration({ port }));
  const run = () => mail.call('POST', '/api/v1/mail/testConnection', { token: mail.session });
  for (let count = 0; count < 10; count += 1) expect((await run()).status).toBe(200);
  const refused = await run();
  expect([refused.status, Number(refused.headers.get('retry-after'))]).toEqual([429, expect.any(Number)]);
  mail.advance(60_000);
  expect((await run()).status).toBe(200);
});

test('a configuration that is given with the request is tested, and not stored', async () => {
  const port = await start({
    disabledCommands: ['STARTTLS'],
    onAuth: ({ password }, _session, done) => {
      done(password === 'typed' ? null : new Error('no'), { user: 'u' });
    },
  });
  const saved = await report({ port, username: 'u', password: 'saved' });
  expect(saved).toMatchObject({ ok: false, problem: { code: 'EAUTH' } });
  const smtp = { host: '127.0.0.1', port, fromEmail: 'noreply@corp.example', tls: 'auto', username: 'u' };
  const test = (body?: object) =>
    mail.call('POST', '/api/v1/mail/testConnection', { token: mail.session, ...(body && { body }) });
  expect((await test({ smtp: { ...smtp, password: 'typed' } })).body).toMatchObject({
    ok: true,
    authenticated: true,
  });
  expect((await test()).body).toMatchObject({ ok: false, problem: { code: 'EAUTH' } });
  const { status, body } = await test({ smtp: { ...smtp, host: 'no host' } });
  expect([status, body.error.code]).toEqual([400, 'SMTP_INCOMPLETE']);
});

describe('MAIL-44 a test mail', () => {
  const ask = (token = mail.session) => mail.call('POST', '/api/v1/mail/testMail', { token });

  test('goes to the administrator who asks for it and nobody else, and is a mail like others', async () => {
    mail.advance(60_000);
    const smtp = await startSmtp();
    await mail.configure(toConfiguration(smtp));
    const { status, body } = await ask();
    expect([status, body]).toEqual([200, { data: { status: true, data: 'Email sent' } }]);
    const me = await mail.identity('GET', '/api/v1/users/me', { token: mail.session });
    expect(smtp.accepted.map(({ to }) => to)).toEqual([[me.body.user.email]]);
    expect(smtp.accepted[0]?.raw).toContain('Subject: Test mail');
    const { rows } = await mail.db.query(`select state from mails where template_type = 'smtpTest'`);
    expect(rows).toEqual([{ state: 'sent' }]);
    smtp.behave((step) => (step === 'MAIL' ? '450 later' : undefined));
    const failed = await ask();
    expect([failed.status, failed.body.error.code]).toEqual([500, 'SMTP_ERROR']);
    await smtp.close();
  });

  test('takes a session, and counts as a test of the connection', async () => {
    mail.advance(60_000);
    expect((await ask(mail.token)).status).toBe(403);
    await mail.configure(toConfiguration({ port: 9 }));
    for (let count = 0; count < 9; count += 1)
      await mail.call('POST', '/api/v1/mail/testConnection', { token: mail.session });
    expect((await ask()).status).toBe(500);
    expect((await ask()).status).toBe(429);
  });
});
