import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { domainToASCII } from 'node:url';
import type { Delivery } from '../delivery/deliver.js';
import type { DecodedAttachment } from './attachments.js';
import type { RenderedEmail } from './rendered-email.js';

/** A whole number of base64 lines (57 bytes make 76 characters), and little enough to encode in one go. */
const SLICE_BYTES = 57 * 1_024;

/** One slice in each turn of the event loop: a server on a fast network takes them without ever making us wait. */
async function* getSlices(content: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < content.length; start += SLICE_BYTES) {
    await nextTurn();
    yield content.subarray(start, start + SLICE_BYTES);
  }
}

const isLarge = ({ content }: DecodedAttachment): boolean => content.length > SLICE_BYTES;

/** Large ones go slice by slice, as fast as the SMTP server takes them: one big step would stall everybody. */
const toContent = (attachment: DecodedAttachment): Buffer | Readable =>
  isLarge(attachment)
    ? Readable.from(getSlices(attachment.content), { objectMode: false })
    : attachment.content;

/**
 * The same for every attempt, so that receivers can tell that two copies are one mail. Of the requests with one
 * idempotency key, only the one whose mail is in the journal sends.
 *
 * @param mailId - of the mail in the journal.
 * @param from - the sender; a domain beyond ASCII has no place in the header (RFC 5322 §3.6.4).
 */
export const toMessageId = (mailId: string, from: string): string =>
  `<${mailId}@${domainToASCII(from.slice(from.lastIndexOf('@') + 1)) || 'invalid'}>`;

const named = (address: string) => ({ name: '', address });

const toFields = (email: RenderedEmail, messageId: string, date: Date) => ({
  messageId,
  date,
  from: named(email.from),
  to: email.to.map(named),
  ...(email.cc.length > 0 ? { cc: email.cc.map(named) } : {}),
  subject: email.subject,
  html: email.html,
  text: email.text,
  attachments: email.attachments.map((attachment) => ({
    filename: attachment.filename,
    contentType: attachment.contentType,
    content: toContent(attachment),
  })),
  ...(email.isAutomatic ? { headers: { 'Auto-Submitted': 'auto-generated' } } : {}),
});

/** Returns what composes the message of an attempt. Large attachments are read anew each time. */
export const createMessageSource =
  (email: RenderedEmail, messageId: string, date: Date): Delivery['message'] =>
  (signal) => ({ ...toFields(email, messageId, date), signal });
