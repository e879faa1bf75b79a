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
  readonly service: ServiceContext;
  readonly logsDir: string;
  readonly teardown: Teardown;
  /** Aborted when the platform has to stop. */
  readonly signal: AbortSignal;
  /** Called when something that has to run has ended by itself. */
  onCrash(error: LaunchError): void;
}

/** Migrates and starts every service, all at once, and returns where they listen when all are ready. */
export async function startServices(
  services: readonly ServiceDefinition[],
  context: StartContext,
): Promise<readonly Upstream[]> {
  const ports = await findFreePorts(services.length);
  const prepared = await Promise.all(
    services.map(async (service, index) => {
      const log = await openLogFile(context.logsDir, service.name);
      context.teardown.add({
        name: `log of ${service.name}`,
        stop: () => Promise.resolve(log.close()),
        kill: () => undefined,
      });
      return {
        service,
        log,
        port: ports[index] as number,
        env: environmentOf(service, ports[index] as number, context),
      };
    }),
  );
  await showStep('Migrating the databases', async () => {
    for (const { service, log, env } of prepared) {
      const args = [join(service.directory, 'dist/cli.js'), 'migrate'];
      await runCommand({ name: `The migration of ${service.name}`, args, env, log }, context.signal);
    }
  });
  await showStep(`Starting ${services.map(({ name }) => name).join(', ')}`, async () => {
    const running = prepared.map((one) => startOne(one, context));
    await Promise.all(running);
  });
  return prepared.map(({ service, port }) => ({ ...service, url: `http://${HOST}:${port}` }));
}

interface Prepared {
  readonly service: ServiceDefinition;
  readonly log: LogFile;
  readonly port: number;
  readonly env: NodeJS.ProcessEnv;
}

async function startOne({ service, log, port, env }: Prepared, context: StartContext): Promise<void> {
  const { name, directory } = service;
  const child = startService({ name, args: [join(directory, 'dist/server.js')], env, log });
  context.teardown.add(child);
  await child.waitUntilReady(`http://${HOST}:${port}`, context.signal);
  void child.exited.then((how) => {
    context.onCrash(new LaunchError(`${name} ${how}. Its log (${log.path}) ends with:\n${log.tail()}`));
  });
}

/** The launcher's own environment, without what npm adds and what would contradict the values set here. */
function environmentOf(service: ServiceDefinition, port: number, context: StartContext): NodeJS.ProcessEnv {
  const { options } = context;
  const set: NodeJS.ProcessEnv = {
    HOST,
    PORT: String(port),
    DATABASE_URL: urlOfDatabase(context.databaseServerUrl, service.name),
    PUBLIC_URL: options.publicUrl,
    LOG_LEVEL: options.logLevel,
    TRUST_PROXY: HOST,
    ...service.env(context.service),
  };
  const inherited = Object.entries(options.environment).filter(
    ([name]) =>
      !/^npm_/i.test(name) && !name.startsWith('BOOTSTRAP_ADMIN_') && !(name.replace(/_FILE$/, '') in set),
  );
  return { ...Object.fromEntries(inherited), ...set };
}

async function findFreePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await findFreePort(HOST));
  return [...ports];
}
