import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createRepository } from '../src/git.js';
import { startCrawls } from './crawls.js';

let crawls: Awaited<ReturnType<typeof startCrawls>>;

const OFFICE_FILES = join(import.meta.dirname, '../../file-text/test/files');

const git = (...args: string[]): string => {
  const identity = [
    '-c',
    'user.name=Test',
    '-c',
    'user.email=test@example.com',
    '-c',
    'commit.gpgsign=false',
  ];
  const options = { cwd: join(crawls.parent, 'project'), encoding: 'utf8' as const };
  return execFileSync('git', [...identity, ...args], { ...options, stdio: ['ignore', 'pipe', 'ignore'] });
};
const commit = (): void => {
  git('add', '--all');
  git('commit', '--quiet', '--message', 'change');
};

const openRepository = (parent: string, without?: string, repository = join(parent, 'project')) =>
  createRepository({ repository, cacheDir: join(parent, 'mirrors'), without, environment: process.env });
const { signal } = new AbortController();

beforeAll(async () => {
  crawls = await startCrawls((parent) => openRepository(parent, 'left/'));
  await mkdir(join(crawls.parent, 'project'));
  git('init', '--quiet', '--initial-branch', 'trunk');
});
afterAll(() => crawls.close());

test('brings the text files of the last commit, whatever their names are', async () => {
  await crawls.write('project/README.md', '# Cats');
  await crawls.write('project/src/a b\n"ü".ts', 'export const cats = 1;\n');
  await crawls.write('project/empty.txt', '');
  await crawls.write('project/left/out.md', 'no');
  await crawls.write('project/image.png', Buffer.from([0, 1, 2]));
  await crawls.write('project/large.txt', 'a'.repeat(1_100_000));
  commit();
  await crawls.write('project/uncommitted.md', 'no');
  const run = await crawls.run();
  expect(run).toMatchObject({ mode: 'full', items: 3, failed: 1 });
  expect(crawls.read()).toEqual({
    'README.md': '# Cats',
    'empty.txt': '',
    'src/a b\n"ü".ts': 'export const cats = 1;\n',
  });
});

test('an incremental crawl follows commits, also when history was rewritten', async () => {
  await crawls.write('project/README.md', '# Dogs');
  git('rm', '--quiet', 'empty.txt');
  commit();
  expect(await crawls.run()).toMatchObject({ mode: 'incremental', items: 2, deleted: 1 });
  expect(crawls.read()).toMatchObject({
    'README.md': '# Dogs',
    'empty.txt': null,
    'uncommitted.md': 'no',
  });
  git('checkout', '--quiet', '--orphan', 'new');
  git('rm', '--quiet', '-r', '--cached', 'src');
  git('commit', '--quiet', '--message', 'rewritten');
  git('branch', '--force', 'trunk');
  git('gc', '--quiet', '--prune=now');
  expect(await crawls.run()).toMatchObject({ items: 0, deleted: 1 });
  expect((await crawls.run()).log[0]).toBe('Nothing has changed since the last run.');
});

test('a file that becomes binary has no text any more', async () => {
  await crawls.write('project/README.md', '# Birds');
  commit();
  await crawls.run();
  expect(crawls.read()).toMatchObject({ 'README.md': '# Birds' });
  await crawls.write('project/README.md', Buffer.from([0, 1, 2]));
  commit();
  expect(await crawls.run()).toMatchObject({ deleted: 1 });
  expect(crawls.read()).toMatchObject({ 'README.md': null });
});

test('CRAWL-54 reads PDF and Office files and HTML, and an encrypted file fails by itself', async () => {
  const copy = async (name: string) =>
    crawls.write(`project/${name}`, await readFile(join(OFFICE_FILES, name)));
  for (const name of ['leave.pdf', 'handbook.docx', 'encrypted.pdf']) await copy(name);
  await crawls.write('project/page.html', '<h1>Owls</h1><script>hidden()</script><p>They <b>hoot</b>.</p>');
  commit();
  const run = await crawls.run();
  expect(run).toMatchObject({ items: 3, failed: 2 });
  expect(run.log.join()).toContain('encrypted.pdf: It is encrypted with a password');
  const texts = crawls.read();
  expect(texts['leave.pdf']).toContain('Page 1');
  expect(texts['handbook.docx']).toMatch(/^#+ /m);
  expect(texts['page.html']).toContain('# Owls');
  expect(texts['page.html']).not.toContain('hidden');
  expect(texts).not.toHaveProperty(['encrypted.pdf']);
  // It stays encrypted until it changes, so nothing is looked at again for it.
  expect((await crawls.run()).log[0]).toBe('Nothing has changed since the last run.');
});

test('another part of the same commit is another version', async () => {
  const list = async (without?: string) =>
    (await openRepository(crawls.parent, without).list(signal)).version;
  expect(new Set([await list(), await list('left/'), await list('src/')]).size).toBe(3);
  expect(await list('left/')).toBe(await list('left/'));
});

test('CRAWL-60 the repository says who may find what, and the file that says so is no document', async () => {
  await crawls.write('project/board/plans.md', 'Plans');
  await crawls.write('project/.access.yaml', "'**': everyone\nboard: [{kind: group, id: Board}]");
  commit();
  await crawls.run();
  expect(crawls.readAccess()).toMatchObject({ 'board/plans.md': 'Board', 'uncommitted.md': 'everyone' });
  expect(crawls.read()).not.toHaveProperty(['.access.yaml']);
  await crawls.write('project/.access.yaml', "'**': everyone\nboard: [{kind: group, id: Staff}]");
  commit();
  expect(await crawls.run()).toMatchObject({ mode: 'incremental', items: 1 });
  expect(crawls.readAccess()).toMatchObject({ 'board/plans.md': 'Staff' });
  await crawls.write('project/.access.yaml', 'board: everyone\nboard: []');
  commit();
  await expect(crawls.run()).rejects.toThrow('.access.yaml: Map keys must be unique at line 2, column 1');
  expect(new Set(Object.values(crawls.readAccess()))).toEqual(new Set(['']));
  await rm(join(crawls.parent, 'project/.access.yaml'));
  await symlink('board/plans.md', join(crawls.parent, 'project/.access.yaml'));
  commit();
  await expect(crawls.run()).rejects.toThrow('.access.yaml: It cannot be read');
  expect(new Set(Object.values(crawls.readAccess()))).toEqual(new Set(['']));
  git('rm', '--quiet', '.access.yaml');
  commit();
  await crawls.run();
  expect(new Set(Object.values(crawls.readAccess()))).toEqual(new Set(['everyone']));
});

test('reading fails with the words of Git, rather than with nothing', async () => {
  const repository = openRepository(crawls.parent);
  const { entries } = await repository.list(signal);
  await rm(join(crawls.parent, 'mirrors'), { recursive: true });
  await expect(repository.read(entries, signal)).rejects.toThrow(/^git cat-file: .*No such file/);
});

test('a server that does not answer is given up when the run is over', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `git://127.0.0.1:${(server.address() as AddressInfo).port}/project`;
  const over = new AbortController();
  server.on('connection', () => over.abort(new Error('over')));
  await expect(openRepository(crawls.parent, undefined, url).list(over.signal)).rejects.toThrow('over');
  server.close();
});

test('a repository that is unavailable fails the run with the words of Git', async () => {
  git('branch', '--move', 'new', 'elsewhere');
  git('symbolic-ref', 'HEAD', 'refs/heads/none');
  await expect(crawls.run()).rejects.toThrow('git fetch');
});
