import { Parser } from 'htmlparser2';
import PostalMime, { type Address } from 'postal-mime';
import { createTextBuilder, type FileText, UnreadableFile } from '../file-text.js';

const BLOCKS = /^(?:p|div|br|li|tr|h[1-6]|table|blockquote)$/;

function toText(html: string): string {
  let text = '';
  let ignored = 0;
  const parser = new Parser({
    onopentagname(name) {
      if (name === 'style' || name === 'script' || name === 'title') ignored += 1;
      if (BLOCKS.test(name)) text += '\n';
    },
    ontext: (part) => (text += ignored > 0 ? '' : part.replaceAll(/\s+/g, ' ')),
    onclosetag(name) {
      if (name === 'style' || name === 'script' || name === 'title') ignored -= 1;
    },
  });
  parser.end(html);
  return text.replaceAll(/ *\n\s*/g, '\n').trim();
}

const toNames = (addresses: readonly Address[]): string =>
  addresses.map(({ name, address = '' }) => (name ? `${name} <${address}>` : address)).join(', ');

/** Reads an e-mail: who wrote it to whom and when, its text, and the names of its attachments. */
export async function readEmail(bytes: Uint8Array): Promise<FileText> {
  const email = await PostalMime.parse(bytes);
  if (email.headers.length === 0 || (email.from === undefined && email.subject === undefined))
    throw new UnreadableFile('broken', 'It is not an e-mail');
  const builder = createTextBuilder();
  const lines = [
    ['From', email.from ? toNames([email.from]) : ''],
    ['To', toNames(email.to ?? [])],
    ['Cc', toNames(email.cc ?? [])],
    ['Date', email.date ?? ''],
    ['Attachments', email.attachments.flatMap(({ filename }) => filename ?? []).join(', ')],
  ] as const;
  if (email.subject) builder.add(`# ${email.subject}\n\n`);
  for (const [name, value] of lines) if (value !== '') builder.add(`${name}: ${value}\n`);
  builder.add(`\n${email.text?.trim() || toText(email.html ?? '')}\n`);
  return builder.build(email.subject);
}
