import fs, { mkdir, rename, rm, symlink, utimes } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { createFolder } from '../src/folder.js';
import { startCrawls } from './crawls.js';

let crawls: Awaited<ReturnType<typeof startCrawls>>;
beforeAll(async () => {
  crawls = await startCrawls((parent) => createFolder(join(parent, 'pages')));
});
afterEach(() => {
  jest.restoreAllMocks();
  syncBuiltinESMExports();
});
afterAll(() => crawls.close());

/** Refuses access to a path, even to root. */
function refuse(method: 'readdir' | 'open', path: string): void {
  const original = fs[method] as (...args: unknown[]) => Promise<unknown>;
  const refused = async (...args: unknown[]) => {
    if (args[0] === join(crawls.parent, path)) throw Object.assign(new Error('refused'), { code: 'EACCES' });
    return original(...args);
  };
  jest.spyOn(fs, method).mockImplementation(refused as never);
  // So that modules that import it by its name get it too.
  syncBuiltinESMExports();
}

test('brings the documents of a folder, and nothing else, follows no symbolic link, and counts', async () => {
  await crawls.write('pages/cats.md', 'Cats purr.');
  await crawls.write('pages/deep/er/dogs.html', '<p>Dogs bark.');
  await crawls.write('pages/notes.txt', 'notes');
  for (const path of ['image.png', '.git/config.md', 'node_modules/a/README.md'])
    await crawls.write(`pages/${path}`, 'no');
  await crawls.write('pages/large.md', 'a'.repeat(1_100_000));
  await crawls.write('outside/secret.md', 'password');
  await symlink(join(crawls.parent, 'outside/secret.md'), join(crawls.parent, 'pages/link.md'));
  await symlink(join(crawls.parent, 'outside'), join(crawls.parent, 'pages/linked'));
  const run = await crawls.run();
  expect(run).toMatchObject({ mode: 'full', items: 3, failed: 1, bytes: 28 });
  expect(run.log[0]).toBe('Too large: large.md');
  expect(crawls.read()).toEqual({
    'cats.md': 'Cats purr.',
    'deep/er/dogs.html': 'Dogs bark.',
    'notes.txt': 'notes',
  });
});

test('an incremental crawl brings what is new, changed or gone', async () => {
  await crawls.write('pages/birds.md', 'Birds sing.');
  // A change that keeps size and modification time.
  await crawls.write('pages/cats.md', 'Cats meow.');
  await utimes(join(crawls.parent, 'pages/cats.md'), 0, 0);
  await rename(join(crawls.parent, 'pages/notes.txt'), join(crawls.parent, 'pages/renamed.txt'));
  const changed = await crawls.run();
  expect(changed).toMatchObject({ mode: 'incremental', items: 3, deleted: 1, failed: 1 });
  // The page of the run shows them by their names.
  expect(changed.log.slice(1)).toEqual([
    'Changed: birds.md',
    'Changed: cats.md',
    'Changed: renamed.txt',
    'Gone: notes.txt',
  ]);
  expect(crawls.read()).toEqual({
    'birds.md': 'Birds sing.',
    'cats.md': 'Cats meow.',
    'deep/er/dogs.html': 'Dogs bark.',
    'notes.txt': null,
    'renamed.txt': 'notes',
  });
  const unchanged = await crawls.run();
  expect(unchanged).toMatchObject({ items: 0, deleted: 0 });
  expect(unchanged.log[0]).toBe('Nothing has changed since the last run.');
});

test('a file that becomes a symbolic link is gone', async () => {
  await rm(join(crawls.parent, 'pages/birds.md'));
  await symlink(join(crawls.parent, 'outside/secret.md'), join(crawls.parent, 'pages/birds.md'));
  expect(await crawls.run()).toMatchObject({ items: 0, deleted: 1 });
  expect(crawls.read()).toMatchObject({ 'birds.md': null });
});

test('a full crawl sees everything again', async () => {
  await crawls.write('pages/fish.md', 'Fish swim.');
  expect(await crawls.run('full')).toMatchObject({ mode: 'full', items: 4 });
});

test.each(['full', undefined] as const)(
  'what cannot be read keeps its text, counts as failed, and is tried again: mode %s',
  async (mode) => {
    const before = crawls.read();
    refuse('readdir', 'pages/deep/er');
    await crawls.write('pages/cats.md', `Cats hiss, ${mode}.`);
    refuse('open', 'pages/cats.md');
    const run = await crawls.run(mode);
    // With the file that is too large.
    expect(run.failed).toBe(3);
    expect(run.log.slice(1)).toEqual([
      'Could not be read: deep/er',
      'Could not be read: cats.md',
      ...(mode === 'full' ? ['Not everything could be read, so nothing is dropped.'] : []),
    ]);
    expect(crawls.read()).toEqual(before);
    jest.restoreAllMocks();
    syncBuiltinESMExports();
    // A full crawl does not know what it has not seen, so that is new to the next one.
    const items = mode === 'full' ? 2 : 1;
    expect(await crawls.run()).toMatchObject({ mode: 'incremental', items, deleted: 0, failed: 1 });
    expect(crawls.read()).toEqual({ ...before, 'cats.md': `Cats hiss, ${mode}.` });
  },
);

test('a folder that is unavailable fails the run, and deletes nothing', async () => {
  const before = crawls.read();
  await rename(join(crawls.parent, 'pages'), join(crawls.parent, 'away'));
  await expect(crawls.run()).rejects.toThrow('ENOENT');
  expect(crawls.read()).toEqual(before);
  await mkdir(join(crawls.parent, 'pages'));
});

test('another worker, without the list of what was sent, sends everything again and drops what is gone', async () => {
  await crawls.write('pages/one.md', 'One.');
  await crawls.write('pages/two.md', 'Two.');
  await crawls.run('full');
  expect(crawls.read()).toMatchObject({ 'one.md': 'One.', 'two.md': 'Two.' });
  await rm(join(crawls.parent, 'pages/one.md'));
  crawls.moveToOtherFolder();
  const run = await crawls.run();
  expect(run).toMatchObject({ mode: 'incremental', items: 1 });
  expect(run.log[0]).toContain('everything is sent again');
  expect(crawls.read()).toMatchObject({ 'one.md': null, 'two.md': 'Two.' });
  expect((await crawls.run()).log[0]).toBe('Nothing has changed since the last run.');
});

test('reads PDF and Office files, and says of others why it does not', async () => {
  const load = (name: string) => fs.readFile(new URL(`../../file-text/test/files/${name}`, import.meta.url));
  await crawls.write('pages/office/leave.pdf', await load('leave.pdf'));
  await crawls.write('pages/office/costs.xlsx', await load('costs.xlsx'));
  await crawls.write('pages/office/secret.pdf', await load('encrypted.pdf'));
  await crawls.write('pages/office/half.docx', (await load('handbook.docx')).subarray(0, 4_000));
  const { failed, log } = await crawls.run();
  expect(failed).toBeGreaterThanOrEqual(2);
  expect(log).toContain('office/secret.pdf: It is encrypted with a password');
  expect(log).toContainEqual(expect.stringMatching(/^office\/half\.docx: It is broken: /));
  expect(crawls.read()).toMatchObject({
    'office/costs.xlsx': expect.stringContaining('Laptop\t1200'),
    'office/leave.pdf': expect.stringMatching(/^## Page 1\n\nPage 1: thirty days of leave\n\n## Page 2\n/),
  });
  expect(crawls.read()).not.toHaveProperty('office/secret.pdf');
  // They stay so until they change, so nothing is looked at again for them.
  expect((await crawls.run()).log).toEqual(['Nothing has changed since the last run.']);
});

describe('CRAWL-60 who may find a document', () => {
  const BOARD = "'**': everyone\nboard: [{kind: group, id: Board}]";
  beforeAll(async () => {
    await rm(join(crawls.parent, 'pages'), { recursive: true });
    await crawls.write('pages/open.md', 'Open.');
    await crawls.write('pages/board/plans.md', 'Plans.');
    await crawls.write('pages/.access.yaml', BOARD);
    await crawls.run('full');
  });

  test('is said by a file beside the documents', () => {
    expect(crawls.readAccess()).toEqual({ 'board/plans.md': 'Board', 'open.md': 'everyone' });
  });

  test('changes with that file alone, and only what has changed is sent again', async () => {
    await crawls.write('pages/.access.yaml', BOARD.replace('Board', 'Staff'));
    expect(await crawls.run()).toMatchObject({ mode: 'incremental', items: 1 });
    expect(crawls.readAccess()).toEqual({ 'board/plans.md': 'Staff', 'open.md': 'everyone' });
    expect((await crawls.run()).log[0]).toBe('Nothing has changed since the last run.');
  });

  test.each(['incremental', 'full'] as const)('is nobody while the file is broken, and the run fails and says where: mode %s', async (mode) => {
    await crawls.write('pages/board/.access.yaml', "'**': everyone");
    await crawls.run();
    expect(crawls.readAccess()).toEqual({ 'board/plans.md': 'everyone', 'open.md': 'everyone' });
    await crawls.write('pages/board/.access.yaml', "'**': [everyone");
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(crawls.run(mode)).rejects.toThrow(/board\/\.access\.yaml: .* line 1, column/);
      expect(crawls.readAccess()).toEqual({ 'board/plans.md': '', 'open.md': 'everyone' });
    }
    await rm(join(crawls.parent, 'pages/board/.access.yaml'));
    await crawls.run();
    expect(crawls.readAccess()).toEqual({ 'board/plans.md': 'Staff', 'open.md': 'everyone' });
  }); // oxfmt-ignore

  test.each(['a symbolic link', 'a folder'])('is nobody where the file is %s', async (what) => {
    const path = join(crawls.parent, 'pages/board/.access.yaml');
    await crawls.write('elsewhere.yaml', "'**': everyone");
    await (what === 'a folder' ? mkdir(path) : symlink(join(crawls.parent, 'elsewhere.yaml'), path));
    await expect(crawls.run()).rejects.toThrow('board/.access.yaml: It cannot be read');
    expect(crawls.readAccess()).toEqual({ 'board/plans.md': '', 'open.md': 'everyone' });
    await rm(path, { recursive: true });
    await crawls.run();
  });

  test.each(['incremental', 'full'] as const)(
    'is not kept as it was for a document that cannot be read: mode %s',
    async (mode) => {
      await crawls.write('pages/.access.yaml', "'**': everyone");
      await crawls.run();
      await crawls.write('pages/.access.yaml', "'**': everyone\nopen.md: [{kind: group, id: Board}]");
      refuse('open', 'pages/open.md');
      expect(await crawls.run(mode)).toMatchObject({ failed: 1, deleted: 1 });
      expect(crawls.readAccess()).toEqual({ 'board/plans.md': 'everyone' });
      jest.restoreAllMocks();
      syncBuiltinESMExports();
      await crawls.run();
      expect(crawls.readAccess()).toEqual({ 'board/plans.md': 'everyone', 'open.md': 'Board' });
    },
  );
});
