import { randomBytes } from 'node:crypto';
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

/**
 * The connectors whose runs call an endpoint that one test file may open, and no other one may run; those of the others
 * complete at once.
 */
export const ENDPOINT_CONNECTORS = ['files_1', 'files_2'] as const;

export interface PlatformAddresses {
  readonly url: string;
  /** The port of the SMTP server that accepts every mail. */
  readonly smtpPort: number;
  /** The port of the inbox, which shows those mails. */
  readonly inboxPort: number;
  /** The administrator of the organisation that the platform was started with. */
  readonly firstAdmin: TestOrganisation['admin'];
  /**
   * The port at which crawl calls the endpoint of {@link ENDPOINT_CONNECTORS}. Nothing listens there until one test
   * file does.
   */
  readonly endpointPort: number;
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
  const endpointPort = await findFreePort();
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
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const forEndpoints = (value: string) => ENDPOINT_CONNECTORS.map((name) => `${name}=${value}`).join();
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
      MCP_SERVER_ALLOWED_TARGETS: '127.0.0.0/8',
      IDENTITY_PROVIDER_ALLOWED_TARGETS: '127.0.0.0/8',
      DESTINATION_ALLOWED_TARGETS: '127.0.0.0/8',
      RETRY_DELAY_MS: '100',
      TASKS: forEndpoints(`http://127.0.0.1:${endpointPort}`),
      TASK_SECRETS: forEndpoints(secret),
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
      endpointPort,
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
