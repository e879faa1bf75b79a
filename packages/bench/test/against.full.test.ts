import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareWithCommit, formatComparison } from '../src/runner/against.js';

const root = mkdtempSync(join(tmpdir(), 'bench-repository-'));
const git = (...args: string[]) =>
  execFileSync('git', [
    '-C',
    root,
    '-c',
    'user.name=Bench',
    '-c',
    'user.email=bench@example.com',
    ...args,
  ]).toString();

/** Commits a checkout whose build writes the benchmark program, which prints the figures. */
function commitFigures(lines: readonly string[]): string {
  const program = `console.log(${JSON.stringify(lines.join('\n'))}, process.argv[2]);`;
  const build = `require('node:fs').mkdirSync('packages/bench/dist', { recursive: true });
    require('node:fs').writeFileSync('packages/bench/dist/main.js', ${JSON.stringify(program)});`;
  writeFileSync(
    join(root, 'packages/config/run.mjs'),
    `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url); ${build}`,
  );
  git('add', '.');
  git('commit', '-qm', 'figures');
  return git('rev-parse', 'HEAD').trim();
}

beforeAll(() => {
  mkdirSync(join(root, 'packages/config'), { recursive: true });
  git('init', '-q');
});
afterAll(() => {
  rmSync(root, { recursive: true });
});

const compare = (commit: string) =>
  compareWithCommit({ root, commit, rounds: 2, args: ['auth'], progress: () => undefined });

test('compares the values that both checkouts print, and removes the earlier one', async () => {
  const earlier = commitFigures(['verify  0.4 ≥ 0.3 ✔  a note', 'gone  1 /s', '', 'missed: verify']);
  commitFigures(['verify  0.5 ≥ 0.3 ✔  a note', 'new  2 /s']);
  execFileSync(process.execPath, ['packages/config/run.mjs'], { cwd: root });
  const values = await compare(earlier);
  expect(values).toEqual([{ name: 'verify', earlier: 0.4, now: 0.5, ratio: 1.25 }]);
  expect(formatComparison(values, 'then').split('\n')[1]).toBe('verify  0.4   0.5  1.25');
  expect(git('worktree', 'list').trim().split('\n')).toHaveLength(1);
});

test('rejects an unknown commit', async () => {
  await expect(compare('unknown')).rejects.toThrow('there is no commit unknown');
});
