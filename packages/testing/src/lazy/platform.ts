import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort, launchChildServer } from '@platform/embedded';
import { startOwnPostgres } from '../own-postgres.js';
import { makeTemporaryDir } from '../temporary-dir.js';
import { extendEnvironment } from '../environment.js';
import { createOrganisationCreator, PASSWORD, type TestOrganisation } from './identity.js';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const START_MS = 180_000;

export interface PlatformAddresses {
  readonly url: string;
  /** The port of the SMTP server that accepts every mail. */
  readonly smtpPort: number;
  /** The port of the inbox, which shows those mails. */
  readonly inboxPort: number;
  /** The administrator of the organisation that the platform was started with. */
  readonly firstAdmin: TestOrganisation['admin'];
  /** Identity's database, for what only time could bring about: the service runs by the real clock. */
  readonly identityDatabaseUrl: string;
}

export interface SharedPlatform {
  readonly addresses: PlatformAddresses;
  createOrganisation(): Promise<TestOrganisation>;
  stop(): Promise<void>;
}

/** Starts the platform as `npm start` does, with all services and the gateway, over its own database server. */
export async function startSharedPlatform(): Promise<SharedPlatform> {
  const dataDir = await makeTemporaryDir('platform-test-');
  const postgres = await startOwnPostgres();
  const [port, smtpPort, inboxPort] = [await findFreePort(), await findFreePort(), await findFreePort()];
  const firstAdmin = { email: 'admin@example.com', password: PASSWORD };
  const options = {
    port,
    'inbox-port': inboxPort,
    'smtp-catcher-port': smtpPort,
    'data-dir': join(dataDir, 'data'),
    'database-url': postgres.url(),
    'admin-email': firstAdmin.email,
    'admin-password': firstAdmin.password,
  };
  const server = await launchChildServer({
    name: 'the platform',
    command: [
      process.execPath,
      join(ROOT, 'packages/local/start.mjs'),
      '--no-demo',
      ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
    ],
    env: extendEnvironment({
      NODE_OPTIONS: '',
      // The database, identity and the SMTP server may be slow on a busy machine.
      DATABASE_TIMEOUT_MS: '5000',
      IDENTITY_TIMEOUT_MS: '5000',
      SMTP_TIMEOUT_MS: '120000',
      SMTP_CONFIG_MAX_AGE_MS: '0',
      IDENTITY_PROVIDER_ALLOWED_TARGETS: '127.0.0.0/8',
      RETRY_DELAY_MS: '100',
    }),
    ready: /Stop with Ctrl-C/,
    fault: /Error|failed/,
    startTimeoutMs: START_MS,
    onLog: () => undefined,
    temporaryDir: dataDir,
  });
  return {
    addresses: {
      url: `http://localhost:${port}`,
      smtpPort,
      inboxPort,
      firstAdmin,
      identityDatabaseUrl: postgres.url('identity'),
    },
    createOrganisation: createOrganisationCreator(postgres.url('identity')),
    async stop() {
      await server.stop();
      await postgres.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
