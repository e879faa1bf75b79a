import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICES } from '@platform/local/services';
import { askConfig } from '../deploy/service-config.js';
import { read, root } from './files.js';

/** What every service reads stands once, in the README of service-kit. */
const SHARED_TABLE = 'packages/service-kit/README.md';

type Rows = readonly { readonly name: string; readonly fallback: string; readonly meaning: string }[];

const table = /(<!-- environment -->\n\n)(.*?)(\n\n<!-- \/environment -->)/s;

const toCell = (fallback: string): string => {
  if (fallback === 'required') return fallback;
  return fallback === 'optional' ? 'none' : `\`${fallback.replace('default ', '')}\``;
};

function readRows(markdown: string): Rows {
  const lines = table.exec(markdown)?.[2]?.split('\n').slice(2) ?? [];
  return lines.map((line) => {
    const [, name = '', fallback = '', meaning = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    return { name: name.replaceAll('`', ''), fallback, meaning };
  });
}

/** Names, order and defaults come from the configuration schema; the meanings are kept. */
function renew(path: string, expected: readonly (readonly [name: string, fallback: string])[]): void {
  const markdown = read(path);
  const meanings = new Map(readRows(markdown).map(({ name, meaning }) => [name, meaning]));
  const rows = expected.map(
    ([name, fallback]) => `| \`${name}\` | ${fallback} | ${meanings.get(name) ?? ''} |`,
  );
  const text = ['| Variable | Default | Meaning |', '| --- | --- | --- |', ...rows].join('\n');
  writeFileSync(
    join(root, path),
    markdown.replace(table, (_all, start: string, _rows, end: string) => start + text + end),
  );
}

async function readSchema(service: string): Promise<[name: string, fallback: string][]> {
  const { defaults } = await askConfig(service, {});
  return [...defaults].map(([name, fallback]) => [name, toCell(fallback)]);
}

const readSchemas = () => Promise.all(SERVICES.map(({ name }) => readSchema(name)));

const isIn = (schema: readonly (readonly [string, string])[], [name, fallback]: readonly [string, string]) =>
  schema.some(([otherName, otherFallback]) => otherName === name && otherFallback === fallback);

async function readShared(): Promise<[string, string][]> {
  const [first = [], ...others] = await readSchemas();
  const common = first.findIndex(([name]) => name === 'DATABASE_URL');
  return first.slice(0, common).filter((row) => others.every((schema) => isIn(schema, row)));
}

async function readOwn(service: string): Promise<[string, string][]> {
  const shared = await readShared();
  return (await readSchema(service)).filter((row) => !isIn(shared, row));
}

const tables = [
  [SHARED_TABLE, readShared],
  ...SERVICES.map(({ name }) => [`services/${name}/README.md`, () => readOwn(name)] as const),
] as const;

test.each(tables)('the environment table of %s is that of the schema (UPDATE_ENVIRONMENT=1 renews it)', async (path, readExpected) => {
  const expected = await readExpected();
  expect(expected.length).toBeGreaterThan(5);
  if (process.env.UPDATE_ENVIRONMENT) renew(path, expected);
  const rows = readRows(read(path));
  expect(rows.map(({ name, fallback }) => [name, fallback])).toEqual(expected);
  expect(rows.filter(({ meaning }) => meaning === '')).toEqual([]);
}); // prettier-ignore
