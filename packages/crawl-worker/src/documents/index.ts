// Public API of @platform/crawl-worker/documents: the contract of documents, for both of its ends.
export {
  AccessChange,
  AccessEntry,
  Completion,
  Deletion,
  Document,
  DocumentLine,
  findFault,
  isAccessChange,
  isCompletion,
  isDeletion,
  isSighting,
  MAX_BATCH_BYTES,
  MAX_BATCH_LINES,
  MAX_ID_CHARACTERS,
  MAX_TEXT_CHARACTERS,
  MAX_TITLE_CHARACTERS,
  Sighting,
} from './contract.js';
export { createFilesSink } from './files-sink.js';
export { htmlToMarkdown } from './html.js';
export { createHttpSink } from './http-sink.js';
export { createSender, type Sender, type SenderOptions } from './sender.js';
export { openSink } from './open-sink.js';
export type { SerialisedLine, Sink } from './sink.js';
