import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { generate } from 'selfsigned';
import type { Fixture } from '../../runner/fixture.js';
import { ENCRYPTION_KEYS, startIdentity } from '../../servers/identity.js';
import { startProgram } from '../../servers/process.js';
import { execute, setUpService } from '../../servers/service.js';
import { letter, smtp } from './submission.js';

const SECRET = 'benchmark-secret-of-the-mail-service';
/** A typical round trip to a mail provider in the same region. */
export const ROUND_TRIP_MS = 20;
export const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Writes a self-signed certificate for 127.0.0.1 and its key (RSA 2048, as most submission servers have). */
async function writeCertificate(file: string): Promise<void> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'sink' }], {
    algorithm: 'sha256',
    extensions: [
      { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, keyCertSign: true },
      { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
    ],
  });
  await writeFile(file, `${cert}\n${key}`, { mode: 0o600 });
}

/** Starts the sink on the load's core, and a link to it that is {@link ROUND_TRIP_MS} long. */
export async function startSink({ folder, keep }: Fixture) {
  /** In PEM; clients must trust it. */
  const certificate = join(folder, 'sink.pem');
  await writeCertificate(certificate);
  const start = async (program: string, args: readonly (string | number)[]) =>
    keep(await startProgram(new URL(program, import.meta.url), 'load', args)).port;
  const port = await start('sink.js', [certificate]);
  return { certificate, port, distantPort: await start('link.js', [port, ROUND_TRIP_MS]) };
}

/**
 * Starts the built service as in production, on the server's core.
 *
 * @param more - environment variables.
 */
export async function startMail(
  fixture: Fixture,
  database: string,
  identityUrl: string,
  more: NodeJS.ProcessEnv = {},
) {
  const { certificate } = await fixture.share(startSink);
  const service = await setUpService(fixture, 'mail', database, {
    IDENTITY_URL: identityUrl,
    SERVICE_CLIENT_SECRET: SECRET,
    ENCRYPTION_KEYS,
    NODE_EXTRA_CA_CERTS: certificate,
    SMTP_ALLOWED_TARGETS: '127.0.0.0/8,::1',
    ...more,
  });
  const mail = fixture.keep(await service.start());
  // It listens before its queue is up.
  while (!(await fetch(`${mail.url}/health/ready`)).ok) await delay(50);
  const { databaseUrl } = service;
  return { ...mail, databaseUrl, sendUrl: `${mail.url}/api/v1/mail/emails/sendEmail` };
}

/** Waits until the queue is empty. @param orgId - of one organisation, or else of all. */
export async function waitUntilSent(databaseUrl: string, orgId?: string): Promise<void> {
  const findQueued = () =>
    execute(databaseUrl, [
      `select from mails where state in ('queued', 'sending') and ($1::uuid is null or org_id = $1) limit 1`,
      [orgId],
    ]);
  while ((await findQueued())?.rowCount !== 0) await delay(50);
}

/** All servers on a mail's way, and a token with `SEND_MAIL`. */
export async function startSystem(fixture: Fixture) {
  const sink = await fixture.share(startSink);
  const identity = await startIdentity(
    fixture,
    'bench_identity_of_mail',
    { SERVICE_CLIENTS: `mail:${SECRET}` },
    'load',
  );
  const configure = (port: number) =>
    identity.call('POST', '/api/v1/configurationManager/smtpConfig', { ...smtp, port });
  await configure(sink.port);
  const [token = ''] = await identity.createTokens(1, { scopes: ['SEND_MAIL', 'FETCH_CONFIG'] });
  const mail = await startMail(fixture, 'bench_mail', identity.url);
  const request = async (path: string, bearer: string, body: object = {}) => {
    const headers = { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' };
    const response = await fetch(mail.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
    return text;
  };
  const { emailTemplateType, templateData } = letter;
  return {
    sink,
    identity,
    mail,
    token,
    /** Makes the service submit all further mails to this port. */
    async useSink(port: number) {
      await configure(port);
      await request('/api/v1/mail/updateSmtpConfig', token);
    },
    /** The rendered mail as JSON, which nodemailer alone sends too. */
    rendered: await request('/api/v1/mail/preview', identity.session, { emailTemplateType, templateData }),
  };
}
