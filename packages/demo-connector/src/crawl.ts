import type { CrawlOrder, CrawlRun } from '@platform/crawl-worker';
import type { Documents, SourceDocument } from '@platform/demo-knowledge/documents';
import { type Entry, MAX_DOCUMENT_BYTES, type Source } from './source.js';

const BATCH_DOCUMENTS = 100;
const BATCH_BYTES = 4 * MAX_DOCUMENT_BYTES;

/** Where the next slice, or the next run, continues. */
interface Checkpoint {
  /** The version of the source when the run began; absent when a part of it could not be read, and is to be tried again. */
  readonly version?: string | undefined;
  /** The last path that the run has stored; absent between runs. */
  readonly after?: string;
}

function* toBatches(entries: readonly Entry[]): Generator<Entry[]> {
  let batch: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    if (batch.length === BATCH_DOCUMENTS || (batch.length > 0 && bytes + entry.bytes > BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(entry);
    bytes += entry.bytes;
  }
  if (batch.length > 0) yield batch;
}

const toPaths = (documents: readonly { readonly path: string }[]) => documents.map(({ path }) => path);

/**
 * Copies the documents of a source to the store: all of them in a full crawl, the new, changed and deleted ones in an
 * incremental one. It goes through the paths in order, so the last path is enough to continue from.
 */
export async function crawlSource(
  source: Source,
  documents: Documents,
  order: CrawlOrder,
  run: CrawlRun,
  documentsPerSlice = Infinity,
): Promise<'continue' | undefined> {
  const { connector, runId, mode } = order;
  const checkpoint = (order.checkpoint ?? {}) as Checkpoint;
  const { version, entries, tooLarge, unreadable } = await source.list(run.signal);
  if (mode === 'incremental' && checkpoint.after === undefined && checkpoint.version === version) {
    run.log('Nothing has changed since the last run.');
    return undefined;
  }
  // What changes before `after` during the run is left to the next one, which finds another version.
  let began = checkpoint.after === undefined ? version : checkpoint.version;
  const { after = '' } = checkpoint;
  const fail = (reason: string, paths: readonly string[]) => {
    if (paths.length === 0) return;
    run.log(`${reason}: ${paths.slice(0, 10).join(', ')}`);
    run.count({ failed: paths.length });
  };
  if (checkpoint.after === undefined) {
    fail(`Larger than ${MAX_DOCUMENT_BYTES} bytes`, tooLarge);
    fail('Could not be read', unreadable);
  }
  if (unreadable.length > 0) began = undefined;
  const sighting = { connector, runId, fullStartedAt: new Date(order.fullStartedAt ?? 0) };
  const stored = await documents.listFingerprints(connector);
  const left = entries.filter(({ path }) => path > after);
  const before = entries.length - left.length;
  let done = before;
  for (const batch of toBatches(left)) {
    if (run.isCancelled()) return 'continue';
    const changed = batch.filter(({ path, fingerprint }) => stored.get(path) !== fingerprint);
    const read = changed.length === 0 ? [] : await source.read(changed, run.signal);
    const texts = read.filter((document): document is SourceDocument => document.content !== undefined);
    if (texts.length > 0) await documents.save(sighting, texts);
    const unchanged = toPaths(batch.filter((entry) => !changed.includes(entry)));
    const readPaths = new Set(toPaths(read));
    const failed = toPaths(changed).filter((path) => !readPaths.has(path));
    if (failed.length > 0) began = undefined;
    fail('Could not be read', failed);
    // Documents that could not be read keep their last text.
    if (mode === 'full') await documents.markSeen(sighting, [...unchanged, ...failed]);
    // Documents that have become binary have no text any more.
    const binary = toPaths(read.filter(({ path, content }) => content === undefined && stored.has(path)));
    if (binary.length > 0) await documents.markGone(sighting, binary);
    const bytes = texts.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
    const items = texts.length + (mode === 'full' ? unchanged.length : 0);
    run.count({ items, deleted: binary.length, bytes });
    run.checkpoint({ version: began, after: batch.at(-1)?.path });
    done += batch.length;
    run.progress((100 * done) / entries.length);
    const isSliceDone = run.isTimeUp() || done - before >= documentsPerSlice;
    if (isSliceDone && done < entries.length) return 'continue';
  }
  const present = new Set(toPaths(entries));
  const absent = [...stored.keys()].filter((path) => !present.has(path));
  const isUnknown = (path: string) => unreadable.some((one) => path === one || path.startsWith(`${one}/`));
  if (mode === 'full') {
    // After a full crawl, the index drops what was not seen.
    await documents.markSeen(sighting, absent.filter(isUnknown));
  } else {
    const gone = absent.filter((path) => !isUnknown(path));
    await documents.markGone(sighting, gone);
    run.count({ deleted: gone.length });
  }
  run.checkpoint({ version: began });
  return undefined;
}
