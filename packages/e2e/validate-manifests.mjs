// Validates Kubernetes manifests, a JSON array on stdin, against the schemas of Kubernetes and of the custom resources:
// values by the validators made from them, unknown fields by the types made from them. Prints a JSON array of faults.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const customResources = {
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api',
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
  'kafka.strimzi.io': '@kubernetes-models/strimzi-kafka-operator',
};

const getModule = ({ apiVersion }) =>
  `${customResources[apiVersion.split('/')[0]] ?? 'kubernetes-models'}/${apiVersion}`;
const getName = ({ kind, metadata }) => `${kind} ${metadata.name}`;

async function findWrongValues(manifest) {
  const { [manifest.kind]: Model } = await import(getModule(manifest));
  if (!Model) return [`${getName(manifest)}: no such kind in ${manifest.apiVersion}`];
  try {
    new Model(manifest).validate();
    return [];
  } catch (error) {
    return [`${getName(manifest)}: ${error.message}`];
  }
}

async function findWrongFields(manifests) {
  const lines = manifests.map(
    (manifest, index) =>
      `import type { I${manifest.kind} as T${index} } from '${getModule(manifest)}';\n` +
      `export const m${index}: T${index} = ${JSON.stringify(manifest, undefined, 1)};\n`,
  );
  const folder = await mkdtemp(join(here, 'node_modules', '.manifests-'));
  try {
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await writeFile(join(folder, 'manifests.ts'), lines.join(''));
    const options =
      '--noEmit --ignoreConfig --strict --skipLibCheck --module nodenext --target es2023 --types node';
    const tsc = join(here, '../../node_modules/.bin/tsc');
    await promisify(execFile)(tsc, [...options.split(' '), 'manifests.ts'], { cwd: folder });
    return [];
  } catch (error) {
    return String(error.stdout || error)
      .trim()
      .split('\n');
  } finally {
    await rm(folder, { recursive: true });
  }
}

const manifests = JSON.parse(await text(process.stdin));
const faults = [
  ...(await Promise.all(manifests.map(findWrongValues))).flat(),
  ...(await findWrongFields(manifests)),
];
process.stdout.write(JSON.stringify(faults));
