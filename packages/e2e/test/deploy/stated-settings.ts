import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type Manifest, root, type Tree } from './kustomize.js';

/** A value in a manifest: `spec.replicas` of the Deployment `mail`. */
export interface Setting {
  readonly kind: string;
  readonly name: string;
  readonly place: string;
  readonly value: string;
}

/** The same as a kustomization says it: kind and name are patterns there. */
type Statement = { readonly [K in keyof Setting]: K extends 'value' ? string : RegExp };

/** Every value in a tree with its place, `spec.hosts.0`. */
export function* leavesOf(tree: Tree, path = ''): Generator<readonly [string, unknown]> {
  if (tree === null || typeof tree !== 'object') yield [path, tree];
  else
    for (const [key, value] of Object.entries(tree))
      yield* leavesOf(value, path === '' ? key : `${path}.${key}`);
}

const whole = (pattern: string): RegExp => new RegExp(`^(?:${pattern})$`);
const literal = (text: string): RegExp => whole(text.replace(/[.+*?^$()[\]{}|\\]/g, String.raw`\$&`));
const anything = whole('.*');

function* ofPatch({ target, patch }: Tree): Generator<Statement> {
  for (const { path, value } of parse(patch) as Tree[]) {
    const place = path.slice(1).replaceAll('/', '.').replaceAll('~1', '/');
    for (const [inner, leaf] of leavesOf(value))
      yield {
        kind: whole(target.kind ?? '.*'),
        name: whole(target.name ?? '.*'),
        place: literal(inner === '' ? place : `${place}.${inner}`),
        value: String(leaf),
      };
  }
}

function* ofLiterals({ name, literals = [] }: Tree): Generator<Statement> {
  for (const one of literals as string[]) {
    const [key = '', ...value] = one.split('=');
    const named = { kind: literal('ConfigMap'), name: whole(`${name}-\\w+`) };
    yield { ...named, place: literal(`data.${key}`), value: value.join('=') };
  }
}

/** The replacements write the host of PUBLIC_URL. */
function* ofReplacement({ targets }: Tree, host: string): Generator<Statement> {
  for (const { select, fieldPaths } of targets)
    for (const place of fieldPaths)
      yield { kind: literal(select.kind), name: anything, place: literal(place), value: host };
}

function* statementsOf(kustomization: Tree): Generator<Statement> {
  for (const { name, count } of kustomization.replicas ?? [])
    yield { kind: literal('Deployment'), name: literal(name), place: literal('spec.replicas'), value: String(count) };
  for (const { name, newName, newTag } of kustomization.images)
    yield { kind: anything, name: anything, place: whole('.*\\.image'), value: `${newName ?? name}:${newTag}` };
  const literals = kustomization.configMapGenerator.flatMap((one: Tree) => [...ofLiterals(one)]) as Statement[];
  yield* literals;
  const publicUrl = literals.find(({ place }) => place.test('data.PUBLIC_URL'))?.value ?? '';
  for (const one of kustomization.replacements) yield* ofReplacement(one, new URL(publicUrl).hostname);
  for (const one of kustomization.patches) yield* ofPatch(one);
} // prettier-ignore

/** @returns whether the `kustomization.yaml` of an overlay says a setting, of the same place. */
export function readStated(overlay: string): (setting: Setting) => boolean {
  const file = readFileSync(join(root, 'k8s/overlays', overlay, 'kustomization.yaml'), 'utf8');
  const statements = [...statementsOf(parse(file))];
  return ({ kind, name, place, value }) =>
    statements.some(
      (one) => one.kind.test(kind) && one.name.test(name) && one.place.test(place) && one.value === value,
    );
}

/** @returns the values of a manifest with their places. */
export const placesOf = (manifest: Manifest): Setting[] =>
  [...leavesOf(manifest)].map(([place, value]) => ({
    kind: manifest.kind,
    name: manifest.metadata.name,
    place,
    value: String(value),
  }));
