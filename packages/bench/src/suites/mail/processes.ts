import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type EmbeddedPostgres, findFreePort, startEmbeddedPostgres } from '@platform/embedded';
import { createDatabase } from '../../identity.js';
import { nodeFlags, type ServiceProcess, startChild, startProcess } from '../../service-process.js';
import { writeCertificate } from './certificate.js';

/** The mail service's client secret. */
export const SECRET = 'benchmark-secret-of-the-mail-service';
/** A typical round trip to a mail provider in the same region. */
export const ROUND_TRIP_MS = 20;
export const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
export const mailFile = (name: string) =>
  fileURLToPath(new URL(`../../../../../services/mail/dist/${name}`, import.meta.url));

/** The servers that the parts of this suite share. */
export interface Fixture {
  readonly postgres: EmbeddedPostgres;
  readonly sinkPort: number;
  /** The same sink, {@link ROUND_TRIP_MS} away. */
  readonly distantSinkPort: number;
  /** The sink's certificate file in PEM, which clients must trust. */
  readonly certificate: string;
  stop(): Promise<void>;
}

/** Starts PostgreSQL and the sink on the load's core. */
export async function startFixture(): Promise<Fixture> {
  const folder = await mkdtemp(join(tmpdir(), 'platform-bench-'));
  const certificate = join(folder, 'sink.pem');
  await writeCertificate(certificate);
  const postgres = await startEmbeddedPostgres({
    dataDir: join(folder, 'postgres'),
    settings: { synchronous_commit: 'off' },
    isTemporary: true,
  });
  const sinkPort = await findFreePort();
  const sink = startChild([here('sink.js'), String(sinkPort), certificate]);
  const distantSinkPort = await findFreePort();
  const link = startChild([here('link.js'), ...[distantSinkPort, sinkPort, ROUND_TRIP_MS].map(String)]);
  return {
    postgres,
    sinkPort,
    distantSinkPort,
    certificate,
    async stop() {
      sink.kill();
      link.kill();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Starts the built service as in production, on the server's core. */
export async function startMail(fixture: Fixture, identityUrl: string): Promise<ServiceProcess> {
  const port = await findFreePort();
  const environment = {
    PATH: process.env.PATH,
    DATABASE_URL: await createDatabase(fixture.postgres, 'bench_mail'),
    IDENTITY_URL: identityUrl,
    SERVICE_CLIENT_SECRET: SECRET,
    NODE_EXTRA_CA_CERTS: fixture.certificate,
    SMTP_ALLOWED_TARGETS: '127.0.0.0/8,::1',
    HOST: '127.0.0.1',
    PORT: String(port),
    NODE_ENV: 'production',
  };
  execFileSync(process.execPath, [mailFile('cli.js'), 'migrate'], { env: environment, stdio: 'ignore' });
  return startProcess([...nodeFlags(512), mailFile('server.js')], port, '/health/ready', environment);
}
