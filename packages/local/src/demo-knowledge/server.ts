import { fileURLToPath } from 'node:url';
import { showStep } from '@platform/config/progress.mjs';
import { ensureDatabases, urlOfDatabase } from '../databases.js';
import type { LaunchError } from '../launch-error.js';
import { openLogFile } from '../log-file.js';
import { startService } from '../service-process.js';
import { supervise } from '../supervise.js';
import type { Teardown } from '../teardown.js';

const NAME = 'demo-knowledge';
const DATABASE = 'demo_knowledge';
const HEAP_MB = 128;
const PROGRAM = fileURLToPath(new URL('../../../demo-knowledge/dist/main.js', import.meta.url));

/** The server's configuration. It knows no more of the platform than any other server would. */
interface DemoServer {
  /** A folder of Markdown files. */
  readonly folder: string;
  /** The URL under which it is mounted. */
  readonly url: URL;
  readonly identityUrl: string;
  readonly issuer: string;
  readonly orgId: string;
  readonly databaseServerUrl: string;
  readonly logsDir: string;
}

interface Context {
  readonly teardown: Teardown;
  readonly signal: AbortSignal;
  onCrash(error: LaunchError): void;
}

/** Starts the server, and returns once its folder is indexed. @returns the number of indexed files. */
export function startDemoServer(server: DemoServer, { teardown, signal, onCrash }: Context): Promise<number> {
  const { folder, url, identityUrl, issuer, orgId, databaseServerUrl, logsDir } = server;
  return showStep(`Indexing ${folder}`, async () => {
    await ensureDatabases(databaseServerUrl, [DATABASE]);
    const log = await openLogFile(logsDir, NAME);
    log.showErrors();
    teardown.add({ name: `log of ${NAME}`, stop: () => Promise.resolve(log.close()), kill: () => undefined });
    const start = () =>
      startService({
        name: NAME,
        args: [PROGRAM],
        heapMb: HEAP_MB,
        log,
        env: {
          HOST: url.hostname,
          PORT: url.port,
          DATABASE_URL: urlOfDatabase(databaseServerUrl, DATABASE),
          KNOWLEDGE_FOLDER: folder,
          JWKS_URL: `${identityUrl}/.well-known/jwks.json`,
          TOKEN_ISSUER: issuer,
          AUDIENCE: url.href,
          ORG_ID: orgId,
        },
      });
    let child = start();
    const spawn = () => (child = start());
    teardown.add({ name: NAME, stop: () => child.stop(), kill: () => child.kill() });
    await child.waitUntilReady(url.origin, signal);
    void supervise({ name: NAME, url: url.origin, log, spawn }, { signal, onCrash }, child);
    const state = (await (await fetch(`${url.origin}/health/ready`)).json()) as { files: number };
    return state.files;
  });
}
