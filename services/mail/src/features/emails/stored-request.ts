import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SecretBox } from '@platform/service-kit';
import type { AttachmentPiece } from '../queue/queue.sql.js';
import { openJson, sealJson } from '../../sealed-json.js';
import type { DecodedAttachment } from './attachments.js';
import type { EmailContent, SmtpSnapshot } from './schemas.js';

/** A request as it is stored with its mail, encrypted. */
export interface StoredRequest {
  readonly body: EmailContent;
  readonly smtp?: SmtpSnapshot | undefined;
  /** Attachments that are stored apart. */
  readonly files?: readonly StoredFile[];
}

export interface StoredFile {
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: number;
}

/** Larger attachments are stored apart, and such a mail can't be sent again by an administrator: the caller has the files. */
const MAX_INLINE_LENGTH = 262_144;
/** Encrypting a piece takes less than a millisecond. */
const PIECE_BYTES = 1_048_576;

export const isStoredInline = ({ attachments = [] }: EmailContent): boolean =>
  attachments.reduce((sum, { content }) => sum + content.length, 0) <= MAX_INLINE_LENGTH;

/** The context that binds a sealed request to its mail. */
export const requestContext = (id: string): string => `request ${id}`;

/** @returns undefined when no key opens it. */
export const openRequest = (box: SecretBox, id: string, sealed: string): StoredRequest | undefined =>
  openJson(box, sealed, requestContext(id)) as StoredRequest | undefined;

export function sealRequest(
  box: SecretBox,
  id: string,
  request: Pick<StoredRequest, 'body' | 'smtp'>,
  attachments: readonly DecodedAttachment[],
): string {
  const { body, smtp } = request;
  if (isStoredInline(body)) return sealJson(box, { body, smtp } satisfies StoredRequest, requestContext(id));
  const { attachments: _stored, ...rest } = body;
  const files = attachments.map(({ filename, contentType, content }) => ({
    filename,
    contentType,
    bytes: content.length,
  }));
  return sealJson(box, { body: rest, smtp, files } satisfies StoredRequest, requestContext(id));
}

/** The context that binds a sealed piece of an attachment to its place. */
export const pieceContext = (id: string, attachment: number | string, piece: number | string): string =>
  `attachment ${id} ${attachment} ${piece}`;

/** Encrypts attachments one piece at a time, each in a separate turn of the event loop. */
export async function* sealAttachments(
  box: SecretBox,
  id: string,
  attachments: readonly DecodedAttachment[],
): AsyncGenerator<AttachmentPiece> {
  for (const [attachment, { content }] of attachments.entries())
    for (let piece = 0; piece * PIECE_BYTES < content.length; piece += 1) {
      await nextTurn();
      const bytes = content.subarray(piece * PIECE_BYTES, (piece + 1) * PIECE_BYTES);
      yield { attachment, piece, sealed: box.sealBytes(bytes, pieceContext(id, attachment, piece)) };
    }
}

/** Reads a stored attachment piece by piece. @throws when a piece is missing or can't be opened. */
export async function* openAttachment(
  box: SecretBox,
  id: string,
  attachment: number,
  bytes: number,
  find: (piece: number) => Promise<Buffer | undefined>,
): AsyncGenerator<Buffer> {
  for (let piece = 0; piece * PIECE_BYTES < bytes; piece += 1) {
    const sealed = await find(piece);
    if (!sealed) throw new Error('An attachment of the mail is no longer stored');
    yield box.openBytes(sealed, pieceContext(id, attachment, piece));
  }
}
