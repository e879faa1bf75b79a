import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { waitFor } from '@platform/testing';
import { type MailUnderTest, startMail } from '../mail.js';
import { type SmtpUnderTest, startSmtp, toConfiguration } from '../smtp-server.js';

const reloadPath = '/api/v1/mail/updateSmtpConfig';
const configPath = '/api/v1/configurationManager/smtpConfig';

describe('with identity as the configuration manager', () => {
  let mail: MailUnderTest;
  let first: SmtpUnderTest;
  let second: SmtpUnderTest;
  beforeAll(async () => {
    mail = await startMail({ environment: { SMTP_TIMEOUT_MS: '20000' } });
    first = await startSmtp();
    second = await startSmtp();
  });
  afterAll(async () => {
    await mail.close();
    await first.close();
    await second.close();
  });

  test('updateSmtpConfig returns the loaded configuration without the password', async () => {
    await mail.identity('POST', configPath, {
      token: mail.session,
      body: toConfiguration(first, { username: 'u', password: 's3cret-value', tls: 'none' }),
    });
    const reloaded = await mail.call('POST', reloadPath, { token: mail.token });
    expect([reloaded.status, reloaded.body]).toEqual([
      200,
      {
        message: 'SMTP configuration updated',
        smtp: { host: '127.0.0.1', port: first.port, fromEmail: 'noreply@corp.example', username: 'u' },
      },
    ]);
    expect(mail.logged()).not.toContain('s3cret-value');
  });

  test('a reload applies to the next mail, and a mail in progress finishes on the old server', async () => {
    await mail.configure(toConfiguration(first));
    first.behave((step) => (step === 'DATA' ? 'hang' : undefined));
    const slow = mail.send({ subject: 'slow' });
    await waitFor(() => first.count('DATA') === 1, { what: 'the first mail at DATA' });
    await mail.configure(toConfiguration(second));
    expect((await mail.send({ subject: 'fast' })).status).toBe(200);
    expect(second.accepted).toHaveLength(1);
    first.behave(() => undefined);
    first.say('354 go on');
    expect((await slow).status).toBe(200);
    expect(first.accepted).toHaveLength(1);
    await waitFor(() => first.open() === 0, { what: 'the close of the old connections' });
  });

  test('a changed configuration takes effect without a reload when the cached one has expired', async () => {
    await mail.configure(toConfiguration(second));
    await mail.identity('POST', configPath, { token: mail.session, body: toConfiguration(first) });
    second.accepted.length = 0;
    await mail.send();
    expect(second.accepted).toHaveLength(1);
    first.accepted.length = 0;
    mail.advance(61_000);
    await mail.send();
    expect(first.accepted).toHaveLength(1);
  });

  test('a removed configuration fails with 404 after a reload, and a new one needs no reload', async () => {
    await mail.identity('DELETE', configPath, { token: mail.session });
    expect((await mail.call('POST', reloadPath, { token: mail.token })).status).toBe(404);
    const missing = await mail.send();
    expect([missing.status, missing.body.error.message]).toEqual([404, 'Smtp Configuration not set']);
    await mail.identity('POST', configPath, { token: mail.session, body: toConfiguration(first) });
    expect((await mail.send()).status).toBe(200);
  });
});

describe('with an external configuration manager', () => {
  let mail: MailUnderTest;
  let manager: Server;
  let smtp: SmtpUnderTest;
  let answer: { status: number; body: unknown };
  const asked: string[] = [];

  beforeAll(async () => {
    smtp = await startSmtp();
    manager = createServer((request, response) => {
      asked.push(`${request.url ?? ''} ${String(request.headers.authorization?.startsWith('Bearer '))}`);
      response
        .writeHead(answer.status, { 'content-type': 'application/json' })
        .end(JSON.stringify(answer.body));
    });
    await new Promise<void>((resolve) => manager.listen(0, '127.0.0.1', resolve));
    const { port } = manager.address() as AddressInfo;
    mail = await startMail({ environment: { CONFIG_MANAGER_URL: `http://127.0.0.1:${port}` } });
  });
  afterAll(async () => {
    await mail.close();
    await smtp.close();
    manager.closeAllConnections();
    await new Promise((resolve) => manager.close(resolve));
  });

  test.each([
    ['null', { smtp: null }],
    ['a missing host', { smtp: { port: 25, fromEmail: 'a@b.example' } }],
    ['an invalid port', { smtp: { host: 'mail.example', port: 70_000, fromEmail: 'a@b.example' } }],
    [
      'a sender with a line break',
      { smtp: { host: 'mail.example', fromEmail: 'a@b.example\r\nBcc: c@d.example' } },
    ],
    [
      'a user name that cannot be sent',
      { smtp: { host: 'mail.example', fromEmail: 'a@b.example', username: 'u\r\nx', password: 'p' } },
    ],
    [
      'a password without a user name',
      { smtp: { host: 'mail.example', fromEmail: 'a@b.example', username: '', password: 'p' } },
    ],
  ])('both endpoints fail with 400 when the manager returns %s', async (_name, body) => {
    answer = { status: 200, body };
    for (const refused of [await mail.send(), await mail.call('POST', reloadPath, { token: mail.token })])
      expect([refused.status, refused.body.error.message]).toEqual([400, 'Smtp not configured properly']);
  });

  test('the request names the organisation and carries the service credential, and the port defaults to 587', async () => {
    answer = { status: 200, body: { smtp: { host: '127.0.0.1', fromEmail: 'a@b.example' } } };
    const reloaded = await mail.call('POST', reloadPath, { token: mail.token });
    expect(reloaded.body.smtp).toEqual({ host: '127.0.0.1', port: 587, fromEmail: 'a@b.example' });
    expect(asked.at(-1)).toBe(`/api/v1/configurationManager/internal/smtpConfig?orgId=${mail.orgId} true`);
  });

  test('mails use the cached configuration while the manager is unavailable, and a reload fails with 503', async () => {
    answer = {
      status: 200,
      body: { smtp: { host: '127.0.0.1', port: smtp.port, fromEmail: 'a@b.example' } },
    };
    await mail.call('POST', reloadPath, { token: mail.token });
    answer = { status: 500, body: {} };
    mail.advance(61_000);
    expect((await mail.send()).status).toBe(200);
    const refused = await mail.call('POST', reloadPath, { token: mail.token });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
  });
});
