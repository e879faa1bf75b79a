import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import optimizeLocales from '@react-aria/optimize-locales-plugin';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { guides } from './guides.ts';

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** Writes `.br` and `.gz` beside every text file, so that no request has to wait for a compressor. */
const precompress = (): Plugin => ({
  name: 'precompress',
  apply: 'build',
  async writeBundle({ dir = 'dist' }) {
    const files = await readdir(dir, { recursive: true });
    const texts = files.filter((file) => /\.(?:js|css|html|svg)$/.test(file));
    await Promise.all(texts.map((file) => compressFile(join(dir, file))));
  },
});

async function compressFile(path: string): Promise<void> {
  const content = await readFile(path);
  const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
  await writeFile(`${path}.br`, await compressBrotli(content, { params }));
  await writeFile(`${path}.gz`, await compressGzip(content, { level: 9 }));
}

/** Where `vite` sends what it doesn't serve itself: a running platform. */
const platform = process.env['PLATFORM_URL'] ?? 'http://localhost:8080';

/** What almost every screen needs is one file, with all that it imports: many small ones compress worse by 14 kB. */
const BASE =
  /src\/(?:main|shell\/shell|ui\/(?:badge|data-table|filters|menu|page|query-view|time|use-list))\.tsx?$/;

/** The faces have names that the pages of the sign-in can know: they change with the versions of their packages. */
const { devDependencies } = JSON.parse(await readFile(new URL('package.json', import.meta.url), 'utf8')) as {
  devDependencies: Record<string, string>;
};
const FACES: Readonly<Record<string, string>> = {
  'inter-latin-wght-normal.woff2': `assets/inter-${devDependencies['@fontsource-variable/inter']}.woff2`,
  'jetbrains-mono-latin-wght-normal.woff2': `assets/jetbrains-mono-${devDependencies['@fontsource-variable/jetbrains-mono']}.woff2`,
};

export default defineConfig({
  plugins: [
    react(),
    guides(),
    { ...optimizeLocales.vite({ locales: ['en-US'] }), enforce: 'pre' } as Plugin,
    precompress(),
  ],
  server: { proxy: { '^/(api|mcp|sign-in|sign-out)': platform } },
  build: {
    // Browsers with `light-dark()`; for older ones it would be rewritten.
    target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    // The content security policy allows no data: URLs and no inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [{ name: 'base', test: BASE }] },
        assetFileNames: ({ names: [name = ''] }) => FACES[name] ?? 'assets/[name]-[hash][extname]',
      },
    },
  },
});
