import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const DIST = join(import.meta.dirname, '../dist');
const ASSETS = join(DIST, 'assets');
/** UI-5 */
const FIRST_LOAD_MAX_BYTES = 180_000;

const html = readFileSync(join(DIST, 'index.html'), 'utf8');
const files = readdirSync(ASSETS);
const getSize = (name: string): number => statSync(join(ASSETS, `${name}.gz`)).size;

test('the page has no inline script or style, and refers to no other host', () => {
  expect(html).not.toMatch(/<style|<script(?![^>]*src=)|style="|https?:\/\//);
});

test('every text file also exists in brotli and gzip', () => {
  const texts = files.filter((name) => /\.(?:js|css|svg)$/.test(name));
  expect(texts.length).toBeGreaterThan(3);
  for (const name of texts) expect(files).toEqual(expect.arrayContaining([`${name}.br`, `${name}.gz`]));
});

/** The files that a browser reads before a file can run: what it imports, and what that imports. */
function collectImports(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  if (!name.endsWith('.js')) return found;
  const code = readFileSync(join(ASSETS, name), 'utf8');
  for (const [, imported = ''] of code.matchAll(/(?:from|import)\s*["'`]\.\/([\w.-]+\.js)["'`]/g))
    collectImports(imported, found);
  return found;
}

const source = readFileSync(join(import.meta.dirname, '../src/screens.ts'), 'utf8');
const screens = [...source.matchAll(/import\('\.\/screens\/.+\/([\w-]+)\.tsx'\)/g)].map(
  ([, name = '']) => name,
);

test('every screen is measured', () => {
  expect(screens).toHaveLength(source.match(/\bpath: '/g)?.length ?? 0);
});

test.each(screens)(
  `the first load of the screen %s is at most ${FIRST_LOAD_MAX_BYTES} bytes in gzip`,
  (screen) => {
    const named = [...html.matchAll(/\/assets\/([\w.-]+)/g)].map(([, name = '']) => name);
    // The name of a chunk ends in a hash of eight characters. The chunk of a screen's texts may be called the same.
    const chunks = files.filter((name) => new RegExp(`^${screen}-.{8}\\.js$`).test(name));
    expect(chunks).not.toEqual([]);
    for (const chunk of chunks) {
      const loaded = new Set<string>();
      for (const name of [...named, chunk]) collectImports(name, loaded);
      expect(loaded.size).toBeGreaterThan(2);
      const total = [...loaded].reduce((sum, name) => sum + getSize(name), 0);
      expect(total).toBeLessThanOrEqual(FIRST_LOAD_MAX_BYTES);
    }
  },
);
