import { once } from 'node:events';
import { Pool } from 'pg';
import { createAssertionVerifier } from './assertions.js';
import { createEndpoint } from './endpoint.js';
import { createIndexer } from './indexer.js';
import type { Settings } from './settings.js';
import { createStore } from './store.js';

const DRAIN_MS = 3_000;
const STATEMENT_TIMEOUT_MS = 10_000;

/** Starts the server: the tables, a first pass over the folder, then HTTP. */
export async function startKnowledgeServer(
  settings: Settings,
  log: (line: string) => void,
): Promise<{ close(): Promise<void> }> {
  const { databaseUrl, folder, port, host, audience } = settings;
  const pool = new Pool({
    connectionString: databaseUrl,
    max: 5,
    statement_timeout: STATEMENT_TIMEOUT_MS,
  });
  pool.on('error', (error) => log(`a connection to PostgreSQL broke: ${error.message}`));
  const store = createStore(pool);
  await store.createTables();
  const indexer = createIndexer({ folder, store, log });
  await indexer.run();
  const verifier = createAssertionVerifier(settings);
  const http = createEndpoint({ verifier, store, getState: indexer.getState, log });
  http.listen(port, host);
  await once(http, 'listening');
  indexer.start();
  log(`${indexer.getState().files} files of ${folder} are searchable at ${audience}`);
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
