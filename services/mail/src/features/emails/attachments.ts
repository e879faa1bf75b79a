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

/** Larger attachments are decoded in a turn of the event loop of their own. */
const LARGE_BYTES = 262_144;

const getPadding = (content: string): number => (content.endsWith('==') ? 2 : content.endsWith('=') ? 1 : 0);

const decodedBytes = (content: string): number =>
  Math.floor(((content.length - getPadding(content)) * 3) / 4);

/**
 * Decodes base64. Node's decoder skips invalid characters, so a result that is too short reveals invalid input. Checking
 * the length is six times faster than matching a pattern, and an attachment must not block other requests.
 *
 * @returns undefined when the content isn't base64.
 */
function decode(content: string): Buffer | undefined {
  if (content.includes('-') || content.includes('_')) return undefined;
  const isWhole = getPadding(content) > 0 ? content.length % 4 === 0 : content.length % 4 !== 1;
  const bytes = Buffer.from(content, 'base64');
  return isWhole && bytes.length === decodedBytes(content) ? bytes : undefined;
}

function checkNames({ filename, contentType }: Attachment, index: number): FaultDetail[] {
  const faults: FaultDetail[] = [];
  if (forbiddenInName.test(filename))
    faults.push({ field: `attachments.${index}.filename`, message: 'must not hold control characters' });
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
    if (content.length > LARGE_BYTES) await nextTurn();
    const bytes = decode(content);
    if (bytes) decoded.push({ filename, content: bytes, contentType });
    else faults.push({ field: `attachments.${index}.content`, message: 'must be base64' });
  }
  return faults.length > 0 ? { faults } : { decoded };
}
