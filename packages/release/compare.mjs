// Compares what is public with the last release, the newest tag such as v0.1.0: docs/versions.md says what that is.
//
//   node packages/release/compare.mjs [root of a clone]
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, runMain, SetupError } from '../config/setup.mjs';

const DOCUMENTS = ['identity', 'mail', 'crawl'].map((service) => `services/${service}/openapi.json`);
const SETTINGS = '.env.example';
const CHART_VALUES = 'k8s/chart/values.schema.json';
/** The names that each entry of each npm package exports. */
export const EXPORTS = 'packages/release/exports.json';

const run = promisify(execFile);
const toParts = (version) => version.split(/[.-]/, 3).map(Number);

/** Before 1.0.0 a minor version may break (https://semver.org, 4). */
function mayBreak(last, version) {
  const [[lastMajor, lastMinor], [major, minor]] = [toParts(last), toParts(version)];
  return major !== lastMajor || (major === 0 && minor !== lastMinor);
}

async function findLastRelease(git, version) {
  const tags = await git('tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-version:refname');
  return tags.split('\n').find((tag) => /^v\d+\.\d+\.\d+$/.test(tag) && tag !== `v${version}`);
}

/** @returns {Promise<string[]>} the changes that break clients */
async function compareDocument(before, after) {
  try {
    await run('oasdiff', ['breaking', '--fail-on', 'ERR', before, after], { maxBuffer: 16 * 1_048_576 });
    return [];
  } catch (error) {
    if (error.code === 1) return [error.stdout.trim()];
    throw new SetupError(
      error.code === 'ENOENT'
        ? 'There is no oasdiff on the PATH. Run .ci/openapi-tools <folder>, and put the folder on the PATH.'
        : `oasdiff failed:\n${error.stdout}${error.stderr}`,
    );
  }
}

function listMissing(what, before, after) {
  if (before.length === 0)
    throw new SetupError(`${what} is looked for, but the last release seems to have none.`);
  const left = new Set(after);
  return before.filter((name) => !left.has(name)).map((name) => `${what} is gone: ${name}`);
}
const listSettings = (text) => [...text.matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name);
const listExports = (text) =>
  Object.entries(JSON.parse(text)).flatMap(([entry, names]) => names.map((name) => `${name} of ${entry}`));
/** The values that the schema of the chart knows, such as `images.tag`. */
function listValues(schema, parent = '') {
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) => [
    `${parent}${name}`,
    ...listValues(child, `${parent}${name}.`),
  ]);
}

/** @returns {Promise<{last?: string, breaking: string[]}>} `last` is the tag of the last release, if there is one */
async function compareWithLastRelease(root) {
  const git = async (...args) => (await run('git', args, { cwd: root, maxBuffer: 64 * 1_048_576 })).stdout;
  const read = (file) => readFile(join(root, file), 'utf8');
  const { version } = JSON.parse(await read('package.json'));
  const last = await findLastRelease(git, version);
  if (last === undefined) return { version, breaking: [] };
  const folder = await mkdtemp(join(tmpdir(), 'platform-compare-'));
  const breaking = [];
  try {
    for (const document of DOCUMENTS) {
      const before = join(folder, 'before.json');
      await writeFile(before, await git('show', `${last}:${document}`));
      breaking.push(...(await compareDocument(before, join(root, document))));
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  const both = async (file, list) => [list(await git('show', `${last}:${file}`)), list(await read(file))];
  breaking.push(...listMissing('A variable', ...(await both(SETTINGS, listSettings))));
  const values = await both(CHART_VALUES, (text) => listValues(JSON.parse(text)));
  breaking.push(...listMissing('A value of the chart', ...values));
  breaking.push(...listMissing('An export', ...(await both(EXPORTS, listExports))));
  return { version, last, breaking };
}

/** @throws SetupError where more has changed than the version may. @returns {Promise<string>} what was found */
export async function assertCompatible(root = ROOT) {
  const { version, last, breaking } = await compareWithLastRelease(root);
  if (last === undefined) return 'There is no release before this one.';
  if (breaking.length === 0) return `Nothing breaks what ${last} promises.`;
  const list = `${breaking.join('\n')}\n\n`;
  if (!mayBreak(last.slice(1), version))
    throw new SetupError(
      `${list}This breaks what ${last} promises, which ${version} may not: keep the old beside the new, or raise the ` +
        'version in package.json (docs/versions.md).',
    );
  const changes = await readFile(join(root, 'CHANGELOG.md'), 'utf8');
  const [section = ''] = changes.split(/^## /m).filter((part) => part.startsWith(`${version} `));
  if (!section.includes('**Breaking**'))
    throw new SetupError(
      `${list}This breaks what ${last} promises: list it under **Breaking** in the changelog of ${version}.`,
    );
  return `${list}All of this is new since ${last}, and the changelog says so.`;
}

if (import.meta.filename === process.argv[1])
  await runMain(async () => {
    process.stdout.write(`${await assertCompatible(resolve(process.argv[2] ?? ROOT))}\n`);
  });
