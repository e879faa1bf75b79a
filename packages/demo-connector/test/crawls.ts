import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Counters } from '@platform/crawl-worker';
import { createDocuments } from '@platform/demo-knowledge/documents';
import { createTestDatabase } from '@platform/testing';
import { Pool } from 'pg';
import { crawlSource } from '../src/crawl.js';
import type { Source } from '../src/source.js';

/** Crawls a source into a database of the test's own, with orders as the platform gives them. */
export async function startCrawls(createSource: (parent: string) => Source) {
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
  let checkpoint: unknown = null;
  let fullStartedAt: Date | undefined;
  return {
    parent,
    async write(path: string, text: string | Buffer): Promise<void> {
      await mkdir(join(parent, path, '..'), { recursive: true });
      await writeFile(join(parent, path), text);
    },
    /**
     * Crawls, and drops what a full crawl has not seen, as demo-knowledge does. The first crawl is a full one.
     *
     * @returns what the run counted and logged. @throws Error when the run failed.
     */
    async run(mode: 'full' | 'incremental' = fullStartedAt ? 'incremental' : 'full') {
      if (mode === 'full') {
        fullStartedAt = new Date();
        checkpoint = null;
      }
      const sighting = { connector: 'files_1', runId: randomUUID(), fullStartedAt: fullStartedAt as Date };
      const order = {
        ...sighting,
        attempt: 1,
        orgId: randomUUID(),
        userId: randomUUID(),
        scheduleConfig: {},
        priority: 5,
        instance: 'default',
        displayName: null,
        metadata: {},
        scheduledFor: new Date().toISOString(),
        mode,
        fullStartedAt: sighting.fullStartedAt.toISOString(),
        checkpoint,
      };
      const counters: Counters = { items: 0, deleted: 0, failed: 0, bytes: 0 };
      const log: string[] = [];
      await crawlSource(source, documents, order, {
        signal: new AbortController().signal,
        isCancelled: () => false,
        isTimeUp: () => false,
        progress: () => undefined,
        count(more) {
          for (const [name, value] of Object.entries(more))
            Object.assign(counters, { [name]: counters[name as keyof Counters] + value });
        },
        checkpoint(value) {
          checkpoint = value;
        },
        log: (line) => void log.push(line),
      });
      if (mode === 'full') await documents.markUnseen(sighting);
      return { ...counters, mode, log };
    },
    /** Returns the contents by path; null is gone. */
    async read(): Promise<Record<string, string | null>> {
      const { rows } = await pool.query<{ path: string; content: string | null }>(
        'select path, content from documents order by path',
      );
      return Object.fromEntries(rows.map(({ path, content }) => [path, content]));
    },
    async close(): Promise<void> {
      await pool.end();
      await database.drop();
      await rm(parent, { recursive: true });
    },
  };
}
