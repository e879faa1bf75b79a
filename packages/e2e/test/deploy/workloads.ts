import type { Manifest, Tree } from './kustomize.js';

/** Kustomize wraps long values. Kubernetes accepts base64 with line breaks, but the format in the schema does not. */
export const unwrap = (manifest: Manifest): Manifest =>
  manifest.kind === 'Secret' && manifest.data
    ? { ...manifest, data: Object.fromEntries(Object.entries(manifest.data).map(([key, value]) => [key, value.replace(/\s/g, '')])) }
    : manifest; // prettier-ignore

export const ofKind = (manifests: readonly Manifest[], ...kinds: string[]): Manifest[] =>
  manifests.filter(({ kind }) => kinds.includes(kind));

export const workloads = (manifests: readonly Manifest[]): Manifest[] =>
  ofKind(manifests, 'Deployment', 'StatefulSet', 'Job');

export const matches = (selector: Tree, labels: Readonly<Record<string, string>>): boolean =>
  Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);

/** Returns the environment that the container's process gets, including its ConfigMaps. */
export function toEnvironment(container: Tree, manifests: readonly Manifest[]): Record<string, string> {
  const maps = (container.envFrom ?? []).map(
    ({ configMapRef }: Tree) =>
      ofKind(manifests, 'ConfigMap').find(({ metadata }) => metadata.name === configMapRef.name)?.data ?? {},
  );
  const own = (container.env ?? []).map(({ name, value }: Tree) => [name, value]);
  return Object.assign({}, ...maps, Object.fromEntries(own));
}
