import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { callUrl, issueCertificate } from '@platform/testing';
import { SMTPServer } from 'smtp-server';
import { createAdministrator, createMailDatabase, emailBody, mailEnvironment } from '../mail.js';
import { startService } from '../service-process.js';

const mailFolder = fileURLToPath(new URL('../..', import.meta.url));

/** The session in which a server accepted a mail. */
interface Delivery {
  readonly isSecure: boolean;
  readonly servername: string | false | undefined;
  readonly user: string | undefined;
}

let key: string;
let cert: string;
let folder: string;
let database: Awaited<ReturnType<typeof createMailDatabase>>;
let service: Awaited<ReturnType<typeof startService>>;
let administrator: Awaited<ReturnType<typeof createAdministrator>>;
let token: string;
const servers: SMTPServer[] = [];

beforeAll(async () => {
  const { authority, certificate } = await issueCertificate('localhost', ['localhost', '127.0.0.1']);
  ({ private: key, cert } = certificate);
  folder = await mkdtemp(join(tmpdir(), 'mail-tls-'));
  await writeFile(join(folder, 'authority.pem'), authority.cert);
  administrator = await createAdministrator();
  database = await createMailDatabase();
  // Node reads the certificate authorities when a process starts, so the service runs in its own process.
  service = await startService(mailFolder, {
    ...mailEnvironment(database.url, administrator.identityUrl),
    SMTP_TIMEOUT_MS: '10000',
    NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem'),
  });
  token = await administrator.createToken(['SEND_MAIL', 'FETCH_CONFIG']);
});
afterAll(async () => {
  await service.stop();
  await database.drop();
  await rm(folder, { recursive: true });
});
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise<void>((resolve) => server.close(resolve));
});

async function start(secure: boolean, disabledCommands: string[] = []) {
  const deliveries: Delivery[] = [];
  const server = new SMTPServer({
    logger: false,
    key,
    cert,
    secure,
    disabledCommands,
    authOptional: true,
    allowInsecureAuth: true,
    closeTimeout: 200,
    onAuth: ({ username }, _session, done) => {
      done(null, { user: username });
    },
    onData(stream, session, done) {
      stream.resume().on('end', () => {
        const { servername } = session as { servername?: string | false };
        deliveries.push({ isSecure: session.secure, servername, user: session.user });
        done();
      });
    },
  });
  server.on('error', () => undefined);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  return { deliveries, port: (server.server.address() as AddressInfo).port };
}

async function sendThrough(host: string, port: number, tls: string) {
  const smtp = { host, port, tls, fromEmail: 'noreply@corp.example', username: 'u', password: 'p' };
  await administrator.identity('POST', '/api/v1/configurationManager/smtpConfig', {
    token: administrator.session,
    body: smtp,
  });
  await callUrl(`${service.url}/api/v1/mail/updateSmtpConfig`, 'POST', { token });
  const tested = await callUrl(`${service.url}/api/v1/mail/testConnection`, 'POST', {
    token: administrator.session,
  });
  const sent = await callUrl(`${service.url}/api/v1/mail/emails/sendEmail`, 'POST', {
    token,
    body: emailBody(),
  });
  return { status: sent.status, tested: tested.body };
}

test.each([
  ['auto', false, true],
  ['starttls', false, true],
  ['implicit', true, true],
  ['none', false, false],
])('tls %s sends mails to a server with a trusted certificate', async (tls, isImplicit, isSecure) => {
  // This file uses all ten connection tests that are allowed in a minute.
  for (const host of isSecure ? ['localhost', '127.0.0.1'] : ['localhost']) {
    const { port, deliveries } = await start(isImplicit);
    const { status, tested } = await sendThrough(host, port, tls);
    expect([host, status, deliveries.length]).toEqual([host, 200, 1]);
    expect(deliveries[0]).toMatchObject({ isSecure, user: 'u' });
    // SNI carries the configured name, never the address that it resolved to.
    const expectedName = isSecure && host === 'localhost' ? host : undefined;
    expect(deliveries[0]?.servername || undefined).toBe(expectedName);
    expect(tested).toMatchObject({
      ok: true,
      tls: isSecure ? (isImplicit ? 'implicit' : 'starttls') : null,
      authenticated: true,
    });
  }
});

test('tls auto sends to this machine in clear text with a warning when the server does not offer STARTTLS', async () => {
  const { port, deliveries } = await start(false, ['STARTTLS']);
  const { status, tested } = await sendThrough('localhost', port, 'auto');
  expect([status, deliveries[0]?.isSecure, tested.tls]).toEqual([200, false, null]);
  expect(tested.warnings[0]).toContain('unencrypted');
});

test('a trusted certificate for another name is refused', async () => {
  for (const [tls, isImplicit] of [
    ['starttls', false],
    ['implicit', true],
  ] as const) {
    const { port, deliveries } = await start(isImplicit);
    const { status, tested } = await sendThrough('127.0.0.2', port, tls);
    expect([status, deliveries.length, tested.problem?.detail]).toEqual([
      500,
      0,
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ]);
  }
});
