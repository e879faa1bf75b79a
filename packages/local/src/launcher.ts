import { join } from 'node:path';
import { showStep } from '@platform/config/progress.mjs';
import type { Options } from '../options.mjs';
import { findFreePort } from '@platform/embedded';
import { type AdminChoice, chooseAdmin } from './admin.js';
import { setUpOrganisation } from './organisation-setup.js';
import { openDataDir } from './data-dir.js';
import { KNOWLEDGE_CLIENT } from './demo/processes.js';
import { deleteData } from './database-server.js';
import { ensureDatabases } from './databases.js';
import { acquireLock } from './instance-lock.js';
import { startGateway } from './gateway/start.js';
import { startInbox } from './inbox/inbox.js';
import type { LaunchError } from './launch-error.js';
import type { ReadyFacts } from './ready-message.js';
import {
  completeClientSecrets,
  generateEncryptionKeys,
  readSecrets,
  type Secrets,
  writeSecrets,
} from './secrets.js';
import { CLIENTS, type ServiceDefinition } from './services.js';
import { type PlannedService, planServices, startServices } from './start-services.js';
import { startDatabase } from './database-server.js';
import type { Teardown } from './teardown.js';

export interface LaunchContext {
  readonly options: Options;
  readonly services: readonly ServiceDefinition[];
  readonly teardown: Teardown;
  /** Aborted when the platform has to stop; the start then ends at its next step. */
  readonly signal: AbortSignal;
  onCrash(error: LaunchError): void;
}

/**
 * Starts everything: the lock, then the inbox and the database, then the services, and the gateway while they start.
 * Everything that was opened is registered with `teardown`, even if a later step fails.
 */
export async function launch(context: LaunchContext): Promise<Omit<ReadyFacts, 'seconds'>> {
  const { options, services, teardown, signal } = context;
  const { dataDir } = options;
  const logsDir = join(dataDir, 'logs');
  await openDataDir(dataDir);
  teardown.add(await acquireLock(dataDir, `process ${process.pid} at ${options.publicUrl}`));
  if (options.isFresh) await showStep('Deleting the data of earlier runs', () => deleteData(dataDir));
  signal.throwIfAborted();

  const kept = await readSecrets(dataDir);
  const admin = chooseAdmin(options, kept?.admin);
  const keys = {
    encryptionKeys: kept?.encryptionKeys ?? generateEncryptionKeys(),
    clientSecrets: completeClientSecrets(CLIENTS, kept?.clientSecrets),
  };
  await writeSecrets(dataDir, { ...keys, admin: admin.kept });

  const planned = await planServices(services);
  const demoUrl = options.demo ? await planDemoUrl() : undefined;
  // Both are awaited even when one fails, because everything that was opened must be known before it is closed.
  const [database, inbox] = await Promise.allSettled([
    options.databaseUrl ?? startDatabase(context, logsDir),
    startInbox(options, teardown),
  ]);
  if (database.status === 'rejected') throw database.reason;
  if (inbox.status === 'rejected') throw inbox.reason;
  signal.throwIfAborted();
  const { ready } = await startBackend(planned, database.value, context, logsDir, {
    ...keys,
    admin,
    demoUrl,
  });
  await Promise.all([
    showStep(`Starting ${services.map(({ name }) => name).join(', ')}`, () => ready),
    startGateway(planned, context),
  ]);
  await writeSecrets(dataDir, { ...keys, admin: { ...admin.kept, isCreated: true } });
  signal.throwIfAborted();

  const getUrl = (service: string) => planned.find(({ name }) => name === service)?.url ?? '';
  const setUp = await setUpOrganisation(context, {
    identityUrl: getUrl('identity'),
    crawlUrl: getUrl('crawl'),
    databaseServerUrl: database.value,
    logsDir,
    admin,
    demoUrl,
    clientSecret: keys.clientSecrets[KNOWLEDGE_CLIENT] ?? '',
  });
  const notes = [...admin.notes, ...setUp.notes];
  if (options.databaseUrl !== undefined) {
    notes.push('a database that another data folder set up keeps the admin and the password it has.');
  }
  return {
    baseUrl: options.publicUrl,
    adminEmail: admin.email,
    adminPassword: admin.password,
    inboxUrl: `http://localhost:${options.inboxPort}`,
    dataDir,
    logsDir,
    notes,
    ...(setUp.demo && { demo: setUp.demo }),
    ...(setUp.comparison && { comparison: setUp.comparison }),
  };
}

/** Workers that bring documents should find the demo server where it was. */
const DEMO_PORT = 8090;

/** Chooses the URL of the demo server before the services start, because identity has to allow it. */
async function planDemoUrl(): Promise<URL> {
  return new URL(`http://127.0.0.1:${await findFreePort('127.0.0.1', DEMO_PORT)}/mcp`);
}

/** Adds the demo server to the operator's targets; without these it is allowed as all of this machine is. */
const allowDemo = (targets: string | undefined, demoUrl: URL | undefined): string | undefined =>
  targets && [targets, ...(demoUrl ? [demoUrl.host] : [])].join();

/** Starts the services on their databases. */
async function startBackend(
  planned: readonly PlannedService[],
  databaseServerUrl: string,
  context: LaunchContext,
  logsDir: string,
  {
    admin,
    demoUrl,
    ...keys
  }: Omit<Secrets, 'admin'> & { readonly admin: AdminChoice; readonly demoUrl: URL | undefined },
): ReturnType<typeof startServices> {
  const { options } = context;
  const newDatabases = await ensureDatabases(
    databaseServerUrl,
    planned.map(({ name }) => name),
  );
  return startServices(planned, {
    ...context,
    databaseServerUrl,
    newDatabases,
    logsDir,
    service: {
      ...keys,
      encryptionKeys: options.environment['ENCRYPTION_KEYS'] || keys.encryptionKeys,
      adminEmail: admin.email,
      adminPassword: admin.password,
      otherClients: options.environment['SERVICE_CLIENTS'],
      mcpServerTargets: allowDemo(options.environment['MCP_SERVER_ALLOWED_TARGETS'], demoUrl),
      redisUrl: options.redisUrl,
      kafkaBrokers: options.kafkaBrokers,
    },
  });
}
