import type { SendMailOptions } from 'nodemailer';
import { encode as encodeBase64, wrap as wrapBase64 } from 'nodemailer/lib/base64';
import MailComposer from 'nodemailer/lib/mail-composer';
import type MimeNode from 'nodemailer/lib/mime-node';
import { encode as encodeQuotedPrintable, wrap as wrapQuotedPrintable } from 'nodemailer/lib/qp';

/** A part that as a string would not stay what it is. */
class NotText extends Error {}

/** RFC 2045 §6: the content as the node's header says that it is encoded. */
function writeContent({ content = '' }: MimeNode, transferEncoding: string | false): string {
  if (typeof content !== 'string' && !Buffer.isBuffer(content)) throw new NotText();
  if (transferEncoding === 'quoted-printable') return wrapQuotedPrintable(encodeQuotedPrintable(content));
  if (transferEncoding === 'base64') return wrapBase64(encodeBase64(content));
  // Of a message that is attached, in whatever character set it has.
  if (typeof content !== 'string') throw new NotText();
  return content;
}

/** RFC 2046 §5.1.1. */
function writeNode(node: MimeNode): string {
  const head = `${node.buildHeaders()}\r\n\r\n`;
  if (!node.multipart) return head + writeContent(node, node.getTransferEncoding());
  const boundary = String(node.boundary);
  const parts = node.childNodes.map((child) => `--${boundary}\r\n${writeNode(child)}\r\n`);
  return `${head}${parts.join('')}--${boundary}--\r\n`;
}

/**
 * The message as nodemailer would stream it, at once and in one piece: its stream takes a dozen others for each
 * mail, which is most of what composing one costs.
 *
 * @returns undefined when a part of it is a stream, or bytes that go out as they are (`message/*`).
 */
export function writeWhole(message: MimeNode): Buffer | undefined {
  try {
    const text = writeNode(message);
    return Buffer.from(text.endsWith('\n') ? text : `${text}\r\n`);
  } catch (error) {
    if (error instanceof NotText) return undefined;
    throw error;
  }
}

const named = (address: string) => ({ name: '', address });

/** What to give nodemailer instead of the fields; undefined as {@link writeWhole} is. */
export function composeWhole(
  fields: SendMailOptions,
): { raw: Buffer; envelope: SendMailOptions['envelope'] } | undefined {
  const message = new MailComposer(fields).compile();
  const raw = writeWhole(message);
  const { from, to } = message.getEnvelope();
  return raw && { raw, envelope: { from: from && named(from), to: to.map(named) } };
}
