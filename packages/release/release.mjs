// Writes release/<version>/: everything that is published of a version. See `--help`.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { showStep } from '../config/progress.mjs';
import { ROOT, runMain, SetupError, toolEnv } from '../config/setup.mjs';
import { assertCurrentBases } from './bases.mjs';
import { packChart } from './chart.mjs';
import { assertCompatible, EXPORTS } from './compare.mjs';
import { writeComposeFile } from './compose-file.mjs';
import { buildImages } from './images.mjs';
import { npmPackages, packNpmPackage } from './npm-packages.mjs';
import { packPythonWheel } from './python-wheel.mjs';

const USAGE = `Usage: npm run release -- <version> [options]

Writes the artefacts of a version, SHA256SUMS and manifest.json into release/<version>/. The same commit gives the same
bytes. It publishes nothing.

  --rehearsal         accept uncommitted changes and a version that no package.json names, and leave the checks out
  --output <folder>   write there instead of release/<version>/; what is in it is replaced
  --source <url>      where the source code is published: it becomes the "repository" of the npm packages
  --images <prefix>   what the names of the images begin with, such as ghcr.io/acme; "localhost/platform" by default, which no registry resolves
  --without-images    leave the images out: they need Docker, and syft on the PATH (.ci/image-tools)
  --update-exports    renew packages/release/exports.json, which the next release is compared with
  --update-image-sizes
                      renew packages/release/image-sizes.json in the same way, though images have grown
  --help
`;

/** The form of https://semver.org, without build metadata: npm ignores it. */
const VERSION_FORM = /^\d+\.\d+\.\d+(?:-[\dA-Za-z.-]+)?$/;
/** The files that name the version. */
const VERSIONED = [
  'package.json',
  'packages/*/package.json',
  'services/*/package.json',
  'services/*/Dockerfile',
  'packages/service-kit/src/version.ts',
  'docker-bake.hcl',
  'k8s/chart/Chart.yaml',
];
const run = promisify(execFile);
const git = async (...args) => (await run('git', args, { cwd: ROOT })).stdout.trim();

function readArguments() {
  const options = {
    rehearsal: { type: 'boolean', default: false },
    output: { type: 'string' },
    source: { type: 'string' },
    images: { type: 'string', default: 'localhost/platform' },
    'without-images': { type: 'boolean', default: false },
    'update-exports': { type: 'boolean', default: false },
    'update-image-sizes': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  };
  let parsed;
  try {
    parsed = parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new SetupError(`${error.message}\n\n${USAGE}`);
  }
  const { values, positionals } = parsed;
  if (values.help) {
    process.stdout.write(USAGE);
    process.exit(0);
  }
  const [version = ''] = positionals;
  if (positionals.length !== 1 || !VERSION_FORM.test(version))
    throw new SetupError(`A version such as 0.1.0 is missing.\n\n${USAGE}`);
  const output = resolve(values.output ?? join(ROOT, 'release', version));
  return { ...values, version, output };
}

async function assertReleasable(version) {
  const changes = await git('status', '--porcelain');
  if (changes !== '')
    throw new SetupError(
      `A release is made from a commit, and these files differ from it:\n${changes}\n\n` +
        'Commit or remove them, or try it out with --rehearsal.',
    );
  const others = await git(
    'grep',
    '--files-without-match',
    '--fixed-strings',
    version,
    '--',
    ...VERSIONED,
  ).catch(() => '');
  if (others !== '')
    throw new SetupError(
      `These files do not name version ${version}: set it as docs/releasing.md says, and commit that first.\n${others}`,
    );
}

async function check() {
  try {
    await run(process.execPath, ['packages/config/check.mjs'], { cwd: ROOT, env: toolEnv() });
  } catch (error) {
    throw new SetupError(`${error.stdout}\nThe checks failed: repair that, commit it, and start again.`);
  }
}

async function describeFile(folder, { file, ...about }) {
  const content = await readFile(join(folder, file));
  return {
    file,
    ...about,
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  };
}

const toChecksums = (files) => files.map(({ sha256, file }) => `${sha256}  ${file}\n`).join('');

/** The list of exports is what the next release is compared with, so it is committed. */
async function assertListed(exports, isRenewing) {
  const file = join(ROOT, EXPORTS);
  const [empty] = Object.entries(exports).find(([, names]) => names.length === 0) ?? [];
  if (empty !== undefined) throw new SetupError(`${empty} exports nothing, or its types are not read right.`);
  const list = `${JSON.stringify(exports, undefined, 2)}\n`;
  if (isRenewing) await writeFile(file, list);
  if ((await readFile(file, 'utf8')) !== list)
    throw new SetupError(
      `${EXPORTS} does not list what the packages export: renew it with --update-exports, and commit it.`,
    );
}

/** Nothing is removed that another program has written. */
async function assertReplaceable(folder) {
  const names = await readdir(folder).catch(() => []);
  if (names.length > 0 && !names.includes('manifest.json'))
    throw new SetupError(
      `${folder} holds something other than a release: name another folder with --output.`,
    );
}

await runMain(async () => {
  const options = readArguments();
  const { version, output, rehearsal, source, images } = options;
  await assertReplaceable(output);
  if (!rehearsal) {
    await assertReleasable(version);
    await showStep('Checking', check);
    process.stdout.write(`${await assertCompatible()}\n`);
    if (!options['without-images']) await showStep('Asking for the bases of the images', assertCurrentBases);
  }
  const [commit, seconds] = (await git('log', '-1', '--format=%H %ct')).split(' ');
  await mkdir(dirname(output), { recursive: true });
  const folder = await mkdtemp(join(dirname(output), `.${basename(output)}-`));
  try {
    const artefacts = [];
    // All at once: most of each is the start of programs that use one core.
    await showStep('Packing npm packages, the wheel for Python, the chart', async (note) => {
      const [made, ...others] = await Promise.all([
        Promise.all(
          npmPackages.map((definition) => packNpmPackage(definition, { version, source, folder, note })),
        ),
        packPythonWheel({ version, seconds, folder, note }),
        writeComposeFile({ version, images, folder }),
        packChart({ version, images, seconds, folder }),
      ]);
      await assertListed(Object.assign({}, ...made.map(({ exports }) => exports)), options['update-exports']);
      artefacts.push(...made.map(({ artefact }) => artefact), ...others.flat());
    });
    if (!options['without-images'])
      await showStep('Building the images', async (note) => {
        const isRenewing = options['update-image-sizes'];
        const about = { version, images, commit, source, seconds, folder, isRenewing, note };
        artefacts.push(...(await buildImages(about)));
      });
    const files = await Promise.all(artefacts.map((artefact) => describeFile(folder, artefact)));
    const manifest = {
      version,
      commit,
      committedAt: new Date(Number(seconds) * 1_000).toISOString(),
      ...(rehearsal && { isRehearsal: true }),
      artefacts: files,
    };
    await writeFile(join(folder, 'manifest.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
    const all = [...files, await describeFile(folder, { file: 'manifest.json' })];
    await writeFile(join(folder, 'SHA256SUMS'), toChecksums(all));
    await rm(output, { recursive: true, force: true });
    await rename(folder, output);
    for (const { file, bytes, imageBytes } of files) {
      const size = imageBytes ? `, ${(imageBytes / 1_000_000).toFixed(1)} MB as an image` : '';
      process.stdout.write(`${file.padEnd(50)} ${(bytes / 1_000).toFixed(1).padStart(8)} kB${size}\n`);
    }
    if (options['without-images']) process.stdout.write('\nNo images: --without-images.\n');
    process.stdout.write(`\nWritten to ${output}. Check it with: sha256sum --check SHA256SUMS\n`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
