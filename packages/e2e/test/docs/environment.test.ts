import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICES } from '@platform/local/services';
import { replaceGenerated } from '@platform/testing';
import { parse } from 'yaml';
import { askConfig, type ConfigAnswer, mountSecrets } from '../deploy/service-config.js';
import { read, root } from './files.js';

/* The environment variables that the services read, against the tables in the READMEs and the Compose file. */

interface Compose {
  readonly services: Readonly<Record<string, { readonly environment?: Readonly<Record<string, string>> }>>;
}
const { services: containers } = parse(read('docker-compose.yml'), { merge: true }) as Compose;
/** Interpolates `${NAME:-default}` as Compose does without settings; `.env.example` has the defaults. */
const interpolate = (value: string): string => value.replace(/\$\{\w+:-([^}]*)\}/g, '$1');

/** The README of service-kit documents the variables that every service reads. */
const SHARED_TABLE = 'packages/service-kit/README.md';

type Rows = readonly { readonly name: string; readonly fallback: string; readonly meaning: string }[];

const table = /<!-- environment -->\n(.*?)<!-- \/environment -->/s;

const toCell = (fallback: string): string => {
  if (fallback === 'required') return fallback;
  return fallback === 'optional' ? 'none' : `\`${fallback.replace('default ', '')}\``;
};

function readRows(markdown: string): Rows {
  const lines = table.exec(markdown)?.[1]?.trim().split('\n').slice(2) ?? [];
  return lines.map((line) => {
    const [, name = '', fallback = '', meaning = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    return { name: name.replaceAll('`', ''), fallback, meaning };
  });
}

/** Renews a table: names, order and defaults come from the configuration schema, and the descriptions are kept. */
function renew(path: string, expected: readonly Row[]): void {
  const markdown = read(path);
  const meanings = new Map(readRows(markdown).map(({ name, meaning }) => [name, meaning]));
  const rows = expected.map(
    ([name, fallback]) => `| \`${name}\` | ${fallback} | ${meanings.get(name) ?? ''} |`,
  );
  const text = ['| Variable | Default | Meaning |', '| --- | --- | --- |', ...rows].join('\n');
  writeFileSync(join(root, path), replaceGenerated(markdown, 'environment', text));
}

type Row = readonly [name: string, fallback: string];

const schemas = new Map<string, readonly Row[]>();
const composed = new Map<string, ConfigAnswer | undefined>();
beforeAll(async () => {
  const secrets = mountSecrets();
  for (const { name: service } of SERVICES) {
    const env = Object.entries(containers[service]?.environment ?? {}).map(([name, value]) => [
      name,
      interpolate(value),
    ]);
    const [empty, answer] = await askConfig(service, [{}, secrets.redirect(Object.fromEntries(env))]);
    composed.set(service, answer);
    schemas.set(
      service,
      [...(empty?.defaults ?? [])].map(([name, fallback]) => [name, toCell(fallback)]),
    );
  }
  secrets.remove();
});

test.each(SERVICES.map(({ name }) => name))(
  'the Compose file passes on every variable that %s reads, and starts it with the defaults',
  (service) => {
    const { names = [], faults } = composed.get(service) ?? {};
    expect(faults).toBe('');
    const settledByTheImage = ['HOST', 'PORT', 'COMMIT'];
    const settledByDefault =
      service === 'identity' ? ['CONFIG_CLIENT_ID', 'CRAWL_CLIENT_ID'] : ['SERVICE_CLIENT_ID'];
    const given = Object.keys(containers[service]?.environment ?? {}).map((key) => key.replace(/_FILE$/, ''));
    const all = new Set([...given, ...settledByTheImage, ...settledByDefault]);
    expect([...all].toSorted()).toEqual(names.toSorted());
  },
);

const isIn = (schema: readonly Row[], [name, fallback]: Row): boolean =>
  schema.some(([otherName, otherFallback]) => otherName === name && otherFallback === fallback);

/** Lists the variables that precede the first one of a service's own. */
function listShared(): readonly Row[] {
  const [first = [], ...others] = schemas.values();
  const ownStart = first.findIndex(([name]) => name === 'DATABASE_URL');
  return first.slice(0, ownStart).filter((row) => others.every((schema) => isIn(schema, row)));
}

function listOwn(service: string): readonly Row[] {
  const shared = listShared();
  return (schemas.get(service) ?? []).filter((row) => !isIn(shared, row));
}

const tables = [
  [SHARED_TABLE, listShared],
  ...SERVICES.map(({ name }) => [`services/${name}/README.md`, () => listOwn(name)] as const),
] as const;

// oxfmt-ignore
test.each(tables)('the environment table of %s matches the schema (UPDATE_ENVIRONMENT=1 renews it)', (path, listExpected) => {
  const expected = listExpected();
  expect(expected.length).toBeGreaterThan(5);
  if (process.env.UPDATE_ENVIRONMENT) renew(path, expected);
  const rows = readRows(read(path));
  expect(rows.map(({ name, fallback }) => [name, fallback])).toEqual(expected);
  expect(rows.filter(({ meaning }) => meaning === '')).toEqual([]);
});
