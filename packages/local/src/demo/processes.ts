import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { urlOfDatabase } from '../databases.js';
import { openLogFile } from '../log-file.js';
import { startService } from '../service-process.js';
import { supervise } from '../supervise.js';
import type { Teardown } from '../teardown.js';

/** Also the name of its database on the server. */
export const KNOWLEDGE_DATABASE = 'demo_knowledge';
/** Its id at identity. */
export const KNOWLEDGE_CLIENT = 'demo-knowledge';
const HEAP_MB = 128;

/** The configuration of both programs. They know no more of the platform than other programs would. */
interface Demo {
  /** The folder of `files_1`. */
  readonly folder: string;
  /** The repository of `code_1`, if there is one. */
  readonly repository: string | undefined;
  /** The URL under which the knowledge server is mounted. */
  readonly url: URL;
  readonly identityUrl: string;
  /** The credentials of the knowledge server at identity. */
  readonly clientSecret: string;
  /** Where the sync events are read, and runs are claimed. */
  readonly crawlUrl: string;
  readonly publicUrl: string;
  readonly issuer: string;
  readonly orgId: string;
  readonly readToken: string;
  readonly workToken: string;
  readonly databaseServerUrl: string;
  readonly dataDir: string;
  readonly logsDir: string;
}

interface Context {
  readonly teardown: Teardown;
  readonly signal: AbortSignal;
}

interface Program {
  /** Also the name of its package. */
  readonly name: string;
  readonly env: NodeJS.ProcessEnv;
  /** Where its readiness can be asked. */
  readonly healthUrl?: string;
}

async function startProgram(
  { name, env, healthUrl }: Program,
  logsDir: string,
  { teardown, signal }: Context,
): Promise<void> {
  const program = fileURLToPath(new URL(`../../../${name}/dist/main.js`, import.meta.url));
  const log = await openLogFile(logsDir, name);
  log.showErrors();
  teardown.add({ name: `log of ${name}`, stop: () => Promise.resolve(log.close()), kill: () => undefined });
  const { PATH, HOME } = process.env;
  const start = () =>
    startService({ name, args: [program], heapMb: HEAP_MB, log, env: { PATH, HOME, ...env } });
  let child = start();
  const spawn = () => (child = start());
  teardown.add({ name, stop: () => child.stop(), kill: () => child.kill() });
  if (healthUrl !== undefined) await child.waitUntilReady(healthUrl, signal);
  // The platform goes on without it.
  const onCrash = ({ message }: Error) =>
    process.stderr.write(`\n${message}\n${name} is not started again until the next npm start.\n`);
  void supervise({ name, url: healthUrl, log, spawn }, { signal, onCrash }, child);
}

/** Starts the server that is mounted, and returns once it is ready. */
export async function startKnowledge(demo: Demo, context: Context): Promise<void> {
  const { url, identityUrl, crawlUrl, publicUrl, issuer, orgId, readToken, clientSecret } = demo;
  const { databaseServerUrl, logsDir } = demo;
  const env = {
    HOST: url.hostname,
    PORT: url.port,
    DATABASE_URL: urlOfDatabase(databaseServerUrl, KNOWLEDGE_DATABASE),
    PLATFORM_URL: crawlUrl,
    PLATFORM_TOKEN: readToken,
    PUBLIC_URL: publicUrl,
    JWKS_URL: `${identityUrl}/.well-known/jwks.json`,
    TOKEN_ISSUER: issuer,
    AUDIENCE: url.href,
    ORG_ID: orgId,
    IDENTITY_URL: identityUrl,
    CLIENT_ID: KNOWLEDGE_CLIENT,
    CLIENT_SECRET: clientSecret,
  };
  await startProgram({ name: 'demo-knowledge', env, healthUrl: url.origin }, logsDir, context);
}

/** Starts the worker that crawls. */
export async function startConnector(demo: Demo, context: Context): Promise<void> {
  const { folder, repository, crawlUrl, workToken, url, dataDir, logsDir } = demo;
  const env = {
    PLATFORM_URL: crawlUrl,
    PLATFORM_TOKEN: workToken,
    SINK: new URL('/documents', url).href,
    SINK_TOKEN: workToken,
    CACHE_DIR: join(dataDir, 'demo-connector'),
    FOLDER: folder,
    ...(repository !== undefined && { REPOSITORY: repository }),
  };
  await startProgram({ name: 'demo-connector', env }, logsDir, context);
}
