import { networkInterfaces } from 'node:os';
import type { MailUnderTest } from '../mail.js';
import { startMail } from '../mail.js';
import { type SmtpUnderTest, startSmtp, toConfiguration } from '../smtp-server.js';

/** An address of this machine that other machines could reach. */
const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;
if (outside === undefined) throw new Error('This machine has no address but loopback');

const secret = 's3cret-Value-of-the-login';
let mail: MailUnderTest;
let smtp: SmtpUnderTest;
beforeAll(async () => {
  mail = await startMail({ environment: { SMTP_ALLOWED_TARGETS: `127.0.0.0/8,${outside}` } });
  smtp = await startSmtp(undefined, '0.0.0.0');
});
afterAll(async () => {
  await mail.close();
  await smtp.close();
});

/** The lines that the server got since the last `serve`. */
let lines: string[] = [];
function serve(ehlo: string, replies: Partial<Record<string, string>> = {}): void {
  lines = [];
  smtp.accepted.length = 0;
  smtp.behave((step, line) => {
    if (line !== 'peek' && line !== '') lines.push(line);
    return step === 'EHLO' ? ehlo : replies[step];
  });
}
const isEndangered = (): boolean =>
  lines.some((line) => {
    const text = Buffer.from(line.split(' ').at(-1) ?? '', 'base64').toString();
    return text.includes(secret) || line.includes(secret);
  });

const login = { username: 'user', password: secret };
let configured = 0;
/** Configures a login at the server, each time with another sender, so that no connection is reused. */
async function attempt(fields: object) {
  configured += 1;
  await mail.configure(toConfiguration(smtp, { fromEmail: `from-${configured}@corp.example`, ...fields }));
  // Only ten tests a minute are allowed.
  mail.advance(60_000);
  const sent = await mail.send({ emailTemplateType: 'accountCreation', templateData: {} });
  const tested = await mail.call('POST', '/api/v1/mail/testConnection', { token: mail.session });
  return { sent, report: tested.body };
}

test.each([
  ['no login', '250-test\r\n250 8BITMIME'],
  ['NTLM and GSSAPI alone', '250-test\r\n250 AUTH NTLM GSSAPI'],
  ['XOAUTH2 alone', '250-test\r\n250 AUTH XOAUTH2'],
  ['no extensions at all', '502 unknown command'],
])(
  'a configured password is not skipped, sent or lost as refused when the server offers %s',
  async (_name, ehlo) => {
    serve(ehlo, { MAIL: '554 5.7.1 Relay access denied', AUTH: '235 welcome', HELO: '250 test' });
    smtp.behave((step, line, count) => {
      if (line !== 'peek' && line !== '') lines.push(line);
      if (step === 'EHLO') return line.startsWith('HELO') ? '250 test' : ehlo;
      return step === 'MAIL' && count > 0 ? '554 5.7.1 Relay access denied' : undefined;
    });
    const { sent, report } = await attempt({ ...login, tls: 'none' });
    expect([sent.status, sent.body.error.code]).toEqual([500, 'SMTP_ERROR']);
    expect(report).toMatchObject({
      ok: false,
      authenticated: false,
      problem: { step: 'login', code: 'EAUTH', detail: 'LOGIN_NOT_OFFERED' },
    });
    expect([smtp.count('MAIL'), smtp.count('AUTH'), isEndangered()]).toEqual([0, 0, false]);
    const { body } = await mail.call('GET', '/api/v1/mail/records?state=failed&limit=1', {
      token: mail.session,
    });
    expect(body.data[0].failure).toMatchObject({
      kind: 'temporary',
      message: expect.stringContaining('offers no login'),
    });
  },
);

test('a user name without a password is reported as that', async () => {
  serve('250-test\r\n250 AUTH PLAIN');
  const { sent, report } = await attempt({ username: 'user', password: null, tls: 'none' });
  expect([sent.body.error.code, smtp.count('AUTH')]).toEqual(['SMTP_ERROR', 0]);
  expect(report.problem).toMatchObject({ step: 'login', detail: 'NO_PASSWORD' });
});

test('tls auto with a password requires STARTTLS beyond this machine', async () => {
  serve('250-test\r\n250 AUTH PLAIN LOGIN', { STAR: '502 5.5.1 not here' });
  const { sent, report } = await attempt({ ...login, host: outside });
  expect([sent.status, sent.body.error.code]).toEqual([500, 'SMTP_ERROR']);
  expect(report).toMatchObject({ ok: false, problem: { step: 'connection', code: 'ETLS' } });
  expect([smtp.count('MAIL'), smtp.count('AUTH'), isEndangered()]).toEqual([0, 0, false]);
});

test.each([
  ['without a login', { host: outside }],
  ['to this machine', login],
  ['where clear text is chosen', { ...login, host: outside, tls: 'none' }],
])('a server without TLS is used %s', async (_name, fields) => {
  serve('250-test\r\n250 AUTH PLAIN');
  const { sent, report } = await attempt(fields);
  expect([sent.status, report.ok, report.tls]).toEqual([200, true, null]);
  expect(report.authenticated).toBe('username' in fields);
  expect(isEndangered()).toBe('username' in fields);
});

const toBase64 = (text: string) => Buffer.from(text).toString('base64');

test('a password is sent by AUTH LOGIN and CRAM-MD5 where PLAIN is not offered', async () => {
  const next = [`334 ${toBase64('Username:')}`, `334 ${toBase64('Password:')}`, '235 2.7.0 welcome'];
  serve('250-test\r\n250 AUTH NTLM LOGIN', { AUTH: next[0] ?? '' });
  smtp.answerUnknown((line) => {
    lines.push(line);
    return line === toBase64('user')
      ? (next[1] ?? '')
      : line === toBase64(secret)
        ? (next[2] ?? '')
        : '535 no';
  });
  expect((await attempt({ ...login, tls: 'none' })).sent.status).toBe(200);
  // The example of RFC 2195 §2.
  const challenge = '<1896.697170952@postoffice.reston.mci.net>';
  serve('250-test\r\n250 AUTH CRAM-MD5', { AUTH: `334 ${toBase64(challenge)}` });
  smtp.answerUnknown((line) =>
    Buffer.from(line, 'base64').toString() === 'tim b913a602c7eda7a495b4e6e7334d3890'
      ? '235 2.7.0 ok'
      : '535 no',
  );
  const tim = { username: 'tim', password: 'tanstaaftanstaaf', tls: 'none' };
  expect((await attempt(tim)).sent.status).toBe(200);
});
