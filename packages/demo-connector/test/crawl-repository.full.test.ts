import { execFileSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createRepository } from '../src/git.js';
import { startCrawls } from './crawls.js';

let crawls: Awaited<ReturnType<typeof startCrawls>>;

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

beforeAll(async () => {
  crawls = await startCrawls((parent) =>
    createRepository({
      repository: join(parent, 'project'),
      cacheDir: join(parent, 'mirrors'),
      without: 'left/',
      environment: process.env,
    }),
  );
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
  expect(run).toMatchObject({ outcome: 'completed', mode: 'full', items: 3, failed: 1 });
  expect(await crawls.read()).toEqual({
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
  expect(await crawls.read()).toMatchObject({
    'README.md': '# Dogs',
    'empty.txt': null,
    'uncommitted.md': 'no',
  });
  git('checkout', '--quiet', '--orphan', 'new');
  git('rm', '--quiet', '-r', '--cached', 'src');
  git('commit', '--quiet', '--message', 'rewritten');
  git('branch', '--force', 'trunk');
  git('gc', '--quiet', '--prune=now');
  expect(await crawls.run()).toMatchObject({ outcome: 'completed', items: 0, deleted: 1 });
  expect((await crawls.run()).log[0].message).toBe('Nothing has changed since the last run.');
});

test('a repository that is away fails the run with the words of Git', async () => {
  git('branch', '--move', 'new', 'elsewhere');
  git('symbolic-ref', 'HEAD', 'refs/heads/none');
  const run = await crawls.run();
  expect([run.outcome, run.attemptLog.at(-1).reason]).toEqual([
    'failed',
    expect.stringContaining('git fetch'),
  ]);
});
