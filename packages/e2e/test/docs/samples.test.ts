import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { read, root } from './files.js';

/** The packages whose READMEs show code, each with the names that its samples leave to the reader. */
const placeholders: Readonly<Record<string, readonly string[]>> = {
  auth: ['app', 'clientId', 'clientSecret', 'clock', 'identityUrl', 'listThings'],
  clients: ['orgId', 'requestId', 'token'],
  embedded: ['log'],
  events: ['client', 'clock', 'connector', 'orgId', 'relay', 'runId'],
  'service-kit': ['loadThingsConfig', 'thingsVariables'],
  testing: ['database', 'db', 'demote', 'mails', 'migrate', 'migrationsDir', 'token', 'url', 'world'],
};

/** The types of placeholders that a sample would not compile without; all others are `any`. */
const placeholderTypes: Readonly<Record<string, string>> = {
  app: "import('fastify').FastifyInstance",
  world: '{ ada: string; bert: string }',
};

const getSamples = (markdown: string): string[] =>
  [...markdown.matchAll(/^( *)```(?:ts|js)\n(.*?)^\1```/gms)].map(([, , code = '']) => code);

/** Lists the values that a package exports. */
function listExports(name: string): string[] {
  const index = read(`packages/${name}/src/index.ts`);
  const lists = [...index.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, names = '']) => names.split(','));
  const constants = [...index.matchAll(/^export const (\w+)/gm)].map(([, constant = '']) => constant);
  return [...lists.map((part) => part.trim()), ...constants].filter((part) => /^\w+$/.test(part));
}

const uses = (code: string, name: string): boolean => new RegExp(`(?<![.\\w])${name}\\b`).test(code);
const defines = (code: string, name: string): boolean =>
  new RegExp(`const (?:\\{[^}]*\\b)?${name}\\b`).test(code);

/** Completes a sample: it imports what the package exports, and declares the names that are left to the reader. */
function complete(name: string, code: string): string {
  const imported = listExports(name).filter((exported) => uses(code, exported));
  const declared = (placeholders[name] ?? []).filter(
    (placeholder) => uses(code, placeholder) && !defines(code, placeholder),
  );
  const isWhole = code.startsWith('import ');
  return [
    ...(isWhole ? [] : [`import { ${imported.join(', ')} } from '@platform/${name}';`]),
    ...declared.map(
      (placeholder) => `declare const ${placeholder}: ${placeholderTypes[placeholder] ?? 'any'};`,
    ),
    code,
    'export {};',
  ].join('\n');
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'samples-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function compile(packagePaths: Readonly<Record<string, readonly string[]>>): string {
  const packages = join(root, 'packages');
  const compilerOptions = {
    noEmit: true,
    // A sample may fall off the end of a function; everything else is as strict as the sources.
    noImplicitReturns: false,
    declaration: false,
    types: ['node', 'jest'],
    typeRoots: [join(root, 'node_modules/@types')],
    paths: {
      ...packagePaths,
      fastify: [join(packages, 'service-kit/node_modules/fastify/fastify.d.ts')],
      kafkajs: [join(packages, 'events/node_modules/kafkajs/types/index.d.ts')],
    },
  };
  const config = {
    extends: join(packages, 'config/tsconfig.base.json'),
    compilerOptions,
    include: ['*.mts'],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
  try {
    const tsc = join(root, 'node_modules/.bin/tsc');
    return execFileSync(tsc, ['-p', folder], { encoding: 'utf8', cwd: folder });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

interface NpmPackage {
  readonly name: string;
  readonly source: string;
  /** The module of each export, as a path in the sources. */
  readonly entries: Readonly<Record<string, string>>;
}
const { npmPackages } = (await import(join(root, 'packages/release/npm-packages.mjs'))) as {
  npmPackages: readonly NpmPackage[];
};
const npmName = ({ name }: NpmPackage): string => name.replace('@platform/', '');

/** Maps what the npm packages export to the types of the sources that they are made from. */
const npmPaths = Object.fromEntries(
  npmPackages.flatMap(({ name, source, entries }) =>
    Object.entries(entries).map(([entry, module]) => [
      entry.replace('.', name),
      [join(root, source, 'dist', `${module}.d.ts`)],
    ]),
  ),
);

test('the programs of the npm packages compile in strict mode', () => {
  for (const one of npmPackages) {
    const programs = getSamples(read(`packages/release/npm/${npmName(one)}/README.md`));
    expect(programs).not.toEqual([]);
    for (const [index, code] of programs.entries())
      writeFileSync(join(folder, `${npmName(one)}-${index + 1}.mts`), code);
  }
  expect(compile(npmPaths)).toBe('');
});

test('the samples of the packages compile', () => {
  for (const name of Object.keys(placeholders)) {
    const samples = getSamples(read(`packages/${name}/README.md`));
    expect(samples).not.toEqual([]);
    for (const [index, code] of samples.entries())
      writeFileSync(join(folder, `${name}-${index + 1}.mts`), complete(name, code));
  }
  expect(compile({ '@platform/*': [join(root, 'packages/*/dist/index.d.ts')] })).toBe('');
});
