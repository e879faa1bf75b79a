import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './chart.js';

const wildcards: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '*': '[^/]*' };

/** Converts a pattern of .dockerignore to an expression for the path and everything below it. */
const toExpression = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern.replace(/\*\*\/|\*|[.+^$()|]/g, (part) => wildcards[part] ?? `\\${part}`)}(?:/.*)?$`,
  );

/** The last matching pattern decides, as for the image builder. */
const patterns = readFileSync(join(root, '.dockerignore'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => ({
    isIgnored: !line.startsWith('!'),
    expression: toExpression(line.replace(/^!/, '')),
  }));
const isDockerIgnored = (path: string): boolean =>
  patterns.findLast(({ expression }) => expression.test(path))?.isIgnored ?? false;

const git = (args: readonly string[], input = ''): string[] =>
  execFileSync('git', args, { cwd: root, input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'] })
    .split('\0')
    .filter(Boolean);
function isGitIgnored(path: string): boolean {
  try {
    return git(['check-ignore', '--no-index', '-z', '--stdin'], `${path}\0`).length > 0;
  } catch {
    return false;
  }
}

// Sources without their history, as in a release, have no list of committed files.
const describeInGit = existsSync(join(root, '.git')) ? describe : describe.skip;

// oxfmt-ignore
describeInGit('the ignore files', () => {
  test('ignore no committed file, and keep out of images what git ignores', () => {
    expect(git(['ls-files', '-z', '--cached', '--ignored', '--exclude-standard'])).toEqual([]);
    const local = ['node_modules', 'packages/auth/node_modules', 'services/mail/dist/server.js', '.turbo/x', '.data/postgres', 'services/mail/src/generated/x.ts', 'packages/auth/tsconfig.build.tsbuildinfo', 'npm-debug.log', '.env'];
    expect(local.filter((path) => !isGitIgnored(path) || !isDockerIgnored(path))).toEqual([]);
    // Secrets that git does not track are kept out of the images, too.
    const secrets = ['.env.production', '.git/config', 'secrets/identity/admin-password'];
    expect(secrets.filter((path) => !isDockerIgnored(path))).toEqual([]);
  });
});
