import { basename, extname } from 'node:path';
import {
  type AccessEntry,
  type Document,
  htmlToMarkdown,
  MAX_TITLE_CHARACTERS,
} from '@platform/crawl-worker/documents';
import type { SourceDocument } from './source.js';

const heading = /^ {0,3}#{1,6}[ \t]+(.+?)[ \t]*#*[ \t]*$/;
const fence = /^ {0,3}(`{3,}|~{3,})/;

/** Returns the first heading of Markdown that is not in a block of code. */
function findHeading(markdown: string): string | undefined {
  let open: string | undefined;
  for (const line of markdown.split(/\r?\n/)) {
    const mark = fence.exec(line)?.[1];
    if (mark !== undefined && open === undefined) open = mark;
    else if (mark !== undefined && open !== undefined && mark.startsWith(open)) open = undefined;
    const found = open === undefined ? heading.exec(line)?.[1] : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What a file says, as the contract of documents has it. */
export function toDocument(
  { path, format, title: given, content }: SourceDocument,
  access: readonly AccessEntry[],
): Pick<Document, 'id' | 'title' | 'text' | 'mimeType' | 'access'> {
  const isText = format === 'text';
  const text = format === 'html' ? htmlToMarkdown(content) : content;
  const title = given ?? (isText ? basename(path) : (findHeading(text) ?? basename(path, extname(path))));
  return {
    id: path,
    title: title.slice(0, MAX_TITLE_CHARACTERS).toWellFormed(),
    text,
    mimeType: isText ? 'text/plain' : 'text/markdown',
    access: [...access],
  };
}
