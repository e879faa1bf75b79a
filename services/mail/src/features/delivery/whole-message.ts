import { Readable } from 'node:stream';
import { encode as encodeBase64, wrap as wrapBase64 } from 'nodemailer/lib/base64';
import type MimeNode from 'nodemailer/lib/mime-node';
import { encode as encodeQuotedPrintable, wrap as wrapQuotedPrintable } from 'nodemailer/lib/qp';

const isWhole = (node: MimeNode): boolean =>
  node.content === undefined || typeof node.content === 'string' || Buffer.isBuffer(node.content);

const isWholeTree = (node: MimeNode): boolean => isWhole(node) && node.childNodes.every(isWholeTree);

/** RFC 2045 §6: the content as the node's header says that it is encoded. */
function writeContent({ content }: MimeNode, transferEncoding: string | false): string {
  if (typeof content !== 'string' && !Buffer.isBuffer(content)) return '';
  if (transferEncoding === 'quoted-printable') return wrapQuotedPrintable(encodeQuotedPrintable(content));
  if (transferEncoding === 'base64') return wrapBase64(encodeBase64(content));
  return content.toString();
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
 * @returns undefined when a part of it is a stream itself.
 */
export function streamWhole(message: MimeNode): Readable | undefined {
  if (!isWholeTree(message)) return undefined;
  const text = writeNode(message);
  const bytes = Buffer.from(text.endsWith('\n') ? text : `${text}\r\n`);
  return new Readable({
    read() {
      this.push(bytes);
      this.push(null);
    },
  });
}
