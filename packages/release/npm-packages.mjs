// Makes npm packages that stand alone from packages of the workspace: what they use of one another is bundled in, what
// they use of npm is declared with the version that they are tested with.
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { ROOT, SetupError, toolEnv } from '../config/setup.mjs';

/**
 * @typedef {object} NpmPackage
 * @property {string} name
 * @property {string} description
 * @property {string} source the package of the workspace, as a path from the root
 * @property {Record<string, string>} entries the module of each export, as a path in its `src` without an extension
 * @property {{name: string, entry: string}} [program] what `npx` runs
 * @property {string[]} [files] what else the package has, as paths in `source`
 * @property {Record<string, string>} [peers] what the user's program and the package have to share
 * @property {string[]} [optionalPeers] peers that not every entry needs
 */

/** @type {readonly NpmPackage[]} */
export const npmPackages = [
  {
    name: '@platform/clients',
    description: 'Typed REST clients of the workspace knowledge platform: identity, mail and crawl.',
    source: 'packages/clients',
    entries: { '.': 'published', './types': 'published-types' },
  },
  {
    name: '@platform/crawl-worker',
    description:
      'A worker that claims crawls of the workspace knowledge platform, reports and finishes them.',
    source: 'packages/crawl-worker',
    entries: { '.': 'index', './documents': 'documents/index' },
    program: { name: 'crawl-worker', entry: 'main' },
    files: ['documents.schema.json', 'mappings'],
  },
  {
    name: '@platform/events',
    description: 'Consumes the sync events of the workspace knowledge platform, by Kafka or by the feed.',
    source: 'packages/events',
    entries: { '.': 'consumer' },
  },
  {
    name: '@platform/auth',
    description:
      'Verifies the credentials of the workspace knowledge platform in your own service: a Fastify plugin, and a verifier for other servers.',
    source: 'packages/auth',
    entries: { '.': 'published', './verifier': 'verifier' },
    peers: { fastify: '^5.0.0' },
    optionalPeers: ['fastify'],
  },
];

const WORKSPACE = '@platform/';
const run = promisify(execFile);
const readJson = async (file) => JSON.parse(await readFile(file, 'utf8'));
const isExternal = (path) => !/^[./]/.test(path) && !path.startsWith(WORKSPACE);
/** `@a/b` of `@a/b/c`, and `a` of `a/b`. */
const toPackageName = (path) =>
  path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');

/** Nothing of the workspace does anything at its import, so what is not used need not be there. */
const withoutSideEffects = {
  name: 'without-side-effects',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /./ }, async ({ path, pluginData, kind, ...origin }) => {
      if (pluginData === 'resolving' || kind === 'entry-point') return undefined;
      if (isExternal(path)) return { path, external: true, sideEffects: false };
      const found = await resolve(path, { ...origin, kind, pluginData: 'resolving' });
      return { ...found, sideEffects: false };
    });
  },
};

const listEntries = ({ source, entries }, folder, extension) =>
  Object.fromEntries(
    Object.values(entries).map((entry) => [entry, join(ROOT, source, folder, entry + extension)]),
  );

/** @returns {Promise<string[]>} the imports of others that are left */
async function bundleCode(definition, outdir) {
  const { metafile } = await build({
    entryPoints: {
      ...listEntries(definition, 'src', '.ts'),
      ...(definition.program &&
        listEntries({ ...definition, entries: [definition.program.entry] }, 'src', '.ts')),
    },
    absWorkingDir: ROOT,
    outdir,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    conditions: ['workspace'],
    plugins: [withoutSideEffects],
    metafile: true,
    logLevel: 'warning',
  });
  return Object.values(metafile.outputs).flatMap(({ imports }) =>
    imports.filter(({ external }) => external).map(({ path }) => path),
  );
}

/** Finds the declarations that the build of a workspace package has written. */
const workspaceTypes = {
  name: 'workspace-types',
  async resolveId(path) {
    if (!path.startsWith(WORKSPACE)) return undefined;
    const [, name, ...rest] = path.split('/');
    const folder = join(ROOT, 'packages', name);
    const { exports } = await readJson(join(folder, 'package.json'));
    return join(folder, exports[['.', ...rest].join('/')].types);
  },
};

/** @returns {Promise<{imports: string[], exports: Record<string, string[]>}>} the imports of others that are left, and the names in each entry */
async function rollUpTypes(definition, dir) {
  const bundle = await rollup({
    input: listEntries(definition, 'dist', '.d.ts'),
    external: (path) => isExternal(path),
    plugins: [workspaceTypes, dts()],
    onwarn: ({ code, message }) => {
      // Declarations have no code: an entry of types alone is empty to Rollup.
      if (code !== 'EMPTY_BUNDLE') throw new SetupError(message);
    },
  });
  const { output } = await bundle.write({
    dir,
    format: 'es',
    entryFileNames: '[name].d.ts',
    chunkFileNames: 'shared-[hash].d.ts',
  });
  await bundle.close();
  const files = new Set(output.map(({ fileName }) => fileName));
  return {
    imports: output.flatMap(({ imports }) => imports).filter((path) => !files.has(path)),
    exports: Object.fromEntries(
      Object.entries(definition.entries).map(([name, entry]) => [
        join(definition.name, name),
        output
          .find(({ fileName }) => fileName === `${entry}.d.ts`)
          .exports.toSorted((a, b) => (a < b ? -1 : 1)),
      ]),
    ),
  };
}

/** Declares the versions that are installed here, and whatever is compatible with them. */
async function toDependencies(source, imports) {
  // Not by the machine's language: the bytes are the same everywhere.
  const names = [...new Set(imports.filter((path) => !isBuiltin(path)).map(toPackageName))].toSorted((a, b) =>
    a < b ? -1 : 1,
  );
  const folders = [source, 'packages/service-kit'].map((folder) => join(ROOT, folder, 'node_modules'));
  const entries = names.map(async (name) => {
    for (const folder of folders) {
      const found = await readJson(join(folder, name, 'package.json')).catch(() => undefined);
      if (found) return [name, `^${found.version}`];
    }
    throw new SetupError(`${source} imports ${name}, which no package.json on its way names`);
  });
  return Object.fromEntries(await Promise.all(entries));
}

const toExports = (entries) => ({
  ...Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => [
      name,
      { types: `./dist/${entry}.d.ts`, default: `./dist/${entry}.js` },
    ]),
  ),
  './package.json': './package.json',
});

async function createManifest(
  { name, description, source: folder, entries, program, files = [], peers = {}, optionalPeers },
  about,
  imports,
) {
  const { license, engines } = await readJson(join(ROOT, 'package.json'));
  const dependencies = await toDependencies(folder, imports);
  for (const peer of Object.keys(peers)) delete dependencies[peer];
  return {
    name,
    version: about.version,
    description,
    license,
    type: 'module',
    sideEffects: false,
    engines,
    ...(about.source && { repository: { type: 'git', url: about.source, directory: folder } }),
    exports: {
      ...toExports(entries),
      ...Object.fromEntries(
        files.filter((file) => file.endsWith('.json')).map((file) => [`./${file}`, `./${file}`]),
      ),
    },
    ...(program && { bin: { [program.name]: `dist/${program.entry}.js` } }),
    files: ['dist', ...files],
    ...(Object.keys(dependencies).length > 0 && { dependencies }),
    ...(Object.keys(peers).length > 0 && { peerDependencies: peers }),
    ...(optionalPeers && {
      peerDependenciesMeta: Object.fromEntries(optionalPeers.map((peer) => [peer, { optional: true }])),
    }),
    publishConfig: { access: 'public' },
  };
}

/** @throws SetupError with what the tool says. */
async function assertClean(tool, args) {
  const program = join(import.meta.dirname, 'node_modules/.bin', tool);
  try {
    await run(program, args, { env: { ...toolEnv(), NO_COLOR: '1' }, maxBuffer: 64 * 1_048_576 });
  } catch (error) {
    throw new SetupError(`${tool} rejects the package:\n${error.stdout}${error.stderr}`);
  }
}

/**
 * @param {NpmPackage} definition
 * @param {{version: string, source?: string, folder: string, note: (detail: string) => void}} about
 * @returns {Promise<{artefact: {file: string, kind: 'npm', name: string}, exports: Record<string, string[]>}>}
 */
export async function packNpmPackage(definition, { folder, note, ...about }) {
  const { name } = definition;
  const made = await mkdtemp(join(tmpdir(), 'platform-npm-'));
  const output = join(folder, 'npm');
  try {
    await mkdir(output, { recursive: true });
    note('code');
    const code = await bundleCode(definition, join(made, 'dist'));
    note('types');
    const types = await rollUpTypes(definition, join(made, 'dist'));
    const manifest = await createManifest(definition, about, [...code, ...types.imports]);
    await writeFile(join(made, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
    await cp(join(ROOT, 'LICENSE'), join(made, 'LICENSE'));
    for (const file of definition.files ?? [])
      await cp(join(ROOT, definition.source, file), join(made, file), { recursive: true });
    await cp(
      join(import.meta.dirname, 'npm', name.slice(WORKSPACE.length), 'README.md'),
      join(made, 'README.md'),
    );
    // npm gives every file the same time and owner, so the same files give the same bytes.
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', output], { cwd: made });
    const file = join(output, JSON.parse(stdout)[0].filename);
    note('publint');
    await assertClean('publint', ['run', '--strict', file]);
    note('attw');
    await assertClean('attw', [file, '--profile', 'esm-only', '--no-emoji']);
    return { artefact: { file: relative(folder, file), kind: 'npm', name }, exports: types.exports };
  } finally {
    await rm(made, { recursive: true, force: true });
  }
}
