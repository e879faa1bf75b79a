import { MAX_TEXT_CHARACTERS } from '@platform/crawl-worker/documents';
import { createFileReader, type FileResult, type FileText, isReadableFile } from '@platform/file-text';
import { MAX_DOCUMENT_BYTES } from './source.js';

/* PDF and Office files and e-mails, as documents. */

/** Whether a file has the name of one that is read here. */
export const isOfficeFile = isReadableFile;

/** The largest one, of which most is not text. */
const MAX_FILE_BYTES = 50_000_000;
export const getMaxBytes = (path: string): number =>
  isOfficeFile(path) ? MAX_FILE_BYTES : MAX_DOCUMENT_BYTES;

/** Pages are headings in a text that has none, so that a search can name them. */
function toMarkdown({ text, anchors }: FileText): string {
  if (/^#{1,6} /m.test(text)) return text;
  return anchors
    .map(({ name, offset }, index) => {
      const page = text.slice(offset, anchors[index + 1]?.offset);
      return page.trim() === '' ? '' : `## ${name.replace('page=', 'Page ')}\n\n${page}`;
    })
    .join('');
}

/** Failures of this machine at this moment; the others are the file's own. */
const passing: ReadonlySet<string> = new Set(['timeout', 'memory']);

function toContent(result: FileResult) {
  if (!result.isOk)
    return { content: undefined, failure: result.message, isLasting: !passing.has(result.reason) };
  const content = toMarkdown(result);
  if (content.length > MAX_TEXT_CHARACTERS)
    return {
      content: undefined,
      failure: `It has more than ${MAX_TEXT_CHARACTERS} characters of text`,
      isLasting: true,
    };
  return { format: 'markdown', title: result.title, content } as const;
}

/** Reads files in a child process, which is started with the first one and lasts until it is closed. */
export function createOfficeReader() {
  const reader = createFileReader({ maxBytes: MAX_FILE_BYTES });
  return {
    async read(path: string, bytes: Uint8Array) {
      return toContent(await reader.read(path, bytes));
    },
    close: () => reader.close(),
  };
}
