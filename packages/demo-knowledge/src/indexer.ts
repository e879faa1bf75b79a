import { followEvents, type SyncEvent } from '@platform/events/consumer';
import {
  type ChangedDocument,
  DEFAULT_INSTANCE,
  type Documents,
  type Instance,
  toPagePath,
} from './documents.js';
import { parsePage, parseText } from './sections.js';
import { replacePages, type Store, type StoredPage } from './store.js';

const DOCUMENTS_PER_TRANSACTION = 100;

/** Names an instance as the addresses of the console do. */
const toConnectorKey = ({ connector, instance }: Instance): string =>
  instance === DEFAULT_INSTANCE ? connector : `${connector}:${instance}`;

function toStoredPage(origin: Instance, document: ChangedDocument): StoredPage {
  const { id, title, mimeType, access, runId } = document;
  const text = document.text ?? '';
  const isGuide = mimeType === 'text/markdown';
  return {
    path: toPagePath(origin, id),
    page: isGuide ? parsePage(text, title) : parseText(text, title),
    connector: toConnectorKey(origin),
    runId,
    author: null,
    isGuide,
    access,
  };
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

  async function indexDocuments(origin: Instance): Promise<void> {
    for (let hasMore = true; hasMore && !stopping.signal.aborted;) {
      hasMore = await documents.indexChanges(origin, DOCUMENTS_PER_TRANSACTION, async (client, changed) => {
        await replacePages(
          client,
          changed.map(({ id }) => toPagePath(origin, id)),
          changed.filter(({ text }) => text !== null).map((document) => toStoredPage(origin, document)),
        );
      });
    }
  }

  /** Repeating it changes nothing, so an event may come twice. */
  async function handle({ payload }: SyncEvent): Promise<void> {
    const { connector, connectorInstance: instance = DEFAULT_INSTANCE } = payload;
    await indexDocuments({ connector, instance });
  }

  /** Indexes all that the missed events would have had indexed. */
  async function indexAll(): Promise<void> {
    log(
      'events were deleted before they were read: indexing all changes, and reading the feed from its start',
    );
    for (const origin of await documents.listChangedInstances()) await indexDocuments(origin);
  }

  let running: Promise<void> | undefined;
  return {
    /** Indexes what has changed in an instance. */
    index: indexDocuments,
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
      }).catch((error: Error) => {
        log(`the sync events are not followed any more, so the index stays as it is: ${error.message}`);
      });
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
