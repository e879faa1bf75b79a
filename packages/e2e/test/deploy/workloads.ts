import type { Manifest, Tree } from './chart.js';

export const ofKind = (manifests: readonly Manifest[], ...kinds: string[]): Manifest[] =>
  manifests.filter(({ kind }) => kinds.includes(kind));

/** Returns everything that starts pods, in the form of a Deployment: with a `template` of its pod. */
export const workloads = (manifests: readonly Manifest[]): Manifest[] =>
  manifests.flatMap((manifest) => {
    const { kind, metadata, spec } = manifest;
    if (kind === 'Pod') return [{ ...manifest, spec: { template: { metadata, spec } } }];
    if (kind === 'CronJob') return [{ ...manifest, spec: spec.jobTemplate.spec }];
    return ['Deployment', 'StatefulSet', 'Job'].includes(kind) ? [manifest] : [];
  });

export const isHook = ({ metadata }: Manifest): boolean =>
  metadata.annotations?.['helm.sh/hook'] !== undefined;

/** Knows equality and `In`, which are what the chart uses. An empty selector matches everything. */
export const matches = (selector: Tree, labels: Readonly<Record<string, string>>): boolean =>
  Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
  (selector.matchExpressions ?? []).every(({ key, values }: Tree) => values.includes(labels[key]));

/** Returns the environment that the container's process gets, including its ConfigMaps. */
export function toEnvironment(container: Tree, manifests: readonly Manifest[]): Record<string, string> {
  const maps = (container.envFrom ?? []).map(
    ({ configMapRef }: Tree) =>
      ofKind(manifests, 'ConfigMap').find(({ metadata }) => metadata.name === configMapRef.name)?.data ?? {},
  );
  const own = (container.env ?? []).map(({ name, value }: Tree) => [name, value]);
  return Object.assign({}, ...maps, Object.fromEntries(own));
}
