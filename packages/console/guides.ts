import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lexer, type Token, type Tokens } from 'marked';
import type { Plugin } from 'vite';
import type { Block, Guide, GuideTitle, Inline } from './src/screens/guides/guide.ts';

/*
 * The guides for users become screens of the console: docs/connect is read at build time and imported as data, because the
 * content security policy allows no HTML from strings. What the screens can't show fails the build.
 */

const FOLDER = new URL('../../docs/connect/', import.meta.url);
const INDEX = 'virtual:guides';
const RESOLVED_INDEX = `\0${INDEX}`;

/** The id of a heading, as GitHub makes it: links between the guides use these. */
const toAnchor = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};
const unescape = (text: string): string =>
  text.replace(/&(?:amp|lt|gt|quot|#39);/g, (found) => ENTITIES[found] ?? found);

/** Where a link of a guide leads: to a guide, or outside. Undefined: into the repository, which readers here don't have. */
function toTarget(href: string): string | undefined {
  const [, guide, anchor = ''] = /^([\w-]+)\.md(#[\w-]+)?$/.exec(href) ?? [];
  if (guide !== undefined) return `/guides/${guide}${anchor}`;
  return /^https?:|^#/.test(href) ? href : undefined;
}

const toText = (inlines: readonly Inline[]): string =>
  inlines.map((one) => (typeof one === 'string' ? one : toText(one.of))).join('');

function toInline(token: Token): Inline[] {
  const children = (): Inline[] => ('tokens' in token ? toInlines(token.tokens) : []);
  switch (token.type) {
    case 'text':
    case 'escape':
      return 'tokens' in token && token.tokens ? children() : [unescape((token as Tokens.Text).text)];
    case 'strong':
    case 'em':
      return [{ is: token.type, of: children() }];
    case 'codespan':
      return [{ is: 'code', of: [unescape((token as Tokens.Codespan).text)] }];
    case 'br':
      return ['\n'];
    case 'link': {
      const to = toTarget((token as Tokens.Link).href);
      return to === undefined ? children() : [{ is: 'link', to, of: children() }];
    }
    default:
      throw new Error(`A guide can't have a ${token.type} inside a text: ${token.raw}`);
  }
}
const toInlines = (tokens: readonly Token[] = []): Inline[] => tokens.flatMap(toInline);

function toBlock(token: Token): Block[] {
  switch (token.type) {
    case 'space':
      return [];
    case 'html':
      // The marks of generated parts.
      if (token.raw.startsWith('<!--')) return [];
      break;
    case 'heading': {
      const { depth, tokens } = token as Tokens.Heading;
      const of = toInlines(tokens);
      return [{ is: 'heading', depth, anchor: toAnchor(toText(of)), of }];
    }
    case 'paragraph':
    case 'text':
      return [{ is: 'paragraph', of: toInlines((token as Tokens.Paragraph).tokens ?? [token]) }];
    case 'code':
      return [{ is: 'code', text: (token as Tokens.Code).text }];
    case 'blockquote':
      return [{ is: 'quote', of: toBlocks((token as Tokens.Blockquote).tokens) }];
    case 'list': {
      const { ordered, items } = token as Tokens.List;
      return [{ is: ordered ? 'steps' : 'list', of: items.map((item) => toBlocks(item.tokens)) }];
    }
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      const toCells = (cells: readonly Tokens.TableCell[]) => cells.map(({ tokens }) => toInlines(tokens));
      return [{ is: 'table', header: toCells(header), rows: rows.map(toCells) }];
    }
    default:
  }
  throw new Error(`A guide can't have a ${token.type}: ${token.raw}`);
}
const toBlocks = (tokens: readonly Token[]): Block[] => tokens.flatMap(toBlock);

/** @throws when the guide has no title, or something that the screens can't show. */
function readGuide(markdown: string): Guide {
  const [title, ...blocks] = toBlocks(lexer(markdown));
  if (title?.is !== 'heading' || title.depth !== 1) throw new Error('A guide begins with its title');
  return { title: toText(title.of), blocks };
}

/** Lists the guides by their titles. */
export async function listGuides(): Promise<GuideTitle[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.md'));
  const guides = await Promise.all(
    files.map(async (file) => {
      const { title } = readGuide(await readFile(new URL(file, FOLDER), 'utf8'));
      return { id: basename(file, '.md'), title };
    }),
  );
  return guides.toSorted((one, other) => one.title.localeCompare(other.title, 'en'));
}

/** Imports each guide as data, and `virtual:guides` as the list of them. */
export const guides = (): Plugin => ({
  name: 'guides',
  resolveId: (id) => (id === INDEX ? RESOLVED_INDEX : undefined),
  load: async (id) =>
    id === RESOLVED_INDEX ? `export const guides = ${JSON.stringify(await listGuides())};` : undefined,
  transform(code, id) {
    if (!id.startsWith(fileURLToPath(FOLDER)) || !id.endsWith('.md')) return undefined;
    return { code: `export const guide = ${JSON.stringify(readGuide(code))};`, map: null };
  },
});
