import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './chart.js';

/* What Renovate finds outside of the files that it knows by itself: an expression that finds nothing would be silent. */

interface Manager {
  readonly managerFilePatterns: readonly string[];
  readonly matchStrings: readonly string[];
  readonly datasourceTemplate: string;
}

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const { customManagers } = JSON.parse(read('.github/renovate.json')) as { customManagers: Manager[] };

/** Returns what the configuration finds in a file, as `datasource name version`. */
function find(file: string): string[] {
  return customManagers
    .filter((manager) =>
      manager.managerFilePatterns.some((pattern) => new RegExp(pattern.slice(1, -1)).test(file)),
    )
    .flatMap(({ matchStrings, datasourceTemplate }) =>
      matchStrings.flatMap((expression) =>
        [...read(file).matchAll(new RegExp(expression, 'g'))].map(
          ({ groups }) => `${datasourceTemplate} ${groups?.['depName']} ${groups?.['currentValue']}`,
        ),
      ),
    );
}

test('OPS-12 every image of others in the Compose file and the chart is updated', () => {
  const named = [...read('.env.example').matchAll(/_IMAGE=(\S+):(\S+)@sha256:\S+$/gm)].map(
    ([, name, tag]) => `docker ${name} ${tag}`,
  );
  expect(named).toHaveLength(5);
  expect(find('.env.example')).toEqual(named);
  expect(new Set(find('docker-compose.yml'))).toEqual(new Set(named));
  const values = read('k8s/chart/values.yaml');
  expect(find('k8s/chart/values.yaml')).toHaveLength([...values.matchAll(/\bimage: '?[a-z]+[/:]/g)].length);
});

test('OPS-12 every image that tests run is updated', () => {
  const files = readdirSync(join(root, 'packages/testing/src'), { recursive: true }).map(String);
  const found = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => find(join('packages/testing/src', file)));
  expect(new Set(found.map((image) => image.split(' ')[1]))).toEqual(
    new Set(['confluentinc/cp-kafka', 'postgres', 'redis']),
  );
});

test('OPS-12 every program that .ci installs by a version is updated', () => {
  const found = readdirSync(join(root, '.ci')).flatMap((file) => find(`.ci/${file}`));
  const pinned = readdirSync(join(root, '.ci'))
    .filter((file) => !file.endsWith('.mjs'))
    .flatMap((file) => [...read(`.ci/${file}`).matchAll(/(?:==|@)v?\d[\d.]*\b/g)]);
  expect(found).toHaveLength(pinned.length);
  for (const tool of ['go helm.sh/helm/v3 v', 'go github.com/anchore/grype v', 'pypi ruff ', 'pypi github ', 'npm @openai/codex '])
    expect(found.join('\n')).toContain(tool);
}); // oxfmt-ignore
