import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Counters } from '@platform/crawl-worker';
import {
  type DocumentLine,
  findFault,
  isAccessChange,
  isCompletion,
  isDeletion,
  isSighting,
  type Sink,
} from '@platform/crawl-worker/documents';
import { crawlSource } from '../src/crawl.js';
import type { Source } from '../src/source.js';

interface Stored {
  text: string | null;
  access: string;
  fullCrawl: string;
}

/** Does what the contract of documents demands of a search, in memory. */
function createSearch(): Sink & { readonly documents: ReadonlyMap<string, Stored> } {
  const documents = new Map<string, Stored>();
  function apply(line: DocumentLine): void {
    if (isCompletion(line)) {
      for (const one of documents.values()) if (one.fullCrawl < line.fullCrawl) one.text = null;
    } else if (isSighting(line)) Object.assign(documents.get(line.id) ?? {}, { fullCrawl: line.fullCrawl });
    else if (isDeletion(line)) Object.assign(documents.get(line.id) ?? {}, { text: null });
    else if (isAccessChange(line) || line.access === 'separate')
      throw new Error('This connector says who may find a document with the document');
    else
      documents.set(line.id, {
        text: line.text,
        access: line.access.map((entry) => ('id' in entry ? entry.id : entry.kind)).join(),
        fullCrawl: line.fullCrawl ?? '',
      });
  }
  return {
    documents,
    write(lines) {
      for (const { line } of lines) {
        expect(findFault(line)).toBeUndefined();
        apply(line);
      }
      return Promise.resolve();
    },
  };
}

/** Crawls a source into a search, with orders as the platform gives them. */
export async function startCrawls(createSource: (parent: string) => Source) {
  const search = createSearch();
  const parent = await realpath(await mkdtemp(join(tmpdir(), 'platform-connector-')));
  const source = createSource(parent);
  let checkpoint: unknown = null;
  let fullStartedAt: Date | undefined;
  let folder = join(parent, 'sent');
  return {
    parent,
    /** Goes on as another worker, which has another folder. */
    moveToOtherFolder(): void {
      folder = join(parent, randomUUID());
    },
    async write(path: string, text: string | Buffer): Promise<void> {
      await mkdir(join(parent, path, '..'), { recursive: true });
      await writeFile(join(parent, path), text);
    },
    /**
     * Crawls. The first crawl is a full one.
     *
     * @returns what the run counted and logged. @throws Error when the run failed.
     */
    async run(mode: 'full' | 'incremental' = fullStartedAt ? 'incremental' : 'full') {
      if (mode === 'full') {
        fullStartedAt = new Date();
        checkpoint = null;
      }
      const order = {
        connector: 'files_1',
        runId: randomUUID(),
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
        fullStartedAt: (fullStartedAt as Date).toISOString(),
        checkpoint,
      };
      const counters: Counters = { items: 0, deleted: 0, failed: 0, bytes: 0 };
      const log: string[] = [];
      await crawlSource(source, { sink: search, folder }, order, {
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
        describe: () => undefined,
      });
      return { ...counters, mode, log };
    },
    /** Returns the texts by path; null is gone. */
    read: (): Record<string, string | null> =>
      Object.fromEntries(
        [...search.documents]
          .map(([path, { text }]) => [path, text] as const)
          .toSorted(([one], [other]) => (one < other ? -1 : 1)),
      ),
    /** Returns who may find what has a text, by path. */
    readAccess: (): Record<string, string> =>
      Object.fromEntries(
        [...search.documents]
          .filter(([, { text }]) => text !== null)
          .map(([path, { access }]) => [path, access] as const)
          .toSorted(([one], [other]) => (one < other ? -1 : 1)),
      ),
    async close(): Promise<void> {
      await rm(parent, { recursive: true });
    },
  };
}
