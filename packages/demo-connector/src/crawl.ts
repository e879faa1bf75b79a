import { type CrawlOrder, type CrawlRun, toOwnFullCrawl } from '@platform/crawl-worker';
import { createSender, type Document, findFault, type Sink } from '@platform/crawl-worker/documents';
import { isForEveryone } from './access.js';
import { toDocument } from './document.js';
import { openSentDocuments } from './sent-documents.js';
import {
  type Entry,
  MAX_DOCUMENT_BYTES,
  type Source,
  type SourceDocument,
  type UnreadDocument,
} from './source.js';

/** So many documents are named in the log of a run, which keeps 1,000 lines. */
const MAX_NAMED = 200;
const BATCH_DOCUMENTS = 100;
const BATCH_BYTES = 4 * MAX_DOCUMENT_BYTES;

/** Where the next slice, or the next run, continues. */
interface Checkpoint {
  /** The version of the source when the run began; absent when a part of it could not be read, and is to be tried again. */
  readonly version?: string | undefined;
  /** The last path that the run has sent; absent between runs. */
  readonly after?: string | undefined;
  /** Names the list of what was sent. */
  readonly list?: string;
  /** Names the full crawl that this worker has begun by itself, without that list. */
  readonly fullCrawl?: string | undefined;
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

/** What a crawl works with, besides its source. */
export interface CrawlSetup {
  readonly sink: Sink;
  /** Where the list of what was sent is kept. */
  readonly folder: string;
  readonly documentsPerSlice?: number;
}

/**
 * Sends the documents of a source: all of them in a full crawl, the new, changed and deleted ones in an incremental one. It
 * goes through the paths in order, so the last path is enough to continue from.
 */
export async function crawlSource(
  source: Source,
  { sink, folder, documentsPerSlice = Infinity }: CrawlSetup,
  order: CrawlOrder,
  run: CrawlRun,
): Promise<'continue' | undefined> {
  const { connector, instance, runId } = order;
  const checkpoint = (order.checkpoint ?? {}) as Checkpoint;
  const sent = await openSentDocuments(folder, connector, checkpoint.list);
  const isListLost = checkpoint.list !== undefined && checkpoint.list !== sent.list;
  if (isListLost)
    run.log('The list of what was sent is in the folder of another worker: everything is sent again.');
  const ownFullCrawl = isListLost ? toOwnFullCrawl(order) : checkpoint.fullCrawl;
  const isFull = order.mode === 'full' || ownFullCrawl !== undefined;
  const fullCrawl = ownFullCrawl ?? order.fullStartedAt ?? new Date(0).toISOString();
  const resumesAt = isListLost && order.mode === 'incremental' ? undefined : checkpoint.after;

  const { version, entries, tooLarge, unreadable, access, oldestAt, newestAt } = await source.list(
    run.signal,
  );
  run.describe({
    description: source.description,
    documents: entries.length,
    ...(oldestAt && { oldestAt: oldestAt.toISOString() }),
    ...(newestAt && { newestAt: newestAt.toISOString() }),
  });
  /** Changes with the document, and with who may find it. */
  const toSentFingerprint = (path: string, fingerprint: string) =>
    `${fingerprint} ${access.getFingerprint(path)}`;
  /** Whether a text that was sent before may be for others than the document is now. */
  const isForOthers = (path: string): boolean =>
    !isForEveryone(access.find(path)) && !sent.fingerprints.get(path)?.endsWith(access.getFingerprint(path));
  if (!isFull && resumesAt === undefined && checkpoint.version === version && access.faults.length === 0) {
    run.log('Nothing has changed since the last run.');
    return undefined;
  }
  // What changes before `after` during the run is left to the next one, which finds another version.
  let began = resumesAt === undefined ? version : checkpoint.version;
  const origin = { connector, instance, runId };
  const sender = createSender({ sink, signal: run.signal });
  const fail = (reason: string, paths: readonly string[]) => {
    if (paths.length === 0) return;
    run.log(`${reason}: ${paths.slice(0, 10).join(', ')}`);
    run.count({ failed: paths.length });
  };
  let named = 0;
  /** Names what has changed; a full crawl sends everything, and names nothing. */
  const name = (what: 'Changed' | 'Gone', paths: readonly string[]): void => {
    for (const path of isFull ? [] : paths.slice(0, Math.max(0, MAX_NAMED - named)))
      run.log(`${what}: ${path}`);
    named += paths.length;
  };
  /** Documents that could not be read keep their last text, but never for those who may not find them any more. */
  async function keep(paths: readonly string[]): Promise<void> {
    if (isFull)
      for (const id of paths)
        if (!isForOthers(id)) await sender.add({ ...origin, id, seen: true, fullCrawl });
    const outdated = paths.filter(isForOthers);
    if (outdated.length > 0) await markGone(outdated);
  }
  async function markGone(paths: readonly string[]): Promise<void> {
    for (const id of paths) await sender.add({ ...origin, id, deleted: true });
    await sender.flush();
    await sent.add(paths.map((path) => ({ path })));
    run.count({ deleted: paths.length });
    name('Gone', paths);
  }
  const setCheckpoint = (after?: string) =>
    run.checkpoint({ version: began, after, list: sent.list, fullCrawl: ownFullCrawl } satisfies Checkpoint);

  if (resumesAt === undefined) {
    fail('Too large', tooLarge);
    fail('Could not be read', unreadable);
  }
  if (unreadable.length > 0 || access.faults.length > 0) began = undefined;
  const left = entries.filter(({ path }) => path > (resumesAt ?? ''));
  const before = entries.length - left.length;
  let done = before;
  for (const batch of toBatches(left)) {
    if (run.isCancelled()) return 'continue';
    const changed = isFull
      ? batch
      : batch.filter(
          ({ path, fingerprint }) => sent.fingerprints.get(path) !== toSentFingerprint(path, fingerprint),
        );
    const read = changed.length === 0 ? [] : await source.read(changed, run.signal);
    const texts = read.filter((document): document is SourceDocument => document.content !== undefined);
    const documents: (readonly [SourceDocument, Document])[] = texts.map((text) => [
      text,
      { ...origin, ...toDocument(text, access.find(text.path)), fullCrawl },
    ]);
    const fitting = documents.filter(([, document]) => findFault(document) === undefined);
    const unfit = toPaths(documents.filter((one) => !fitting.includes(one)).map(([text]) => text));
    fail('The path is too long', unfit);
    for (const [, document] of fitting) await sender.add(document);
    const unread = read.filter((document): document is UnreadDocument => 'failure' in document);
    for (const { path, failure } of unread) run.log(`${path}: ${failure}`);
    const readPaths = new Set(toPaths(read.filter((document) => !('failure' in document))));
    const failed = toPaths(changed).filter((path) => !readPaths.has(path));
    const lasting = new Set(toPaths(unread.filter(({ isLasting }) => isLasting)));
    if (failed.some((path) => !lasting.has(path))) began = undefined;
    fail('Could not be read', failed);
    await keep(failed);
    await sender.flush();
    await sent.add(
      fitting.map(([{ path, fingerprint }]) => ({ path, fingerprint: toSentFingerprint(path, fingerprint) })),
    );
    run.count({
      items: fitting.length,
      bytes: fitting.reduce((sum, [{ content }]) => sum + Buffer.byteLength(content), 0),
    });
    name('Changed', toPaths(fitting.map(([text]) => text)));
    // Documents that have become binary have no text any more.
    const binary = read.filter(
      (document) =>
        document.content === undefined && !('failure' in document) && sent.fingerprints.has(document.path),
    );
    await markGone(toPaths(binary));
    setCheckpoint(batch.at(-1)?.path);
    done += batch.length;
    run.progress((100 * done) / entries.length);
    const isSliceDone = run.isTimeUp() || done - before >= documentsPerSlice;
    if (isSliceDone && done < entries.length) return 'continue';
  }
  if (!isFull) {
    const present = new Set(toPaths(entries));
    const isUnknown = (path: string) => unreadable.some((one) => path === one || path.startsWith(`${one}/`));
    const absent = [...sent.fingerprints.keys()].filter((path) => !present.has(path));
    await markGone(absent.filter((path) => !isUnknown(path) || isForOthers(path)));
  } else if (unreadable.length > 0) run.log('Not everything could be read, so nothing is dropped.');
  else {
    await sender.add({ ...origin, complete: true, fullCrawl });
    await sender.flush();
  }
  run.checkpoint({ version: began, list: sent.list } satisfies Checkpoint);
  if (access.faults.length > 0)
    throw new Error(`What these files decide about is for nobody: ${access.faults.join('; ')}`);
  return undefined;
}
