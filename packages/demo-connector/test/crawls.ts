import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '@platform/crawl-worker';
import { createDocuments } from '@platform/demo-knowledge/documents';
import { callUrl, createTestDatabase, testPlatform, waitFor } from '@platform/testing';
import { Pool } from 'pg';
import { crawlSource } from '../src/crawl.js';
import type { Source } from '../src/source.js';

/** Crawls a source as `files_1` with a real platform, into a database of the test's own. */
export async function startCrawls(createSource: (parent: string) => Source) {
  const platform = await testPlatform();
  const { admin } = await platform.organisation();
  const login = await callUrl(`${platform.url}/api/v1/auth/login`, 'POST', { body: admin });
  const token = login.body.accessToken as string;
  const call = (method: string, path: string, body?: object) =>
    callUrl(`${platform.url}/api/v1/crawlingManager${path}`, method, { token, ...(body && { body }) });
  const scheduleConfig = { scheduleType: 'daily', hour: 2, minute: 15 };
  await call('POST', '/files_1/schedule', { scheduleConfig, worker: 'pull', maxRetries: 0 });
  const database = await createTestDatabase({
    template: 'documents',
    migrationsDir: join(import.meta.dirname, '../src'),
    migrate: () => Promise.resolve(),
  });
  const pool = new Pool({ connectionString: database.url, max: 3 });
  const documents = createDocuments(pool);
  await documents.createTable();
  const parent = await realpath(await mkdtemp(join(tmpdir(), 'platform-connector-')));
  const source = createSource(parent);
  const stopping = new AbortController();
  const serving = serve({
    url: platform.url,
    token,
    connectors: ['files_1'],
    signal: stopping.signal,
    onError: () => undefined,
    crawl: (order, run) => crawlSource(source, documents, order, run),
  });
  return {
    parent,
    async write(path: string, text: string | Buffer): Promise<void> {
      await mkdir(join(parent, path, '..'), { recursive: true });
      await writeFile(join(parent, path), text);
    },
    /** Runs the connector, and drops what a full crawl has not seen, as demo-knowledge does. @returns the run when it has ended. */
    async run(mode?: 'full') {
      const requested = await call('POST', '/files_1/run', mode && { mode });
      const path = `/files_1/runs/${requested.body.data.runId}`;
      const run = await waitFor(
        async () => {
          const { data } = (await call('GET', path)).body;
          return ['completed', 'failed'].includes(data.outcome) && data;
        },
        { what: 'the end of the run' },
      );
      if (run.outcome === 'completed' && run.mode === 'full') {
        const fullStartedAt = new Date(Number(run.event.payload.fullStartedAt));
        await documents.markUnseen({ connector: 'files_1', runId: run.runId, fullStartedAt });
      }
      return run;
    },
    /** Returns the contents by path; null is gone. */
    async read(): Promise<Record<string, string | null>> {
      const { rows } = await pool.query<{ path: string; content: string | null }>(
        'select path, content from documents order by path',
      );
      return Object.fromEntries(rows.map(({ path, content }) => [path, content]));
    },
    async close(): Promise<void> {
      stopping.abort();
      await serving;
      await pool.end();
      await database.drop();
      await rm(parent, { recursive: true });
    },
  };
}
