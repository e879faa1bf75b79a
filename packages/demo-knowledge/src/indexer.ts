import { setTimeout as delay } from 'node:timers/promises';
import { basename, extname } from 'node:path';
import type { ChangedDocument, Documents } from './documents.js';
import { toMarkdown } from './html.js';
import { type Page, parsePage, parseText } from './sections.js';
import { replacePages, type Store } from './store.js';

const POLL_MS = 1_000;
const REQUEST_TIMEOUT_MS = 10_000;
const EVENTS_PER_REQUEST = 100;
const DOCUMENTS_PER_TRANSACTION = 100;

/** The fields of a sync event that are used here. */
interface SyncEvent {
  readonly payload: {
    readonly connector: string;
    /** Left out for the instance that demo-connector crawls. */
    readonly connectorInstance?: string;
    readonly runId?: string;
    readonly mode?: string;
    /** Milliseconds since the epoch, as text. */
    readonly fullStartedAt?: string;
  };
}

interface FeedPage {
  readonly data: readonly SyncEvent[];
  readonly nextCursor: string | null;
  readonly hasMore: boolean;
}

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
  let lastFault = '';

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

  /** @returns undefined when the feed cannot continue from `after`. */
  async function readFeed(after: string | undefined): Promise<FeedPage | undefined> {
    const url = new URL('/api/v1/crawlingManager/events', platform.url);
    url.searchParams.set('limit', String(EVENTS_PER_REQUEST));
    if (after !== undefined) url.searchParams.set('after', after);
    const response = await fetch(url, {
      headers: { authorization: `Bearer ${platform.token}` },
      signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
    });
    if (response.status === 410 && after !== undefined) return undefined;
    if (!response.ok) throw new Error(`the platform answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as FeedPage;
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

  async function follow(): Promise<void> {
    let cursor = await store.readCursor();
    for (let hasMore = true; hasMore && !stopping.signal.aborted;) {
      const page = await readFeed(cursor);
      if (!page) {
        await indexAll();
        cursor = undefined;
        continue;
      }
      for (const event of page.data) await handle(event);
      if (stopping.signal.aborted) return;
      if (page.nextCursor !== null && page.nextCursor !== cursor) await store.saveCursor(page.nextCursor);
      cursor = page.nextCursor ?? undefined;
      ({ hasMore } = page);
    }
    lastFault = '';
  }

  async function keepFollowing(): Promise<void> {
    while (!stopping.signal.aborted) {
      await follow().catch((error: Error) => {
        // The index stays as it is, and searches continue.
        if (!stopping.signal.aborted && error.message !== lastFault)
          log(`the sync events can't be followed; retrying: ${error.message}`);
        lastFault = error.message;
      });
      await delay(POLL_MS, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  let running: Promise<void> | undefined;
  return {
    start() {
      running = keepFollowing();
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
