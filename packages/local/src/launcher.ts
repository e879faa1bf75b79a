import { join } from 'node:path';
import { showStep } from '@platform/config/progress.mjs';
import type { Options } from '../options.mjs';
import { type AdminChoice, chooseAdmin } from './admin.js';
import { openDataDir } from './data-dir.js';
import { deleteData, startDatabase } from './database-server.js';
import { ensureDatabases } from './databases.js';
import { createGateway } from './gateway/server.js';
import { startInbox } from './inbox/inbox.js';
import { acquireLock } from './instance-lock.js';
import { LaunchError } from './launch-error.js';
import type { ReadyFacts } from './ready-message.js';
import { startRedis } from './redis-server.js';
import {
  completeClientSecrets,
  generateEncryptionKeys,
  readSecrets,
  type Secrets,
  writeSecrets,
} from './secrets.js';
import { CLIENTS, type ServiceDefinition } from './services.js';
import { setSmtpDefault } from './smtp-default.js';
import { startServices } from './start-services.js';
import type { Teardown } from './teardown.js';

/** How long requests under way may take to end before their connections are cut. */
const GATEWAY_DRAIN_MS = 5_000;

export interface LaunchContext {
  readonly options: Options;
  readonly services: readonly ServiceDefinition[];
  readonly teardown: Teardown;
  /** Aborted when the platform has to stop; the start then ends at its next step. */
  readonly signal: AbortSignal;
  onCrash(error: LaunchError): void;
}

/**
 * Starts everything in order: lock, inbox, database, services, gateway. What has been opened is in `teardown`, also when a
 * later step fails.
 */
export async function launch(context: LaunchContext): Promise<Omit<ReadyFacts, 'seconds'>> {
  const { options, teardown, signal } = context;
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

  await startInbox(options, teardown);
  const upstreams = await startBackend(context, logsDir, { ...keys, admin });
  await writeSecrets(dataDir, { ...keys, admin: { ...admin.kept, isCreated: true } });
  signal.throwIfAborted();

  const smtpNote = await setSmtpDefault({
    identityUrl: upstreams.find(({ name }) => name === 'identity')?.url ?? '',
    adminEmail: admin.email,
    adminPassword: admin.password,
    smtpPort: options.smtpCatcherPort,
  });
  await startGateway(context, upstreams);
  const notes = [...admin.notes, ...(smtpNote === undefined ? [] : [smtpNote])];
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
  };
}

type Upstreams = Parameters<typeof createGateway>[0];

/** The database server, Redis when it is asked for, and the services on them. */
async function startBackend(
  context: LaunchContext,
  logsDir: string,
  { admin, ...keys }: Omit<Secrets, 'admin'> & { readonly admin: AdminChoice },
): Promise<Upstreams> {
  const { options, services, signal } = context;
  const databaseServerUrl = options.databaseUrl ?? (await startDatabase(context, logsDir));
  signal.throwIfAborted();
  await ensureDatabases(
    databaseServerUrl,
    services.map(({ name }) => name),
  );
  const redisUrl = options.isRedisEmbedded ? await startRedis(context, logsDir) : options.redisUrl;
  signal.throwIfAborted();
  return startServices(services, {
    ...context,
    databaseServerUrl,
    logsDir,
    service: {
      ...keys,
      encryptionKeys: options.environment['ENCRYPTION_KEYS'] || keys.encryptionKeys,
      adminEmail: admin.email,
      adminPassword: admin.password,
      otherClients: options.environment['SERVICE_CLIENTS'],
      redisUrl,
      kafkaBrokers: options.kafkaBrokers,
    },
  });
}

async function startGateway({ options, teardown }: LaunchContext, upstreams: Upstreams) {
  const gateway = await createGateway(upstreams);
  try {
    await gateway.listen({ port: options.port, host: options.host });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new LaunchError(
      `Port ${options.port} was taken by another program meanwhile; --port chooses another.`,
    );
  }
  teardown.add({
    name: 'gateway',
    stop: async () => {
      const cut = setTimeout(() => gateway.server.closeAllConnections(), GATEWAY_DRAIN_MS);
      await gateway.close();
      clearTimeout(cut);
    },
    kill: () => gateway.server.closeAllConnections(),
  });
}
