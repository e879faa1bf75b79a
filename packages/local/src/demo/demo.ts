import { showStep } from '@platform/config/progress.mjs';
import type { Options } from '../../options.mjs';
import type { AdminSession } from '../admin-session.js';
import { ensureDatabases } from '../databases.js';
import type { Teardown } from '../teardown.js';
import { disableDemoMount, mountDemoServer } from './mount.js';
import { type DemoPeople, ensurePeople } from './people.js';
import { KNOWLEDGE_DATABASE, startConnector, startKnowledge } from './processes.js';
import { scheduleDemo } from './schedules.js';
import { ensureTokens } from './tokens.js';

export interface DemoContext {
  readonly options: Options;
  readonly teardown: Teardown;
  readonly signal: AbortSignal;
}

export interface DemoSetup {
  readonly identityUrl: string;
  readonly crawlUrl: string;
  readonly databaseServerUrl: string;
  readonly logsDir: string;
  /** Undefined with --no-demo. */
  readonly demoUrl: URL | undefined;
  /** The secret of the knowledge server at identity. */
  readonly clientSecret: string;
}

/** The crawled sources. */
export interface DemoFacts {
  readonly folder: string;
  readonly repository: string | undefined;
  /** The ingest endpoint of the search. */
  readonly documentsUrl: string;
  /** Absent where the folder is another one, or the people are no longer the demo's. */
  readonly people?: DemoPeople | undefined;
}

const DEFAULT_ISSUER = 'workspace-platform';

/**
 * Shows what the platform is for, with two programs such as its users would write: a worker crawls a folder and a
 * repository, and an MCP server makes them searchable for agents.
 *
 * @returns undefined without the demo. @throws Error with the platform's response.
 */
export async function setUpDemo(
  session: AdminSession,
  context: DemoContext,
  setup: DemoSetup,
): Promise<DemoFacts | undefined> {
  const { options } = context;
  const { dataDir, publicUrl } = options;
  const { demoUrl: url, ...places } = setup;
  if (!options.demo || url === undefined) {
    await disableDemoMount(session, dataDir);
    await scheduleDemo(session, dataDir, []);
    return undefined;
  }
  const { folder, repository, isDefault } = options.demo;
  const people = await showStep('Starting the demo', async () => {
    const tokens = await ensureTokens(session, { dataDir, crawlUrl: setup.crawlUrl });
    const issuer = options.environment['TOKEN_ISSUER'] || DEFAULT_ISSUER;
    const { orgId } = session;
    const demo = { ...places, ...tokens, folder, repository, url, publicUrl, issuer, orgId, dataDir };
    await ensureDatabases(setup.databaseServerUrl, [KNOWLEDGE_DATABASE]);
    await startKnowledge(demo, context);
    const connectors = repository === undefined ? ['files_1'] : ['files_1', 'code_1'];
    await mountDemoServer(session, dataDir, url.href, connectors);
    await startConnector(demo, context);
    await scheduleDemo(session, dataDir, connectors);
    return isDefault ? ensurePeople(session, dataDir) : undefined;
  });
  return { folder, repository, documentsUrl: new URL('/documents', url).href, people };
}
