import { readFile } from 'node:fs/promises';
import { deflateRawSync, deflateSync, crc32 } from 'node:zlib';
import { createFileReader, type FileReader, type FileResult } from '@platform/file-text';

const load = (name: string): Promise<Buffer> => readFile(new URL(`files/${name}`, import.meta.url));
const MEBIBYTE = 1_048_576;

let reader: FileReader;
beforeAll(() => {
  reader = createFileReader();
});
afterAll(() => reader.close());

const read = async (name: string): Promise<FileResult> => reader.read(name, await load(name));

/** Returns the text from each anchor to the next one. */
function toParts(result: FileResult): Record<string, string> {
  if (!result.isOk) throw new Error(result.message);
  const { anchors, text } = result;
  const parts = anchors.map(({ name, offset }, index) => [
    name,
    text.slice(offset, anchors[index + 1]?.offset),
  ]);
  return Object.fromEntries(parts) as Record<string, string>;
}

describe('the reader of files', () => {
  it('reads a PDF page by page, with its title', async () => {
    const result = await read('leave.pdf');
    expect(result).toMatchObject({ isOk: true, title: 'Leave policy' });
    expect(toParts(result)).toEqual({
      'page=1': 'Page 1: thirty days of leave\n\n',
      'page=2': 'Page 2: thirty days of leave\n\n',
      'page=3': 'Page 3: thirty days of leave\n\n',
    });
  });

  it('reads a document of Word with its headings and tables', async () => {
    const result = await read('handbook.docx');
    expect(result).toMatchObject({ isOk: true, title: 'Handbook' });
    expect(toParts(result)).toEqual({
      'page=1': '# Expenses & travel\n\nKeep every receipt.\n\n## Hotels\n\nBerlin\n\n120 euros\n\n',
    });
  });

  it('reads a presentation slide by slide', async () => {
    const result = await read('roadmap.pptx');
    expect(result).toMatchObject({ isOk: true, title: 'Roadmap' });
    expect(toParts(result)).toEqual({
      'slide=1': '## Spring\n\nShip search\n\n',
      'slide=2': '## Autumn\n\nShip groups\n\n',
    });
  });

  it('reads a workbook sheet by sheet', async () => {
    expect(toParts(await read('costs.xlsx'))).toEqual({
      'sheet=Costs%20%26%20more': '## Costs & more\n\nItem\tEuros\nLaptop\t1200\n\n',
      'sheet=Notes': '## Notes\n\nApproved by Ada\n\n',
    });
  });

  it('reads an e-mail, whatever its coding, and names its attachments', async () => {
    const lines = [
      'From: =?utf-8?q?J=C3=BCrgen?= <j@example.com>',
      'To: ada@example.com',
      'Subject: =?utf-8?b?UmVpc2Vrb3N0ZW4=?=',
      'Content-Type: multipart/mixed; boundary=x',
      '',
      '--x',
      'Content-Type: text/html; charset=iso-8859-1',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      '<style>p {}</style><p>Gr=FC=DFe</p><p>aus K=F6ln</p>',
      '--x',
      'Content-Type: application/pdf; name=a.pdf',
      'Content-Disposition: attachment; filename=a.pdf',
      '',
      'x',
      '--x--',
    ];
    const result = await reader.read('a.eml', Buffer.from(lines.join('\r\n')));
    expect(result).toMatchObject({ isOk: true, title: 'Reisekosten' });
    const { text } = result as { text: string };
    expect(text).toContain('From: Jürgen <j@example.com>\nTo: ada@example.com\nAttachments: a.pdf');
    expect(text).toMatch(/Grüße\s+aus Köln/);
    expect(text).not.toContain('{}');
  });

  it('reads a renamed file as what it is', async () => {
    expect(await reader.read('a.pdf', await load('handbook.docx'))).toMatchObject({ title: 'Handbook' });
    expect(await reader.read('a.docx', await load('leave.pdf'))).toMatchObject({ title: 'Leave policy' });
  });
});

/** Returns an archive of one entry. @param size - what it says of its own size. */
function toZip(name: string, content: Buffer, size = content.length): Buffer {
  const packed = deflateRawSync(content);
  const path = Buffer.from(name);
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(8, 4);
  fields.writeUInt32LE(crc32(content), 10);
  fields.writeUInt32LE(packed.length, 14);
  fields.writeUInt32LE(size, 18);
  fields.writeUInt16LE(path.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), fields, path, packed]);
  const central = Buffer.concat([Buffer.from('PK\x01\x02\x14\0', 'latin1'), fields, Buffer.alloc(14), path]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, central, end]);
}

/** Returns a PDF of so many pages that share one content, which is compressed. */
function toPdf(pages: number, content: Buffer): Buffer {
  const kids = Array.from({ length: pages }, (_, index) => `${index + 4} 0 R`).join(' ');
  const stream = deflateSync(content);
  const parts: Buffer[] = [Buffer.from('%PDF-1.4\n')];
  const offsets: number[] = [];
  let length = parts[0]?.length ?? 0;
  const add = (...given: readonly Buffer[]) => {
    offsets.push(length);
    for (const part of given) {
      parts.push(part);
      length += part.length;
    }
  };
  add(Buffer.from('1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n'));
  add(Buffer.from(`2 0 obj\n<</Type/Pages/Count ${pages}/Kids[${kids}]>>\nendobj\n`));
  add(
    Buffer.from(`3 0 obj\n<</Length ${stream.length}/Filter/FlateDecode>>\nstream\n`),
    stream,
    Buffer.from('\nendstream\nendobj\n'),
  );
  for (let index = 0; index < pages; index += 1)
    add(
      Buffer.from(
        `${index + 4} 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 3 0 R/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>\nendobj\n`,
      ),
    );
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const table = `xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n${entries}`;
  const trailer = `trailer\n<</Size ${offsets.length + 1}/Root 1 0 R>>\nstartxref\n${length}\n%%EOF\n`;
  return Buffer.concat([...parts, Buffer.from(table + trailer)]);
}

describe('a hostile file', () => {
  const laughs = `<!DOCTYPE d [<!ENTITY a "${'ha'.repeat(50)}">${Array.from(
    { length: 9 },
    (_, index) => `<!ENTITY a${index} "${`&a${index - 1};`.repeat(10)}">`,
  ).join('')}]><w:document><w:body><w:p><w:t>&a8;</w:t></w:p></w:body></w:document>`;
  const cut = (bytes: Buffer) => bytes.subarray(0, bytes.length / 2);

  it.each<[string, string, () => Buffer | Promise<Buffer>, RegExp]>([
    ['an encrypted PDF', 'a.pdf', () => load('encrypted.pdf'), /^encrypted$/],
    ['an encrypted workbook', 'a.xlsx', () => load('encrypted.xlsx'), /^encrypted$/],
    ['a truncated document', 'a.docx', async () => cut(await load('handbook.docx')), /^broken$/],
    ['an empty file', 'a.docx', () => Buffer.alloc(0), /^broken$/],
    ['text with another name', 'a.pptx', () => Buffer.from('hello'), /^broken$/],
    ['a text that is no e-mail', 'a.eml', () => Buffer.from('\0\x01hello'), /^broken$/],
    ['an archive of something else', 'a.docx', () => toZip('a.txt', Buffer.from('x')), /^unsupported$/],
    [
      'a document of Office before 2007',
      'a.docx',
      () => Buffer.from('d0cf11e0a1b11ae1', 'hex'),
      /^unsupported$/,
    ],
    [
      'a ZIP bomb',
      'a.docx',
      () => toZip('word/document.xml', Buffer.alloc(210 * MEBIBYTE, 'a')),
      /^expands_too_far$/,
    ],
    ['a file that is too large', 'a.pdf', () => Buffer.alloc(50_000_001), /^too_large$/],
    [
      'more text than anybody reads',
      'a.docx',
      () => toZip('word/document.xml', Buffer.from(`<w:p><w:t>${'x'.repeat(10_000_001)}</w:t></w:p>`)),
      /^too_much_text$/,
    ],
  ])('such as %s is a failure with its reason', async (_what, name, make, reason) => {
    const result = await reader.read(name, await make());
    expect(result).toEqual({
      isOk: false,
      reason: expect.stringMatching(reason),
      message: expect.any(String),
    });
  });

  it('that lies about its size expands no further than it says', async () => {
    const text = Buffer.from(`<w:p><w:t>${'x'.repeat(50 * MEBIBYTE)}</w:t></w:p>`);
    const result = await reader.read('a.docx', toZip('word/document.xml', text, 1_000));
    expect(JSON.stringify(result).length).toBeLessThan(2_000);
  });

  it('with entities that multiply reads none of them', async () => {
    const result = await reader.read('a.docx', toZip('word/document.xml', Buffer.from(laughs)));
    expect(JSON.stringify(result).length).toBeLessThan(1_000);
  });

  it('costs itself alone when it takes too long or too much memory: the next one is read', async () => {
    const slow = createFileReader({ timeoutMs: 8_000, maxMemoryBytes: 400 * MEBIBYTE });
    try {
      const text = Buffer.from('BT /F 9 Tf (hello) Tj ET\n');
      const pages = toPdf(100_000, Buffer.concat(Array.from({ length: 200 }, () => text)));
      const bomb = toPdf(1, Buffer.alloc(500 * MEBIBYTE, ' '));
      const results = await Promise.all([
        slow.read('pages.pdf', pages),
        slow.read('bomb.pdf', bomb),
        slow.read('leave.pdf', await load('leave.pdf')),
      ]);
      expect(results.map((result) => (result.isOk ? result.title : result.reason))).toEqual([
        expect.stringMatching(/^(?:timeout|memory)$/),
        expect.stringMatching(/^(?:timeout|memory)$/),
        'Leave policy',
      ]);
    } finally {
      await slow.close();
    }
  });
});
