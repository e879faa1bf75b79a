// Makes the images with Docker, and an SBOM of each that has its base in it, and compares their sizes with the last ones.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import { ROOT, SetupError, toolEnv } from '../config/setup.mjs';
import { toFixedOptions } from './chart.mjs';

export const SERVICES = ['identity', 'mail', 'crawl'];
/** Any machine can make both: the Dockerfiles build on the builder's platform, so nothing is emulated. */
const PLATFORMS = ['linux/amd64', 'linux/arm64'];
/** The sizes of the last release's images, in bytes, by service and platform. */
const SIZES = 'packages/release/image-sizes.json';
/** An image may be this many times as large as that of the last release. */
const MAX_GROWTH = 1.05;
const run = promisify(execFile);

const HINTS = {
  docker: 'Install Docker with buildx, or leave the images out with --without-images.',
  syft: 'Run .ci/image-tools <folder>, which needs Go, and put the folder on the PATH; or leave the images out with --without-images.',
};

/** @throws SetupError with what the program says, or how to get it. */
export async function runTool(tool, args, options) {
  try {
    return (await run(tool, args, { cwd: ROOT, maxBuffer: 256 * 1_048_576, ...options })).stdout;
  } catch (error) {
    if (error.code === 'ENOENT') throw new SetupError(`There is no ${tool} on the PATH. ${HINTS[tool]}`);
    throw new SetupError(`${tool} ${args[0]} failed:\n${error.stderr || error.message}`);
  }
}

/** Writes an archive that `docker load` reads: that of `docker save`, but for the times in it. */
async function save(tag, file, seconds) {
  const work = await mkdtemp(join(tmpdir(), 'platform-image-'));
  try {
    await runTool('docker', ['save', '--output', join(work, 'saved.tar'), tag]);
    await mkdir(join(work, 'files'));
    await runTool('tar', [
      '--extract',
      '--file',
      join(work, 'saved.tar'),
      '--directory',
      join(work, 'files'),
    ]);
    const from = ['--directory', join(work, 'files'), ...(await readdir(join(work, 'files'))).toSorted()];
    await runTool('tar', [...toFixedOptions(seconds), '--create', '--file', file, ...from]);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/**
 * Lists what is in an image, whoever put it there: the packages of the distribution in the base, Node itself, npm packages.
 *
 * @returns {Promise<{size: number, layers: string[], packages: number}>}
 */
async function writeSbom(archive, file, { service, version, seconds }) {
  const work = await mkdtemp(join(tmpdir(), 'platform-sbom-'));
  try {
    const whole = join(work, 'whole.json');
    const name = ['--source-name', service, '--source-version', version];
    const outputs = ['--output', `cyclonedx-json=${file}`, '--output', `syft-json=${whole}`];
    await runTool('syft', ['scan', `docker-archive:${archive}`, '--quiet', ...name, ...outputs], {
      env: { ...toolEnv(), SYFT_CHECK_FOR_APP_UPDATE: 'false' },
    });
    const { source, artifacts } = JSON.parse(await readFile(whole, 'utf8'));
    const { imageID, imageSize, layers } = source.metadata;
    const document = JSON.parse(await readFile(file, 'utf8'));
    // The same image has the same document: it is named after the image, and dated like it.
    const id = createHash('sha256').update(imageID).digest('hex');
    document.serialNumber = `urn:uuid:${id.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-5$3-a$4-$5')}`;
    document.metadata.timestamp = new Date(Number(seconds) * 1_000).toISOString();
    await writeFile(file, `${JSON.stringify(document, undefined, 2)}\n`);
    return { size: imageSize, layers: layers.map(({ digest }) => digest), packages: artifacts.length };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

const toMegabytes = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;

/**
 * @param {{service: string, platform: string, size: number}[]} sizes in bytes
 * @param {boolean} isRenewing whether they become those of the last release
 * @throws SetupError when an image has grown too much
 */
export async function assertSizes(sizes, isRenewing, file = join(ROOT, SIZES)) {
  const last = JSON.parse(await readFile(file, 'utf8'));
  const grown = sizes.filter(
    ({ service, platform, size }) => size > (last[service]?.[platform] ?? Infinity) * MAX_GROWTH,
  );
  if (!isRenewing) {
    if (grown.length === 0) return;
    const lines = grown.map(
      ({ service, platform, size }) =>
        `${service} for ${platform} has ${toMegabytes(size)}, and had ${toMegabytes(last[service][platform])}`,
    );
    throw new SetupError(
      `Images have grown by more than ${Math.round((MAX_GROWTH - 1) * 100)} % since the last release:\n${lines.join('\n')}\n\n` +
        'Find out what brought that, or accept it with --update-image-sizes, and commit the list.',
    );
  }
  for (const { service, platform, size } of sizes) last[service] = { ...last[service], [platform]: size };
  await writeFile(file, `${JSON.stringify(last, undefined, 2)}\n`);
}

/**
 * @param {{version: string, images: string, commit: string, source?: string, seconds: string, folder: string, isRenewing: boolean, note: (detail: string) => void}} about
 *   `images` is what the names of the images begin with, `isRenewing` whether their sizes become those of the last release
 * @returns {Promise<object[]>} the artefacts
 */
export async function buildImages({ version, images, commit, source, seconds, folder, isRenewing, note }) {
  await mkdir(join(folder, 'images'), { recursive: true });
  const artefacts = [];
  const sizes = [];
  for (const platform of PLATFORMS) {
    note(`building for ${platform}`);
    const env = {
      ...toolEnv(),
      VERSION: version,
      IMAGES: images,
      REVISION: commit,
      SOURCE: source ?? 'unknown',
      SOURCE_DATE_EPOCH: seconds,
      PLATFORMS: platform,
      IS_LOCAL: 'true',
    };
    await runTool('docker', ['buildx', 'bake', '--file', 'docker-bake.hcl'], { env });
    for (const service of SERVICES) {
      const name = `images/${service}-${version}-${platform.replace('/', '-')}`;
      const archive = join(folder, `${name}.tar`);
      note(`${service} for ${platform}`);
      await save(`${images}/${service}:${version}`, archive, seconds);
      const about = { service, version, seconds };
      const { size, layers, packages } = await writeSbom(archive, join(folder, `${name}.cdx.json`), about);
      await pipeline(createReadStream(archive), createGzip(), createWriteStream(`${archive}.gz`));
      await rm(archive);
      sizes.push({ service, platform, size });
      artefacts.push({
        file: `${name}.tar.gz`,
        kind: 'image',
        name: service,
        platform,
        imageBytes: size,
        layers,
      });
      artefacts.push({ file: `${name}.cdx.json`, kind: 'sbom', name: service, platform, packages });
    }
  }
  await assertSizes(sizes, isRenewing);
  return artefacts;
}
