import { type FileText, UnreadableFile } from './file-text.js';
import { readEmail } from './formats/email.js';
import { readPdf } from './formats/pdf.js';
import { readSheets } from './formats/sheets.js';
import { readSlides } from './formats/slides.js';
import { readWord } from './formats/word.js';
import { listEntries } from './formats/zip.js';

const startsWith = (bytes: Uint8Array, ...start: readonly number[]): boolean =>
  start.every((byte, index) => bytes[index] === byte);

const isZip = (bytes: Uint8Array): boolean => startsWith(bytes, 0x50, 0x4b, 0x03, 0x04);
/** The container of encrypted Office files, and of those before 2007. */
const isCompoundFile = (bytes: Uint8Array): boolean => startsWith(bytes, 0xd0, 0xcf, 0x11, 0xe0);

/** Readers may look for the mark of a PDF in the first 1,024 bytes. */
const PDF_MARK_BYTES = 1_024;
const isPdf = (bytes: Uint8Array): boolean =>
  Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, PDF_MARK_BYTES)).includes('%PDF-');

function readOffice(bytes: Uint8Array): FileText {
  const names = listEntries(bytes);
  if (names.has('word/document.xml')) return readWord(bytes);
  if (names.has('ppt/presentation.xml')) return readSlides(bytes);
  if (names.has('xl/workbook.xml')) return readSheets(bytes);
  throw new UnreadableFile(
    'unsupported',
    'It is an archive, but not a document of Word, PowerPoint or Excel',
  );
}

function refuseCompoundFile(bytes: Uint8Array): never {
  const isEncrypted = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(
    Buffer.from('EncryptedPackage', 'utf16le'),
  );
  if (isEncrypted) throw new UnreadableFile('encrypted', 'It is encrypted with a password');
  throw new UnreadableFile('unsupported', 'It has the format of Office before 2007');
}

/** Reads a file by what it holds: its name decides about e-mails alone, which begin with any header. */
export async function readFileText(bytes: Uint8Array, name: string): Promise<FileText> {
  if (isZip(bytes)) return readOffice(bytes);
  if (isCompoundFile(bytes)) return refuseCompoundFile(bytes);
  if (isPdf(bytes)) return readPdf(bytes);
  if (/\.eml$/i.test(name)) return readEmail(bytes);
  throw new UnreadableFile('broken', 'It does not hold what its name says');
}
