import type { CrawlOrder, CrawlRun } from '@platform/crawl-worker';
import type { Documents, SourceDocument } from '@platform/demo-knowledge/documents';
import { type Entry, MAX_DOCUMENT_BYTES, type Source } from './source.js';

const BATCH_DOCUMENTS = 100;
const BATCH_BYTES = 4 * MAX_DOCUMENT_BYTES;

/** Where the next slice, or the next run, goes on from. */
interface Checkpoint {
  /** The version of the source when the run began. */
  readonly version?: string;
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

/**
 * Brings what a source has to the store: in a full crawl everything is seen, in an incremental one what is new, changed or
 * gone. Goes through the paths in order, so the last path is enough to go on from.
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
  const { version, entries, tooLarge } = await source.list();
  if (mode === 'incremental' && checkpoint.after === undefined && checkpoint.version === version) {
    run.log('Nothing has changed since the last run.');
    return undefined;
  }
  // What changes before `after` while slices follow one another is left to the next run, which sees another version.
  const began = checkpoint.after === undefined ? version : checkpoint.version;
  const { after = '' } = checkpoint;
  if (checkpoint.after === undefined && tooLarge.length > 0) {
    run.log(`Larger than ${MAX_DOCUMENT_BYTES} bytes: ${tooLarge.slice(0, 10).join(', ')}`);
    run.count({ failed: tooLarge.length });
  }
  const sighting = { connector, runId, fullStartedAt: new Date(order.fullStartedAt ?? 0) };
  const stored = await documents.listFingerprints(connector);
  const left = entries.filter(({ path }) => path > after);
  const before = entries.length - left.length;
  let done = before;
  for (const batch of toBatches(left)) {
    if (run.isCancelled()) return 'continue';
    const changed = batch.filter(({ path, fingerprint }) => stored.get(path) !== fingerprint);
    const read = changed.length === 0 ? [] : await source.read(changed);
    const texts = read.filter((document): document is SourceDocument => document.content !== undefined);
    if (texts.length > 0) await documents.save(sighting, texts);
    const unchanged = batch.filter((entry) => !changed.includes(entry)).map(({ path }) => path);
    if (mode === 'full' && unchanged.length > 0) await documents.markSeen(sighting, unchanged);
    const bytes = texts.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
    const failed = changed.length - read.length;
    if (failed > 0) run.log(`${failed} documents could not be read, up to ${batch.at(-1)?.path}`);
    run.count({ items: texts.length + (mode === 'full' ? unchanged.length : 0), failed, bytes });
    run.checkpoint({ version: began, after: batch.at(-1)?.path });
    done += batch.length;
    run.progress((100 * done) / entries.length);
    const isSliceDone = run.isTimeUp() || done - before >= documentsPerSlice;
    if (isSliceDone && done < entries.length) return 'continue';
  }
  if (mode === 'incremental') {
    const present = new Set(entries.map(({ path }) => path));
    const gone = [...stored.keys()].filter((path) => !present.has(path));
    if (gone.length > 0) await documents.markGone(sighting, gone);
    run.count({ deleted: gone.length });
  }
  // After a full crawl, the index drops what was not seen.
  run.checkpoint({ version: began });
  return undefined;
}
