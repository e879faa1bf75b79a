import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FaultDetail } from '@platform/service-kit';
import { type Attachment, FORBIDDEN_IN_NAME, MAX_ATTACHMENT_BYTES, MEDIA_TYPE } from './schemas.js';

export interface DecodedAttachment {
  readonly filename: string;
  readonly content: Buffer;
  readonly contentType: string;
}

const forbiddenInName = new RegExp(`[${FORBIDDEN_IN_NAME}]`);
const mediaType = new RegExp(MEDIA_TYPE);

/** A slice is a whole number of base64's groups of four characters, and is decoded in less than a millisecond. */
const SLICE_LENGTH = 262_144;

const toText = (content: string | Buffer, start: number, end = start + SLICE_LENGTH): string =>
  typeof content === 'string' ? content.slice(start, end) : content.toString('latin1', start, end);

function getPadding(content: string | Buffer): number {
  const end = toText(content, Math.max(0, content.length - 2));
  return end.endsWith('==') ? 2 : end.endsWith('=') ? 1 : 0;
}

const decodedBytes = (content: string | Buffer): number =>
  Math.floor(((content.length - getPadding(content)) * 3) / 4);

/**
 * Decodes base64. Node's decoder skips invalid characters, so a result that is too short reveals invalid input. Checking
 * the length is six times faster than matching a pattern, and an attachment must not block other requests: each slice is
 * decoded in a separate turn of the event loop.
 *
 * @returns undefined when the content isn't base64.
 */
async function decode(content: string | Buffer): Promise<Buffer | undefined> {
  const isWhole = getPadding(content) > 0 ? content.length % 4 === 0 : content.length % 4 !== 1;
  if (!isWhole) return undefined;
  const bytes = Buffer.allocUnsafe(decodedBytes(content));
  let length = 0;
  for (let start = 0; start < content.length; start += SLICE_LENGTH) {
    if (start > 0) await nextTurn();
    const text = toText(content, start);
    if (text.includes('-') || text.includes('_')) return undefined;
    length += bytes.write(text, length, 'base64');
  }
  return length === bytes.length ? bytes : undefined;
}

/** What readers of mail decode in a name, to characters that nobody has checked (RFC 2047 §2). */
const encodedWord = /=\?[^?]*\?[bq]\?[^?]*\?=/i;

/** NUL, 8-bit text, a CR without LF, or a line of more than 998 octets (RFC 2045 §2.7). */
const notSevenBit = /[\0\u0080-\u00ff]|\r(?!\n|$)|[^\r\n]{999}/;

async function isSevenBit(content: Buffer): Promise<boolean> {
  let line = '';
  for (let start = 0; start < content.length; start += SLICE_LENGTH) {
    if (start > 0) await nextTurn();
    const text = line + content.toString('latin1', start, start + SLICE_LENGTH);
    if (notSevenBit.test(text)) return false;
    line = text.slice(text.lastIndexOf('\n') + 1);
  }
  return !line.endsWith('\r');
}

export const isMessage = (contentType: string): boolean => /^message\//i.test(contentType);

/**
 * A message as an attachment takes no encoding (RFC 2046 §5.2.1), and not every server takes 8-bit text or long lines. Such a
 * message is sent as a file, whose bytes stay as they are.
 */
const toContentType = async (contentType: string, content: Buffer): Promise<string> =>
  isMessage(contentType) && !(await isSevenBit(content)) ? 'application/octet-stream' : contentType;

function checkNames({ filename, contentType }: Attachment, index: number): FaultDetail[] {
  const faults: FaultDetail[] = [];
  if (forbiddenInName.test(filename))
    faults.push({ field: `attachments.${index}.filename`, message: 'must not hold control characters' });
  if (encodedWord.test(filename))
    faults.push({
      field: `attachments.${index}.filename`,
      message: 'must not hold encoded words (RFC 2047)',
    });
  // Mail clients would treat a multipart attachment as part of the structure of the mail itself.
  if (!mediaType.test(contentType) || /^multipart\//i.test(contentType))
    faults.push({
      field: `attachments.${index}.contentType`,
      message: 'must be a media type such as text/plain',
    });
  return faults;
}

/** @returns the decoded attachments, or all their faults. */
export async function readAttachments(
  attachments: readonly Attachment[],
): Promise<{ readonly decoded: readonly DecodedAttachment[] } | { readonly faults: readonly FaultDetail[] }> {
  const total = attachments.reduce((sum, { content }) => sum + decodedBytes(content), 0);
  if (total > MAX_ATTACHMENT_BYTES)
    return { faults: [{ field: 'attachments', message: 'must have at most 25 MiB in all' }] };
  const faults = attachments.flatMap(checkNames);
  const decoded: DecodedAttachment[] = [];
  for (const [index, { filename, content, contentType }] of attachments.entries()) {
    const bytes = await decode(content);
    if (bytes)
      decoded.push({ filename, content: bytes, contentType: await toContentType(contentType, bytes) });
    else faults.push({ field: `attachments.${index}.content`, message: 'must be base64' });
  }
  return faults.length > 0 ? { faults } : { decoded };
}
