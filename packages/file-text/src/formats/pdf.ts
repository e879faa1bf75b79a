import { getDocumentProxy } from 'unpdf';
import { createTextBuilder, type FileText, UnreadableFile } from '../file-text.js';

type Document = Awaited<ReturnType<typeof getDocumentProxy>>;

async function openDocument(bytes: Uint8Array): Promise<Document> {
  try {
    // The library refuses a Buffer.
    return await getDocumentProxy(new Uint8Array(bytes), { verbosity: 0 });
  } catch (error) {
    if ((error as Error).name === 'PasswordException')
      throw new UnreadableFile('encrypted', 'It is encrypted with a password');
    throw error;
  }
}

async function findTitle(document: Document): Promise<string | undefined> {
  const { info } = await document.getMetadata();
  const title = (info as { readonly Title?: unknown }).Title;
  return typeof title === 'string' ? title : undefined;
}

/** Reads the text of a PDF, page by page. A scan has none, and is not recognised. */
export async function readPdf(bytes: Uint8Array): Promise<FileText> {
  const document = await openDocument(bytes);
  const builder = createTextBuilder();
  for (let number = 1; number <= document.numPages; number += 1) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    const text = items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : '')).join('');
    builder.anchor(`page=${number}`);
    if (text.trim() !== '') builder.add(`${text.trim()}\n\n`);
    page.cleanup();
  }
  return builder.build(await findTitle(document));
}
