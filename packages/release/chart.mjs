// Packs the chart, and renders the manifests for people who apply those.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { ROOT, SetupError } from '../config/setup.mjs';

const run = promisify(execFile);
const VALUES = ['dev', 'production', 'existing-services'];
/** Manifests of `dev` would hold secrets that everybody knows. */
const RENDERED = ['production', 'existing-services'];
/** The services stop at it, and name the variable: no range is right for every cluster. */
const NO_PROXIES = 'RANGES-OF-THE-GATEWAY-AND-OF-IDENTITY';
const NAMESPACE = `apiVersion: v1
kind: Namespace
metadata:
  name: platform
  labels: { pod-security.kubernetes.io/enforce: restricted }
`;

async function edit(file, changes) {
  let text = await readFile(file, 'utf8');
  for (const [pattern, replacement] of changes) {
    if (!pattern.test(text)) throw new Error(`${file} has no ${pattern}`);
    text = text.replace(pattern, () => replacement);
  }
  await writeFile(file, text);
}

/** Options of tar with which the same files give the same bytes. */
export const toFixedOptions = (seconds) => [
  '--sort=name',
  `--mtime=@${seconds}`,
  '--owner=0',
  '--group=0',
  '--numeric-owner',
  '--mode=u=rwX,go=rX',
  '--format=ustar',
];

/** `helm package` would write the time of now into the archive. */
async function pack(parent, file, seconds) {
  const args = [...toFixedOptions(seconds), '--create', '--directory', parent, 'platform'];
  const { stdout } = await run('tar', args, { encoding: 'buffer', maxBuffer: 64 * 1_024 * 1_024 });
  await writeFile(file, gzipSync(stdout, { level: 9 }));
}

async function helm(...args) {
  try {
    return (await run('helm', args, { maxBuffer: 64 * 1_024 * 1_024 })).stdout;
  } catch (error) {
    if (error.code === 'ENOENT')
      throw new SetupError('There is no helm on the PATH: run .ci/openapi-tools, or install Helm 3.');
    throw error;
  }
}

/**
 * @param {{version: string, images: string, seconds: string, folder: string}} about `images` is what the names of the
 *   images begin with, `seconds` the time of the files in the archive
 * @returns {Promise<{file: string, kind: 'chart' | 'values' | 'manifests', name: string}[]>}
 */
export async function packChart({ version, images, seconds, folder }) {
  const work = await mkdtemp(join(tmpdir(), 'platform-chart-'));
  try {
    const chart = join(work, 'platform');
    await cp(join(ROOT, 'k8s/chart'), chart, { recursive: true });
    await edit(join(chart, 'Chart.yaml'), [
      [/^version: .*$/m, `version: ${version}`],
      [/^appVersion: .*$/m, `appVersion: ${version}`],
    ]);
    await edit(join(chart, 'values.yaml'), [[/^ {2}prefix: ''$/m, `  prefix: ${images}`]]);
    // `helm show readme` prints the guide.
    await cp(join(ROOT, 'k8s/README.md'), join(chart, 'README.md'));
    await mkdir(join(folder, 'chart'));
    await mkdir(join(folder, 'manifests'));
    const archive = `platform-${version}.tgz`;
    const packed = join(folder, 'chart', archive);
    await pack(work, packed, seconds);
    for (const name of VALUES)
      await cp(join(ROOT, `k8s/values/${name}.yaml`), join(folder, `chart/${name}.yaml`));
    for (const name of RENDERED) {
      const values = ['--values', join(folder, `chart/${name}.yaml`), '--set', `trustProxy=${NO_PROXIES}`];
      const flags = ['--namespace', 'platform', '--kube-version', '1.34.0', '--no-hooks'];
      const text = await helm('template', 'platform', packed, ...flags, ...values);
      await writeFile(join(folder, `manifests/${name}.yaml`), NAMESPACE + text);
    }
    return [
      { file: `chart/${archive}`, kind: 'chart', name: 'platform' },
      ...VALUES.map((name) => ({ file: `chart/${name}.yaml`, kind: 'values', name })),
      ...RENDERED.map((name) => ({ file: `manifests/${name}.yaml`, kind: 'manifests', name })),
    ];
  } finally {
    await rm(work, { recursive: true });
  }
}
