import { createTextBuilder, type FileText, UnreadableFile } from '../file-text.js';
import { readXml, readTitle } from './xml.js';
import { readEntries } from './zip.js';

const MAX_HEADING_LEVEL = 6;

/** Returns the level of the headings, by the id of their style, whose name is English in every language of Word. */
function readHeadingLevels(styles: string | undefined): ReadonlyMap<string, number> {
  const levels = new Map<string, number>();
  let id = '';
  readXml(styles ?? '', {
    open(name, attributes) {
      if (name === 'w:style') id = attributes['w:styleId'] ?? '';
      if (name !== 'w:name') return;
      const value = (attributes['w:val'] ?? '').toLowerCase();
      const level = value === 'title' ? 1 : Number(/^heading (\d)$/.exec(value)?.[1] ?? 0);
      if (level > 0) levels.set(id, Math.min(level, MAX_HEADING_LEVEL));
    },
  });
  return levels;
}

/** Reads a DOCX file. Pages are those that Word has drawn when it saved the file, if it did. */
export function readWord(bytes: Uint8Array): FileText {
  const entries = readEntries(bytes, (name) =>
    ['word/document.xml', 'word/styles.xml', 'docProps/core.xml'].includes(name),
  );
  const document = entries.get('word/document.xml');
  if (document === undefined) throw new UnreadableFile('broken', 'It has no text part');
  const levels = readHeadingLevels(entries.get('word/styles.xml'));
  const builder = createTextBuilder();
  let title: string | undefined;
  let page = 1;
  let paragraph = '';
  let level = 0;
  let isText = false;
  /** In the older form of something that is there twice. */
  let fallbacks = 0;
  const endParagraph = () => {
    const text = paragraph.trim();
    if (text !== '') builder.add(`${level > 0 ? `${'#'.repeat(level)} ` : ''}${text}\n\n`);
    if (level > 0 && text !== '') title ??= text;
    paragraph = '';
    level = 0;
  };
  const startPage = () => {
    page += 1;
    if (paragraph.trim() !== '') endParagraph();
    builder.anchor(`page=${page}`);
  };
  builder.anchor('page=1');
  readXml(document, {
    open(name, attributes) {
      if (name === 'mc:Fallback') fallbacks += 1;
      if (fallbacks > 0) return;
      if (name === 'w:pStyle') level = levels.get(attributes['w:val'] ?? '') ?? 0;
      if (name === 'w:lastRenderedPageBreak') startPage();
      if (name === 'w:tab' || name === 'w:tc') paragraph += ' ';
      if (name === 'w:br' || name === 'w:cr') paragraph += '\n';
      isText = name === 'w:t';
    },
    close(name) {
      if (name === 'mc:Fallback') fallbacks -= 1;
      if (name === 'w:p' && fallbacks === 0) endParagraph();
      isText = false;
    },
    text(text) {
      if (isText && fallbacks === 0) paragraph += text;
    },
  });
  return builder.build(readTitle(entries.get('docProps/core.xml')) ?? title);
}
