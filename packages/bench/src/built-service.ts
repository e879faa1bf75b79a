import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type EmbeddedPostgres, findFreePort } from '@platform/embedded';
import pg from 'pg';
import { type Core, type ServiceProcess, startProcess } from './service-process.js';

/** The limit of each service's heap in its image, in MiB. */
const HEAP_MIB = { identity: 256, mail: 512, crawl: 256 } as const;
type ServiceName = keyof typeof HEAP_MIB;

/** A service as it is built, with a migrated database of its own. */
export interface BuiltService {
  readonly databaseUrl: string;
  /** Runs a command of the service's command line. */
  runCommand(args: readonly string[], more?: NodeJS.ProcessEnv): void;
  /** Starts the service as in production, by default on the server's core, and waits until it is ready. */
  start(core?: Core): Promise<ServiceProcess>;
}

/** Returns the path of a file of the built service. */
export const serviceFile = (service: ServiceName, file: string): string =>
  fileURLToPath(new URL(`../../../services/${service}/dist/${file}`, import.meta.url));

async function createDatabase(postgres: EmbeddedPostgres, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: postgres.url() });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return postgres.url(name);
}

/** @param more - environment variables beside those that every service has. */
export async function setUpService(
  postgres: EmbeddedPostgres,
  name: ServiceName,
  database: string,
  more: NodeJS.ProcessEnv,
): Promise<BuiltService> {
  const databaseUrl = await createDatabase(postgres, database);
  const environment = {
    PATH: process.env.PATH,
    DATABASE_URL: databaseUrl,
    HOST: '127.0.0.1',
    NODE_ENV: 'production',
    ...more,
  };
  const flags = [`--max-old-space-size=${HEAP_MIB[name]}`, '--max-semi-space-size=8'];
  const runCommand: BuiltService['runCommand'] = (args, additional) =>
    void execFileSync(process.execPath, [serviceFile(name, 'cli.js'), ...args], {
      env: { ...environment, ...additional },
      stdio: 'ignore',
    });
  runCommand(['migrate']);
  return {
    databaseUrl,
    runCommand,
    async start(core) {
      const port = await findFreePort();
      const program = [...flags, serviceFile(name, 'server.js')];
      return startProcess(program, port, '/health/ready', { ...environment, PORT: String(port) }, core);
    },
  };
}
