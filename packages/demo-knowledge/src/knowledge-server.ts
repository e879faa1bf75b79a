import { once } from 'node:events';
import { Pool } from 'pg';
import { createAssertionVerifier } from './assertions.js';
import { createCredentialVerifier } from './credentials.js';
import { createDocuments } from './documents.js';
import { createEndpoint } from './endpoint.js';
import { createIndexer } from './indexer.js';
import { createIngest } from './ingest.js';
import type { Settings } from './settings.js';
import { createStore } from './store.js';

const DRAIN_MS = 3_000;
const STATEMENT_TIMEOUT_MS = 10_000;

/** Starts the server: the tables, then HTTP, then the index, which follows the sync events. */
export async function startKnowledgeServer(
  settings: Settings,
  log: (line: string) => void,
): Promise<{ close(): Promise<void> }> {
  const { databaseUrl, port, host, audience, platformUrl, platformToken, publicUrl } = settings;
  const pool = new Pool({
    connectionString: databaseUrl,
    max: 5,
    statement_timeout: STATEMENT_TIMEOUT_MS,
  });
  pool.on('error', (error) => log(`a connection to PostgreSQL broke: ${error.message}`));
  const documents = createDocuments(pool);
  await documents.createTable();
  const store = createStore(pool);
  await store.createTables();
  const verifier = createAssertionVerifier(settings);
  const http = createEndpoint({
    verifier,
    store,
    toLink: ({ connector, runId }) =>
      runId === null || connector === null
        ? undefined
        : new URL(`/knowledge/${encodeURIComponent(connector)}?run=${encodeURIComponent(runId)}`, publicUrl)
            .href,
    ingest: createIngest({ credentials: createCredentialVerifier(settings), documents, log }),
    log,
  });
  http.listen(port, host);
  await once(http, 'listening');
  const indexer = createIndexer({
    platform: { url: platformUrl, token: platformToken },
    documents,
    store,
    log,
  });
  indexer.start();
  log(`${await store.countPages()} pages are searchable at ${audience}`);
  return {
    async close() {
      http.close();
      const cut = setTimeout(() => http.closeAllConnections(), DRAIN_MS);
      await once(http, 'close');
      clearTimeout(cut);
      await indexer.stop();
      await pool.end();
    },
  };
}
