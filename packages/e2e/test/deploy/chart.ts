import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { assertDeclared } from '@platform/testing';
import { parseAllDocuments } from 'yaml';

export const root = resolve(import.meta.dirname, '../../../..');
const CHART = join(root, 'k8s/chart');

/** A part of a manifest whose form its schema holds, not a type. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Tree = any;

/** The parts of a manifest that the tests examine. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: Tree;
  readonly data?: Readonly<Record<string, string>>;
}

/** The files of `k8s/values`. */
export const VALUES = ['dev', 'production', 'existing-services'] as const;
export type ValuesName = (typeof VALUES)[number];

/** Runs `helm` with a file of values, and with further values as an operator would have them in a file beside it. */
export async function helm(
  command: readonly string[],
  name: ValuesName | undefined,
  values: Tree = {},
): Promise<string> {
  assertDeclared('helm');
  const folder = await mkdtemp(join(tmpdir(), 'platform-values-'));
  try {
    const [required, own] = [join(folder, 'required.json'), join(folder, 'own.json')];
    // No file names the proxies, and a clone no registry: the operator has to.
    const images = { prefix: 'registry.example.com/platform' };
    await writeFile(required, JSON.stringify(name === 'dev' ? {} : { trustProxy: '10.4.7.0/24', images }));
    await writeFile(own, JSON.stringify(values));
    const chosen = name ? [join(root, `k8s/values/${name}.yaml`)] : [];
    const files = [...chosen, required, own].flatMap((file) => ['--values', file]);
    const args = [...command, CHART, '--kube-version', '1.34.0', ...files];
    const { stdout } = await promisify(execFile)('helm', args, { maxBuffer: 64 * 1_024 * 1_024 });
    return stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** @returns the manifests that an installation sends, or an upgrade, with its hooks. */
export async function render(
  name: ValuesName | undefined,
  values: Tree = {},
  { isUpgrade = false, namespace = 'platform', release = 'platform' } = {},
): Promise<Manifest[]> {
  const flags = ['--namespace', namespace, ...(isUpgrade ? ['--is-upgrade'] : [])];
  const text = await helm(['template', release, ...flags], name, values);
  return parseAllDocuments(text).flatMap((document) => {
    const [problem] = document.errors;
    if (problem) throw problem;
    const manifest = document.toJS() as Manifest | null;
    return manifest ? [manifest] : [];
  });
}
