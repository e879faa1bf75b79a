import { execFileSync } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort, startEmbeddedPostgres } from '@platform/embedded';
import pg from 'pg';
import { type ServiceProcess, startProcess } from '../../service-process.js';
import { startSink } from './sink.js';

const service = (name: string, file: string) =>
  fileURLToPath(new URL(`../../../../../services/${name}/dist/${file}`, import.meta.url));
const admin = { email: 'admin@example.com', password: 'benchmark-password' };
const secret = 'the-secret-of-the-mail-service-in-a-benchmark';

export async function post(url: string, token: string | undefined, body?: object): Promise<never> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as never;
}

export interface MailPlatform {
  readonly mail: ServiceProcess;
  readonly peer: ServiceProcess;
  readonly session: string;
  readonly token: string;
  stop(): Promise<void>;
}

/** Mail and its peer on the core of the server; identity, PostgreSQL and the sink beside the load. */
export async function startMailPlatform(): Promise<MailPlatform> {
  const dataDir = await mkdtemp(join(tmpdir(), 'platform-bench-'));
  const settings = { synchronous_commit: 'off' };
  const postgres = await startEmbeddedPostgres({ dataDir, settings, isTemporary: true });
  const sink = await startSink();
  const start = async (name: string, environment: NodeJS.ProcessEnv) => {
    const client = new pg.Client({ connectionString: postgres.url() });
    await client.connect();
    await client.query(`create database ${name}`);
    await client.end();
    const port = await findFreePort();
    const env = {
      PATH: process.env.PATH,
      HOST: '127.0.0.1',
      PORT: String(port),
      LOG_LEVEL: 'warn',
      ...environment,
    };
    const withDatabase = { ...env, DATABASE_URL: postgres.url(name) };
    execFileSync(process.execPath, [service(name, 'cli.js'), 'migrate'], { env: withDatabase });
    return startProcess([service(name, 'server.js')], port, '/health/ready', withDatabase, name === 'mail');
  };
  const identity = await start('identity', {
    ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
    SERVICE_CLIENTS: `mail:${secret}`,
    BOOTSTRAP_ADMIN_EMAIL: admin.email,
    BOOTSTRAP_ADMIN_PASSWORD: admin.password,
  });
  const mail = await start('mail', { IDENTITY_URL: identity.url, SERVICE_CLIENT_SECRET: secret });
  const peerPort = await findFreePort();
  const program = fileURLToPath(new URL('bare.js', import.meta.url));
  const peerEnvironment = { PATH: process.env.PATH };
  const peer = await startProcess(
    [program, String(peerPort), String(sink.port)],
    peerPort,
    '/ready',
    peerEnvironment,
  );
  const { accessToken: session }: { accessToken: string } = await post(
    `${identity.url}/api/v1/auth/login`,
    undefined,
    admin,
  );
  const created: { token: { accessToken: string } } = await post(
    `${identity.url}/api/v1/personal-access-tokens`,
    session,
    { name: 'bench', scopes: ['SEND_MAIL', 'FETCH_CONFIG'] },
  );
  await post(`${identity.url}/api/v1/configurationManager/smtpConfig`, session, {
    host: '127.0.0.1',
    port: sink.port,
    fromEmail: 'noreply@example.com',
  });
  return {
    mail,
    peer,
    session,
    token: created.token.accessToken,
    async stop() {
      await Promise.all([mail.stop(), peer.stop()]);
      await identity.stop();
      sink.stop();
      await postgres.stop();
    },
  };
}
