import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICES } from '@platform/local/services';
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

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}
const readManifest = (folder: string) =>
  JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest;

/**
 * Lists the folders that the image of a service is built from: its own, and those of the workspace packages that it
 * depends on.
 */
function listFolders(folder: string, found = new Set<string>()): Set<string> {
  if (found.has(folder)) return found;
  found.add(folder);
  const { dependencies, devDependencies } = readManifest(folder);
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
    if (version.startsWith('workspace:')) listFolders(name.replace('@platform/', 'packages/'), found);
  return found;
}

// Sources without their history, as in a release, have no list of committed files.
const describeInGit = existsSync(join(root, '.git')) ? describe : describe.skip;

describeInGit('the ignore files', () => {
  const tracked = git(['ls-files', '-z']);

  // prettier-ignore
  test.each(SERVICES.map(({ name }) => name))('ignore no file that the image of %s is built from', (service) => {
    const folders = [...listFolders(`services/${service}`)];
    expect(folders).toContain('packages/service-kit');
    const named = [...readFileSync(join(root, `services/${service}/Dockerfile`), 'utf8').matchAll(/^COPY (?!--)(.+) \S+$/gm)];
    const copied = named.flatMap(([, sources = '']) => sources.split(' ')).filter((source) => source !== '.');
    const read = tracked.filter((path) => !path.includes('/') || copied.includes(path) || folders.some((folder) => path.startsWith(`${folder}/`)));
    expect(read).toEqual(expect.arrayContaining([...copied, 'pnpm-lock.yaml', `services/${service}/src/server.ts`]));
    const left = ['.env.example'];
    expect(read.filter((path) => isDockerIgnored(path) && !left.includes(path))).toEqual([]);
  });

  // prettier-ignore
  test('ignore no committed file, and keep out of images what git ignores', () => {
    expect(git(['ls-files', '-z', '--cached', '--ignored', '--exclude-standard'])).toEqual([]);
    const local = ['node_modules', 'packages/auth/node_modules', 'services/mail/dist/server.js', '.turbo/x', '.data/postgres', 'services/mail/src/generated/x.ts', 'packages/auth/tsconfig.build.tsbuildinfo', 'npm-debug.log', '.env'];
    for (const path of local)
      expect([path, isDockerIgnored(path)]).toEqual([path, isGitIgnored(path)]);
    expect(local.filter((path) => !isGitIgnored(path))).toEqual([]);
    // Secrets that git does not track are kept out of the images, too.
    for (const path of ['.env.production', '.git/config', 'secrets/identity/admin-password'])
      expect([path, isDockerIgnored(path)]).toEqual([path, true]);
  });
});
