import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type EmbeddedPostgres, findFreePort } from '@platform/embedded';
import { setUpService } from '../../built-service.js';
import { openFixture } from '../../fixture.js';
import { type ServiceProcess, startChild } from '../../service-process.js';
import { writeCertificate } from './certificate.js';

/** The mail service's client secret. */
export const SECRET = 'benchmark-secret-of-the-mail-service';
/** A typical round trip to a mail provider in the same region. */
export const ROUND_TRIP_MS = 20;
export const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

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
export const startFixture = (): Promise<Fixture> =>
  openFixture(async ({ folder, postgres, keep }) => {
    const certificate = join(folder, 'sink.pem');
    await writeCertificate(certificate);
    const startServer = async (program: string, ...args: (string | number)[]) => {
      const port = await findFreePort();
      const child = startChild([here(program), String(port), ...args.map(String)]);
      keep({ stop: () => child.kill() });
      return port;
    };
    const sinkPort = await startServer('sink.js', certificate);
    const distantSinkPort = await startServer('link.js', sinkPort, ROUND_TRIP_MS);
    return { postgres, sinkPort, distantSinkPort, certificate };
  });

/** Starts the built service as in production, on the server's core. */
export async function startMail(fixture: Fixture, identityUrl: string): Promise<ServiceProcess> {
  const service = await setUpService(fixture.postgres, 'mail', 'bench_mail', {
    IDENTITY_URL: identityUrl,
    SERVICE_CLIENT_SECRET: SECRET,
    NODE_EXTRA_CA_CERTS: fixture.certificate,
    SMTP_ALLOWED_TARGETS: '127.0.0.0/8,::1',
  });
  return service.start();
}
