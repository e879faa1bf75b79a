import { basename, extname } from 'node:path';
import { followEvents, type SyncEvent } from '@platform/events/consumer';
import type { ChangedDocument, Documents } from './documents.js';
import { toMarkdown } from './html.js';
import { type Page, parsePage, parseText } from './sections.js';
import { replacePages, type Store } from './store.js';

const DOCUMENTS_PER_TRANSACTION = 100;

/** The paths of files are theirs alone, and those of other connectors begin with its name. */
const toPagePath = (connector: string, path: string): string =>
  connector === 'files_1' ? path : `${connector}:${path}`;

function toPage({ path, format, content }: ChangedDocument): Page {
  const text = content ?? '';
  if (format === 'text') return parseText(text, basename(path));
  return parsePage(format === 'html' ? toMarkdown(text) : text, basename(path, extname(path)));
}

/**
 * Keeps the index equal to the documents of the connectors. It follows the feed of sync events; a consumer of Kafka would
 * handle each message in the same way.
 */
export function createIndexer(deps: {
  readonly platform: { readonly url: string; readonly token: string };
  readonly documents: Documents;
  readonly store: Store;
  readonly log: (line: string) => void;
}) {
  const { platform, documents, store, log } = deps;
  const stopping = new AbortController();

  async function indexDocuments(connector: string): Promise<void> {
    for (let hasMore = true; hasMore && !stopping.signal.aborted;) {
      hasMore = await documents.indexChanges(
        connector,
        DOCUMENTS_PER_TRANSACTION,
        async (client, changed) => {
          const pages = changed
            .filter(({ content }) => content !== null)
            .map((document) => ({
              path: toPagePath(connector, document.path),
              page: toPage(document),
              connector,
              runId: document.runId,
              author: null,
            }));
          await replacePages(
            client,
            changed.map(({ path }) => toPagePath(connector, path)),
            pages,
          );
        },
      );
    }
  }

  /** Repeating it changes nothing, so an event may come twice. */
  async function handle({ payload }: SyncEvent): Promise<void> {
    const { connector, connectorInstance, runId = '', mode, fullStartedAt } = payload;
    if (connectorInstance !== undefined) return;
    if (mode === 'full' && fullStartedAt !== undefined)
      await documents.markUnseen({ connector, runId, fullStartedAt: new Date(Number(fullStartedAt)) });
    await indexDocuments(connector);
  }

  /**
   * Indexes all that the missed events would have had indexed. Documents that a missed full crawl has not seen are dropped
   * after the next full crawl.
   */
  async function indexAll(): Promise<void> {
    log(
      'events were deleted before they were read: indexing all changes, and reading the feed from its start',
    );
    for (const connector of await documents.listChangedConnectors()) await indexDocuments(connector);
  }

  let running: Promise<void> | undefined;
  return {
    start() {
      running = followEvents({
        ...platform,
        readCursor: store.readCursor,
        saveCursor: store.saveCursor,
        handle,
        onGap: indexAll,
        // The index stays as it is, and searches continue.
        onFault: (message) => {
          log(`the sync events can't be followed; retrying: ${message}`);
        },
        signal: stopping.signal,
      });
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
