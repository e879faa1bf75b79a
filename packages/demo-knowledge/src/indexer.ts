import { realpath } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { type FoundFile, listMarkdown, MAX_FILE_BYTES, withFile } from './folder.js';
import { parsePage } from './sections.js';
import type { Store } from './store.js';

const POLL_MS = 2_000;

export interface IndexState {
  readonly files: number;
  /** Files that are not indexed, because they are too large, unreadable or too many. */
  readonly skipped: readonly string[];
}

/** Keeps the index equal to the folder: reads what has changed since the last pass, and drops what is gone. */
export function createIndexer(deps: {
  readonly folder: string;
  readonly store: Pick<Store, 'listFingerprints' | 'removeFiles' | 'save'>;
  readonly log: (line: string) => void;
}) {
  const { folder, store, log } = deps;
  let state: IndexState = { files: 0, skipped: [] };
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let lastFault = '';

  /** @returns whether the file is in the index. */
  async function indexFile(file: FoundFile, indexed: string | undefined): Promise<boolean> {
    const isIndexed = await withFile(file, async ({ fingerprint, readText }) => {
      if (fingerprint === indexed) return true;
      const text = await readText();
      if (text === undefined) return false;
      const page = parsePage(text, basename(file.path, extname(file.path)));
      await store.save(file.path, page, { fingerprint });
      return true;
    });
    return isIndexed ?? false;
  }

  // prettier-ignore
  async function run(): Promise<void> {
    const { files, isCut } = await listMarkdown(await realpath(folder));
    const fingerprints = await store.listFingerprints();
    // Removed before anything is added, so that a renamed file is never found under both names.
    const found = new Set(files.map(({ path }) => path));
    const gone = [...fingerprints.keys()].filter((path) => !found.has(path));
    if (gone.length > 0) await store.removeFiles(gone);
    const skipped: string[] = [];
    for (const file of files) {
      if (!(await indexFile(file, fingerprints.get(file.path)))) skipped.push(file.path);
    }
    // They are no longer readable.
    const unreadable = skipped.filter((path) => fingerprints.has(path));
    if (unreadable.length > 0) await store.removeFiles(unreadable);
    if (isCut) skipped.push('… and all files after the first 5,000');
    if (skipped.join() !== state.skipped.join() && skipped.length > 0)
      log(`not indexed, as larger than ${MAX_FILE_BYTES} bytes, unreadable or too many: ${skipped.slice(0, 10).join(', ')}`);
    state = { files: files.length - skipped.length, skipped };
  }

  async function tick(): Promise<void> {
    await run().then(
      () => {
        lastFault = '';
      },
      (error: Error) => {
        // The index stays as it is, and searches continue.
        if (error.message !== lastFault) log(`the folder can't be indexed; retrying: ${error.message}`);
        lastFault = error.message;
      },
    );
  }

  return {
    run,
    getState: () => state,
    start() {
      timer = setInterval(() => {
        running ??= tick().finally(() => {
          running = undefined;
        });
      }, POLL_MS);
    },
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
