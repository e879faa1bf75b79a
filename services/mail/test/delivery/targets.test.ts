import { type MailUnderTest, startMail } from '../mail.js';
import { startSmtp } from '../smtp-server.js';

let mail: MailUnderTest;
const smtp = await startSmtp();
afterEach(() => mail.close());
afterAll(() => smtp.close());

const configure = (host: string) =>
  mail.configure({ host, port: smtp.port, fromEmail: 'noreply@corp.example', tls: 'none' });
const testConnection = () => mail.call('POST', '/api/v1/mail/testConnection', { token: mail.session });

test('no spelling of a loopback address is connected to unless the operator allows it', async () => {
  mail = await startMail({ environment: { SMTP_ALLOWED_TARGETS: '' } });
  const connections = smtp.connections();
  for (const host of [
    '127.0.0.1',
    'localhost',
    '::1',
    '::ffff:127.0.0.1',
    '0.0.0.0',
    '127.1',
    '2130706433',
  ]) {
    await configure(host);
    const sent = await mail.send();
    expect([host, sent.status, sent.body.error.message]).toEqual([host, 500, 'Error sending mail']);
    const { body } = await testConnection();
    expect([host, body.ok, body.problem.code]).toEqual([host, false, 'EDNS']);
  }
  expect(smtp.connections()).toBe(connections);
  expect(mail.logged()).toContain('EDENIED');
});

test('the report is the same for a host that does not exist, a denied host and a denied port', async () => {
  mail = await startMail({ environment: { SMTP_ALLOWED_TARGETS: '127.0.0.1:1' } });
  const reports = [];
  for (const host of ['nowhere.invalid', '10.0.0.1', '127.0.0.1']) {
    await configure(host);
    const { server, durationMs, ...report } = (await testConnection()).body;
    expect([server, typeof durationMs]).toEqual([`${host}:${smtp.port}`, 'number']);
    reports.push(JSON.stringify(report).replaceAll(host, 'host'));
  }
  expect(new Set(reports).size).toBe(1);
});

test('a host name that the operator allows is connected to, whatever its address, with SMTP_CLIENT_NAME in EHLO', async () => {
  mail = await startMail({
    environment: { SMTP_ALLOWED_TARGETS: `localhost:${smtp.port}`, SMTP_CLIENT_NAME: 'mx7.corp.example' },
  });
  const greetings: string[] = [];
  smtp.behave((step, line) => {
    if (step === 'EHLO') greetings.push(line);
    return undefined;
  });
  await configure('localhost');
  expect((await mail.send()).status).toBe(200);
  expect(greetings).toEqual(['EHLO mx7.corp.example']);
  await configure('127.0.0.1');
  expect((await mail.send()).status).toBe(500);
});
