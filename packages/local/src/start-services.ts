import { join } from 'node:path';
import { findFreePort } from '@platform/embedded';
import { showStep } from '@platform/config/progress.mjs';
import type { Options } from '../options.mjs';
import { urlOfDatabase } from './databases.js';
import { LaunchError } from './launch-error.js';
import { type LogFile, openLogFile } from './log-file.js';
import type { Upstream } from './gateway/upstream.js';
import { runCommand, type ServiceProcess, startService } from './service-process.js';
import type { ServiceContext, ServiceDefinition } from './services.js';
import { supervise } from './supervise.js';
import type { Teardown } from './teardown.js';

const HOST = '127.0.0.1';

/** A service with the address that it will listen on. */
export interface PlannedService extends ServiceDefinition, Upstream {
  readonly port: number;
}

interface StartContext {
  readonly options: Options;
  readonly databaseServerUrl: string;
  /** Databases that were just created and have no tables yet. */
  readonly newDatabases: readonly string[];
  readonly service: Omit<ServiceContext, 'getUrl'>;
  readonly logsDir: string;
  readonly teardown: Teardown;
  /** Aborted when the platform has to stop. */
  readonly signal: AbortSignal;
  /** Called when a required process has ended by itself, and can't be started again. */
  onCrash(error: LaunchError): void;
}

/** Chooses all ports before anything starts, because the services are configured with one another's URLs. */
export async function planServices(
  services: readonly ServiceDefinition[],
): Promise<readonly PlannedService[]> {
  return await Promise.all(
    services.map(async (service) => {
      const port = await findFreePort(HOST);
      return { ...service, port, url: `http://${HOST}:${port}` };
    }),
  );
}

/**
 * Migrates the new databases, then starts all services at once, as they wait for one another by themselves. A service
 * that exits because its database lacks a migration is migrated and started again.
 *
 * @returns when every process has been started; `ready` resolves when all services are ready.
 */
export async function startServices(
  services: readonly PlannedService[],
  context: StartContext,
): Promise<{ readonly ready: Promise<void> }> {
  const urls = new Map(services.map(({ name, url }) => [name, url]));
  const serviceContext = { ...context.service, getUrl: (name: string) => urls.get(name) ?? '' };
  const prepared = await Promise.all(
    services.map(async (service): Promise<Prepared> => {
      const log = await openServiceLog(service.name, context);
      return { service, log, env: toEnvironment(service, serviceContext, context) };
    }),
  );
  const unmigrated = prepared.filter(({ service }) => context.newDatabases.includes(service.name));
  if (unmigrated.length > 0) {
    await showStep('Migrating the databases', async () => {
      await Promise.all(unmigrated.map((one) => migrateOne(one, context.signal)));
    });
  }
  context.signal.throwIfAborted();
  const starts = prepared.map((one) => startOne(one, context));
  return { ready: Promise.all(starts).then(() => undefined) };
}

interface Prepared {
  readonly service: PlannedService;
  readonly log: LogFile;
  readonly env: NodeJS.ProcessEnv;
}

async function openServiceLog(name: string, { logsDir, teardown }: StartContext): Promise<LogFile> {
  const log = await openLogFile(logsDir, name);
  log.showErrors();
  teardown.add({ name: `log of ${name}`, stop: () => Promise.resolve(log.close()), kill: () => undefined });
  return log;
}

async function migrateOne({ service, log, env }: Prepared, signal: AbortSignal): Promise<void> {
  const args = [join(service.directory, 'dist/cli.js'), 'migrate'];
  const name = `The migration of ${service.name}`;
  await runCommand({ name, args, heapMb: service.heapMb, env, log }, signal);
}

async function startOne(prepared: Prepared, context: StartContext): Promise<void> {
  const { name, url } = prepared.service;
  const { log } = prepared;
  let child = spawnService(prepared);
  const spawn = () => (child = spawnService(prepared));
  context.teardown.add({ name, stop: () => child.stop(), kill: () => child.kill() });
  if ((await child.waitUntilReady(url, context.signal)) === 'not migrated') {
    await migrateOne(prepared, context.signal);
    if ((await spawn().waitUntilReady(url, context.signal)) === 'not migrated')
      throw new LaunchError(
        `The database of ${name} does not fit this version. Its log (${log.path}) ends with:\n${log.tail()}`,
      );
  }
  void supervise({ name, url, log, spawn }, context, child);
}

function spawnService({ service, log, env }: Prepared): ServiceProcess {
  const { name, directory, heapMb } = service;
  return startService({ name, args: [join(directory, 'dist/server.js')], heapMb, env, log });
}

/** Returns the launcher's environment without npm's variables and any that contradict the values set here. */
function toEnvironment(
  service: PlannedService,
  serviceContext: ServiceContext,
  { options, databaseServerUrl }: StartContext,
): NodeJS.ProcessEnv {
  const set: NodeJS.ProcessEnv = {
    HOST,
    PORT: String(service.port),
    DATABASE_URL: urlOfDatabase(databaseServerUrl, service.name),
    PUBLIC_URL: options.publicUrl,
    LOG_LEVEL: options.logLevel,
    TRUST_PROXY: HOST,
    ...service.env(serviceContext),
  };
  const inherited = Object.entries(options.environment).filter(
    ([name]) =>
      !/^npm_/i.test(name) && !name.startsWith('BOOTSTRAP_ADMIN_') && !(name.replace(/_FILE$/, '') in set),
  );
  const given = new Set(inherited.map(([name]) => name.replace(/_FILE$/, '')));
  const defaults = Object.entries(service.defaults ?? {}).filter(([name]) => !given.has(name));
  return { ...Object.fromEntries([...defaults, ...inherited]), ...set };
}
