import { execFile, execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';

export const root = resolve(__dirname, '../../../..');

/** A part of a manifest whose form its schema holds, not a type. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Tree = any;

/** As much of a manifest as the tests look at. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: Tree;
  readonly data?: Readonly<Record<string, string>>;
}

function canRun(command: string, args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const candidates = [
  { command: 'kustomize', probe: ['version'], build: ['build'] },
  { command: 'kubectl', probe: ['kustomize', '--help'], build: ['kustomize'] },
];
const tool = candidates.find(({ command, probe }) => canRun(command, probe));

/** A `describe` that is skipped where there is no kustomize; with REQUIRE_ALL=1 it fails instead. */
export function describeWithKustomize(title: string, body: () => void): void {
  if (!tool && process.env.REQUIRE_ALL === '1')
    throw new Error('kustomize (or kubectl) is required (REQUIRE_ALL=1)');
  (tool ? describe : describe.skip)(title, body);
}

/** @returns what `kubectl apply -k` would send. */
export async function buildOverlay(name: string): Promise<Manifest[]> {
  if (!tool) throw new Error('no kustomize');
  const args = [...tool.build, join(root, 'k8s/overlays', name)];
  const { stdout } = await promisify(execFile)(tool.command, args, { maxBuffer: 64 * 1024 * 1024 });
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}
