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
  testing: ['mails', 'migrate', 'migrationsDir', 'token', 'url'],
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
    ...declared.map((placeholder) => `declare const ${placeholder}: any;`),
    code,
    'export {};',
  ].join('\n');
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'samples-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function compile(): string {
  const packages = join(root, 'packages');
  const compilerOptions = {
    noEmit: true,
    // Samples are short: they leave out types, and checks of what is always there.
    strict: false,
    exactOptionalPropertyTypes: false,
    types: ['node', 'jest'],
    typeRoots: [join(root, 'node_modules/@types')],
    paths: {
      '@platform/*': [join(packages, '*/dist/index.d.ts')],
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

test('the samples of the packages compile', () => {
  for (const name of Object.keys(placeholders)) {
    const samples = getSamples(read(`packages/${name}/README.md`));
    expect(samples).not.toEqual([]);
    for (const [index, code] of samples.entries())
      writeFileSync(join(folder, `${name}-${index + 1}.mts`), complete(name, code));
  }
  expect(compile()).toBe('');
}, 60_000);
