import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '@platform/embedded';
import { assertDeclared } from '@platform/testing';
import { parseAllDocuments } from 'yaml';

export const root = resolve(import.meta.dirname, '../../../..');

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
  };
  readonly spec?: Tree;
  readonly data?: Readonly<Record<string, string>>;
}

/** @returns the manifests that `kubectl apply -k` would send for a folder. */
async function build(folder: string): Promise<Manifest[]> {
  assertDeclared('kustomize');
  const [program, ...args] = findProgram('kustomize') ? ['kustomize', 'build'] : ['kubectl', 'kustomize'];
  const { stdout } = await promisify(execFile)(program, [...args, folder], { maxBuffer: 64 * 1024 * 1024 });
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}

/** Builds an overlay of `k8s/overlays`. */
export const buildOverlay = (name: string): Promise<Manifest[]> => build(join(root, 'k8s/overlays', name));

/** Builds an overlay as an operator would edit it: replaces texts in one of its files, each of which must occur. */
export async function buildEdited(
  name: string,
  edits: readonly (readonly [string, string])[],
  edited = 'kustomization.yaml',
): Promise<Manifest[]> {
  const copy = await mkdtemp(join(tmpdir(), 'platform-k8s-'));
  try {
    await cp(join(root, 'k8s'), copy, { recursive: true });
    const file = join(copy, 'overlays', name, edited);
    let text = await readFile(file, 'utf8');
    for (const [from, to] of edits) {
      if (!text.includes(from)) throw new Error(`${name} has no ${from}`);
      text = text.replaceAll(from, to);
    }
    await writeFile(file, text);
    return await build(join(copy, 'overlays', name));
  } finally {
    await rm(copy, { recursive: true });
  }
}
