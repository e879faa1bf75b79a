import { createTextBuilder, type FileText, UnreadableFile } from '../file-text.js';
import { readRelationships, readTitle, readXml } from './xml.js';
import { readEntries } from './zip.js';

/** Returns the texts that cells refer to by their number. Readings for East Asian scripts are left out. */
function readSharedStrings(xml: string | undefined): string[] {
  const texts: string[] = [];
  let text = '';
  let isText = false;
  let phonetics = 0;
  readXml(xml ?? '', {
    open(name) {
      if (name === 'si') text = '';
      if (name === 'rPh') phonetics += 1;
      isText = name === 't' && phonetics === 0;
    },
    close(name) {
      isText = false;
      if (name === 'rPh') phonetics -= 1;
      if (name === 'si') texts.push(text);
    },
    text(part) {
      if (isText) text += part;
    },
  });
  return texts;
}

/** Passes on the rows of a sheet that have a value. Dates are numbers of days, as the file has them. */
function readRows(xml: string, shared: readonly string[], onRow: (row: string) => void): void {
  let cells: string[] = [];
  let type = '';
  let value = '';
  let isValue = false;
  readXml(xml, {
    open(name, { t = '' }) {
      if (name === 'row') cells = [];
      if (name === 'c') [type, value] = [t, ''];
      isValue = name === 'v' || name === 't';
    },
    close(name) {
      isValue = false;
      if (name === 'c' && value !== '') cells.push(type === 's' ? (shared[Number(value)] ?? '') : value);
      if (name === 'row' && cells.length > 0) onRow(cells.join('\t'));
    },
    text(part) {
      if (isValue) value += part;
    },
  });
}

/** Reads an XLSX file: each sheet under its name, a row a line. */
export function readSheets(bytes: Uint8Array): FileText {
  const entries = readEntries(bytes, (name) =>
    /^xl\/(?:workbook\.xml|_rels\/workbook\.xml\.rels|sharedStrings\.xml|worksheets\/[^/]+\.xml)$|^docProps\/core\.xml$/.test(
      name,
    ),
  );
  const workbook = entries.get('xl/workbook.xml');
  if (workbook === undefined) throw new UnreadableFile('broken', 'It has no list of sheets');
  const targets = readRelationships(entries.get('xl/_rels/workbook.xml.rels'), 'xl');
  const shared = readSharedStrings(entries.get('xl/sharedStrings.xml'));
  const builder = createTextBuilder();
  readXml(workbook, {
    open(name, attributes) {
      if (name !== 'sheet') return;
      const title = attributes['name'] ?? '';
      builder.anchor(`sheet=${encodeURIComponent(title)}`);
      builder.add(`## ${title}\n\n`);
      const xml = entries.get(targets.get(attributes['r:id'] ?? '') ?? '') ?? '';
      readRows(xml, shared, (row) => builder.add(`${row}\n`));
      builder.add('\n');
    },
  });
  return builder.build(readTitle(entries.get('docProps/core.xml')));
}
