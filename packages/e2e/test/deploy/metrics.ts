import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { root } from './chart.js';

function namesInSources(): string[] {
  return ['packages', 'services'].flatMap((part) =>
    readdirSync(join(root, part)).flatMap((folder) => {
      const sources = join(root, part, folder, 'src');
      let files: string[] = [];
      try {
        files = readdirSync(sources, { recursive: true, encoding: 'utf8' });
      } catch {
        return [];
      }
      return files
        .filter((file) => file.endsWith('.ts'))
        .map((file) => readFileSync(join(sources, file), 'utf8'))
        .filter((text) => text.includes("'prom-client'"))
        .flatMap((text) => [
          // A help follows the name, which those of prepared statements lack.
          ...[...text.matchAll(/(?:name: |(?:gauge|register)\(\s*)'(\w+)',\s*(?:help:|['`])/g)].map(
            ([, name = '']) => name,
          ),
          // The relay's, of sync events and of facts.
          ...[...text.matchAll(/`\$\{prefix\}(\w+)`/g)].flatMap(([, name = '']) =>
            ['platform_sync_event', 'platform_fact'].map((prefix) => prefix + name),
          ),
        ]);
    }),
  );
}

/** Returns every metric that the platform's code defines. */
export const ownMetrics = (): ReadonlySet<string> => new Set(namesInSources());

/** Returns every metric that a service can have, and Prometheus' own `up`. */
export async function knownMetrics(): Promise<ReadonlySet<string>> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const defaults = (await registry.getMetricsAsJSON()).map(({ name }) => name);
  return new Set([...namesInSources(), ...defaults, 'up']);
}

/** @returns the metrics that a Prometheus expression reads. */
export function listMetrics(expression: string): string[] {
  const withoutLabels = expression.replace(/\{[^}]*\}/g, '').replace(/\b(?:by|without) \([^)]*\)/g, '');
  return [...withoutLabels.matchAll(/\b([a-z_][a-z0-9_]*)\b(?!\s*\()/g)]
    .map(([, name = '']) => name.replace(/_(?:bucket|count|sum)$/, ''))
    .filter((name) => name.length > 1 && !/^(?:sum|max|min|count|by|or)$/.test(name));
}
