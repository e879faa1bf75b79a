import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { domainToASCII } from 'node:url';
import { encodeWord } from 'nodemailer/lib/mime-funcs';
import { type Delivery, needsUtf8, type Transaction } from '../delivery/deliver.js';
import { type DecodedAttachment, isMessage } from './attachments.js';
import { LOGO_ID } from '../templates/view.js';
import type { RenderedEmail, StoredAttachment } from './rendered-email.js';

/** A slice is a whole number of base64 lines (57 bytes make 76 characters), and small enough to encode in one turn. */
const SLICE_BYTES = 57 * 1_024;

/** Of an encoded word, together with its charset (RFC 2047 §2), as in nodemailer. */
const MAX_WORD_LENGTH = 52;

/** Yields one slice per turn of the event loop, since a fast server would otherwise take all slices in one turn. */
async function* getSlices(content: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < content.length; start += SLICE_BYTES) {
    await nextTurn();
    yield content.subarray(start, start + SLICE_BYTES);
  }
}

/** Yields the slices of a stored attachment, which is read at the pace of the SMTP server. */
async function* readSlices({ read }: StoredAttachment): AsyncGenerator<Buffer> {
  for await (const piece of read()) yield* getSlices(piece);
}

const isLarge = ({ content }: DecodedAttachment): boolean => content.length > SLICE_BYTES;

/** Streams a large attachment at the pace of the SMTP server, because encoding it at once would block other requests. */
const toContent = (attachment: DecodedAttachment): Buffer | Readable =>
  isLarge(attachment)
    ? Readable.from(getSlices(attachment.content), { objectMode: false })
    : attachment.content;

/**
 * Returns the Message-ID of a mail. It is the same for every attempt, so that receivers recognise two copies as one mail.
 *
 * @param mailId - the id of the mail in the journal.
 * @param from - the sender. Its domain is converted to ASCII, as the header requires (RFC 5322 §3.6.4).
 */
export const toMessageId = (mailId: string, from: string): string =>
  `<${mailId}@${domainToASCII(from.slice(from.lastIndexOf('@') + 1)) || 'invalid'}>`;

const toAddress = (address: string) => ({ name: '', address });

/** The HTML part refers to the logo, so that reading a mail loads nothing from elsewhere. */
const toLogo = ({ logo }: RenderedEmail) =>
  logo
    ? [
        {
          filename: 'logo.png',
          contentType: 'image/png',
          content: logo,
          cid: LOGO_ID,
          contentDisposition: 'inline' as const,
        },
      ]
    : [];

/**
 * A subject that looks like an encoded word is encoded once more (RFC 2047 §8): otherwise readers would decode it, to characters
 * that nobody has checked.
 */
const toSubject = (subject: string): string =>
  subject.includes('=?') ? encodeWord(subject, 'Q', MAX_WORD_LENGTH) : subject;

/** A part of this type takes no encoding (RFC 2046 §5.2.1). Its content is known to fit: see `attachments.ts`. */
const toEncoding = ({ contentType }: Pick<Part, 'contentType'>) =>
  isMessage(contentType) ? { contentTransferEncoding: '7bit' as const } : {};

function toFields(
  email: RenderedEmail,
  messageId: string,
  date: Date,
  { recipients, allowsUtf8 }: Transaction,
) {
  const isShown = (address: string): boolean => allowsUtf8 || !needsUtf8(address);
  const [to, cc] = [email.to.filter(isShown), email.cc.filter(isShown)];
  return {
    messageId,
    // The server gets only these recipients; the headers name all that it can take.
    envelope: { from: email.from, to: [...recipients] },
    date,
    from: toAddress(email.from),
    ...(to.length > 0 ? { to: to.map(toAddress) } : {}),
    ...(cc.length > 0 ? { cc: cc.map(toAddress) } : {}),
    subject: toSubject(email.subject),
    html: email.html,
    text: email.text,
    ...(email.replyTo === undefined || !isShown(email.replyTo) ? {} : { replyTo: toAddress(email.replyTo) }),
    attachments: [
      ...toLogo(email),
      ...email.attachments.map((attachment) => ({
        filename: attachment.filename,
        contentType: attachment.contentType,
        contentDisposition: 'attachment' as const,
        ...toEncoding(attachment),
        content: toContent(attachment),
      })),
      ...(email.files ?? []).map((file) => ({
        filename: file.filename,
        contentType: file.contentType,
        contentDisposition: 'attachment' as const,
        ...toEncoding(file),
        content: Readable.from(readSlices(file), { objectMode: false }),
      })),
    ],
    ...(email.isAutomatic ? { headers: { 'Auto-Submitted': 'auto-generated' } } : {}),
  };
}

interface Part {
  readonly contentType: string;
  readonly bytes: number;
}

/** Attachments become base64, in lines of 76 characters, except for messages. */
const toEncodedBytes = ({ contentType, bytes }: Part): number =>
  isMessage(contentType) ? bytes : Math.ceil(bytes / 57) * 78;

/** Returns the size of the message without its headers, which is a little less than the message has. */
const toMessageBytes = ({ html, text, attachments, files = [], logo }: RenderedEmail): number =>
  [
    ...(logo ? [{ contentType: 'image/png', bytes: logo.length }] : []),
    ...attachments.map(({ contentType, content }) => ({ contentType, bytes: content.length })),
    ...files,
  ].reduce((sum, part) => sum + toEncodedBytes(part), html.length + text.length);

/** Returns the part of a delivery that depends on the e-mail. Each transaction gets new streams of the large attachments. */
export const toDeliveredMessage = (
  email: RenderedEmail,
  messageId: string,
  date: Date,
): Pick<Delivery, 'from' | 'isInternational' | 'message' | 'messageBytes'> => ({
  from: email.from,
  isInternational: [email.from, email.replyTo ?? '', ...email.to, ...email.cc].some(needsUtf8),
  message: (transaction, signal) => ({ ...toFields(email, messageId, date, transaction), signal }),
  messageBytes: toMessageBytes(email),
});
