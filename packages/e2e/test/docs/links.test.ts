import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listFiles, read, root } from './files.js';

const documents = listFiles('.', (path) => path.endsWith('.md'));

/** Removes code, in which brackets are not links. */
const withoutCode = (markdown: string): string =>
  markdown.replaceAll(/^( *)```.*?^\1```/gms, '').replaceAll(/`[^`\n]*`/g, 'code');

/** Returns the anchor that GitHub gives to a heading. */
const toAnchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const getAnchors = (path: string): string[] =>
  [
    ...read(path)
      .replaceAll(/^```.*?^```/gms, '')
      .matchAll(/^#+ (.+)$/gm),
  ].map(([, heading = '']) => toAnchor(heading));

function findFault(document: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? document : join(dirname(document), path);
  if (!existsSync(join(root, target))) return `${document}: ${link} does not exist`;
  if (anchor === undefined || !statSync(join(root, target)).isFile()) return undefined;
  return getAnchors(target).includes(anchor) ? undefined : `${document}: ${link} has no such heading`;
}

test('every relative link leads to an existing file and heading', () => {
  const links = documents.flatMap((document) =>
    [...withoutCode(read(document)).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(
      ([, link = '']) => [document, link] as const,
    ),
  );
  expect(links.length).toBeGreaterThan(50);
  expect(links.flatMap(([document, link]) => findFault(document, link) ?? [])).toEqual([]);
});
