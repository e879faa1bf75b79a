import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp, createLogger, standardErrors, VERSION } from '@platform/service-kit';
import { consoleRoutes, SCREEN_PATHS } from '../../src/console/routes.js';
import { tokens } from '../../src/sign-in/page-kit/style.js';

describe('the files of the console', () => {
  let folder: string;
  let app: Awaited<ReturnType<typeof createApp>>['app'];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'console-'));
    await mkdir(join(folder, 'assets'));
    await writeFile(join(folder, 'index.html'), '<!doctype html><meta name="version" content="development">');
    await writeFile(join(folder, 'assets/main-1a2b.js'), 'export {};');
    await writeFile(join(folder, 'assets/main-1a2b.js.br'), 'as brotli');
    ({ app } = await createApp({
      service: 'identity',
      title: 'Identity',
      description: 'The console only.',
      errors: standardErrors,
      log: createLogger('identity', 'silent'),
    }));
    await consoleRoutes(app, folder, '0123456789abcdef');
  });
  afterAll(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });

  test.each(['/', ...SCREEN_PATHS, '/crawls/connectors/wiki_1?x=y'])(
    '%s is the page of the console',
    async (url) => {
      const { statusCode, headers, body } = await app.inject({ url });
      expect([statusCode, headers['content-type'], body]).toEqual([
        200,
        'text/html; charset=utf-8',
        `<!doctype html><meta name="version" content="${VERSION} (0123456)">`,
      ]);
      expect(headers['cache-control']).toBe('no-cache');
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain(`default-src 'none'; script-src 'self'; style-src 'self' 'sha256-`);
      expect(policy).toContain(`frame-ancestors 'none'`);
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
    },
  );

  test('the page is revalidated by its ETag without a body', async () => {
    const { etag = '' } = (await app.inject({ url: '/' })).headers;
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    const again = await app.inject({ url: '/account', headers: { 'if-none-match': etag } });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  });

  test('an asset is immutable and sent precompressed', async () => {
    const url = '/assets/main-1a2b.js';
    const plain = await app.inject({ url });
    expect([plain.statusCode, plain.body]).toEqual([200, 'export {};']);
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(plain.headers['x-content-type-options']).toBe('nosniff');
    const compressed = await app.inject({ url, headers: { 'accept-encoding': 'br' } });
    expect([compressed.headers['content-encoding'], compressed.body]).toEqual(['br', 'as brotli']);
  });

  test.each([
    '/assets/none.js',
    '/assets/..%2findex.html',
    '/assets/main-1a2b.js.br',
    '/nowhere',
    '/accounts',
  ])('%s responds with 404', async (url) => {
    const { statusCode, headers } = await app.inject({ url });
    expect([statusCode, headers['content-type']]).toEqual([404, 'application/json; charset=utf-8']);
  });

  test('the page accepts no other method', async () => {
    expect((await app.inject({ method: 'POST', url: '/account' })).statusCode).toBe(405);
  });
});

test('the pages of the sign-in have the values of the tokens of the console', async () => {
  const path = join(import.meta.dirname, '../../../../packages/console/src/styles/tokens.css');
  const declared = [...(await readFile(path, 'utf8')).matchAll(/--([\w-]+): ([^;]+);/g)];
  expect(Object.fromEntries(declared.map(([, name, value]) => [name, value]))).toMatchObject(tokens);
});
