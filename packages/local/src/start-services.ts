import { join } from 'node:path';
import { findFreePort } from '@platform/embedded';
import { showStep } from '@platform/config/progress.mjs';
import type { Options } from '../options.mjs';
import { urlOfDatabase } from './databases.js';
import { LaunchError } from './launch-error.js';
import { type LogFile, openLogFile } from './log-file.js';
import type { Upstream } from './gateway/upstream.js';
import { runCommand, startService } from './service-process.js';
import type { ServiceContext, ServiceDefinition } from './services.js';
import type { Teardown } from './teardown.js';

const HOST = '127.0.0.1';

interface StartContext {
  readonly options: Options;
  readonly databaseServerUrl: string;
  readonly service: Omit<ServiceContext, 'urlOf'>;
  readonly logsDir: string;
  readonly teardown: Teardown;
  /** Aborted when the platform has to stop. */
  readonly signal: AbortSignal;
  /** Called when something that has to run has ended by itself. */
  onCrash(error: LaunchError): void;
}

/**
 * Migrates all databases at once, starts every service as soon as those that it needs are ready, and returns where they
 * listen when all are.
 */
export async function startServices(
  services: readonly ServiceDefinition[],
  context: StartContext,
): Promise<readonly Upstream[]> {
  const ports = await choosePorts(services);
  const urls = new Map([...ports].map(([name, port]) => [name, `http://${HOST}:${port}`]));
  const urlOf = (name: string): string => urls.get(name) ?? '';
  const prepared = await Promise.all(
    services.map(async (service): Promise<Prepared> => {
      const log = await openServiceLog(service.name, context);
      const env = environmentOf(
        service,
        ports.get(service.name) ?? 0,
        { ...context.service, urlOf },
        context,
      );
      return { service, log, url: urlOf(service.name), env };
    }),
  );
  await showStep('Migrating the databases', async () => {
    await Promise.all(prepared.map((one) => migrateOne(one, context.signal)));
  });
  await showStep(`Starting ${services.map(({ name }) => name).join(', ')}`, async () => {
    const ready = new Map<string, Promise<void>>();
    for (const one of prepared) {
      const needed = Promise.all(one.service.after.map(async (name) => ready.get(name)));
      ready.set(
        one.service.name,
        needed.then(() => startOne(one, context)),
      );
    }
    await Promise.all(ready.values());
  });
  return prepared.map(({ service, url }) => ({ ...service, url }));
}

interface Prepared {
  readonly service: ServiceDefinition;
  readonly log: LogFile;
  readonly url: string;
  readonly env: NodeJS.ProcessEnv;
}

async function openServiceLog(name: string, { logsDir, teardown }: StartContext): Promise<LogFile> {
  const log = await openLogFile(logsDir, name);
  teardown.add({ name: `log of ${name}`, stop: () => Promise.resolve(log.close()), kill: () => undefined });
  return log;
}

async function migrateOne({ service, log, env }: Prepared, signal: AbortSignal): Promise<void> {
  const args = [join(service.directory, 'dist/cli.js'), 'migrate'];
  const name = `The migration of ${service.name}`;
  await runCommand({ name, args, heapMb: service.heapMb, env, log }, signal);
}

async function startOne({ service, log, url, env }: Prepared, context: StartContext): Promise<void> {
  const { name, directory, heapMb } = service;
  context.signal.throwIfAborted();
  const child = startService({ name, args: [join(directory, 'dist/server.js')], heapMb, env, log });
  context.teardown.add(child);
  await child.waitUntilReady(url, context.signal);
  void child.exited.then((how) => {
    context.onCrash(new LaunchError(`${name} ${how}. Its log (${log.path}) ends with:\n${log.tail()}`));
  });
}

/** The launcher's own environment, without what npm adds and what would contradict the values set here. */
function environmentOf(
  service: ServiceDefinition,
  port: number,
  serviceContext: ServiceContext,
  { options, databaseServerUrl }: StartContext,
): NodeJS.ProcessEnv {
  const set: NodeJS.ProcessEnv = {
    HOST,
    PORT: String(port),
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
  return { ...Object.fromEntries(inherited), ...set };
}

/** Before anything starts: services are told of one another by their URLs. */
async function choosePorts(services: readonly ServiceDefinition[]): Promise<ReadonlyMap<string, number>> {
  const ports = new Set<number>();
  while (ports.size < services.length) ports.add(await findFreePort(HOST));
  return new Map(services.map(({ name }, index) => [name, [...ports][index] as number]));
}
