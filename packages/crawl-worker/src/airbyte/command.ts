import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openSink } from '../documents/open-sink.js';
import type { Sink } from '../documents/sink.js';
import type { CrawlOrder } from '../protocol.js';
import type { CrawlRun } from '../run.js';
import { serve } from '../serve.js';
import { createAirbyteCrawl } from './crawl.js';
import { liquid } from './mapping.js';
import type { JsonSchema, StreamInfo } from './messages.js';
import { parseAccess, readSource, readSourcesFile, SettingsError } from './settings.js';
import { createSourceClient, type SourceDefinition } from './source.js';

export const HELP = `Usage: crawl-worker airbyte [options]

Crawls an Airbyte source as a connector of the platform, and hands its records to a search as documents.

  --connector <name>     the connector, such as code_1
  --instance <name>      the instance of the connector (default: default)
  --source <command>     any command that speaks the Airbyte protocol: .venv/bin/source-github, uvx …,
                         "docker run -i --rm -v {dir}:{dir} airbyte/source-github"
  --config <file>        the source's configuration, JSON or YAML; it stays with this worker
  --documents <name>     a ready mapping (github, jira, …) or a file
  --access <list>        who may find the documents: everyone, or group:engineering,user:ada@example.com
  --permissions <file>   instead of --access: the configuration with which the source gives the permissions of its
                         files (delivery_method: use_permissions_transfer)
  --about <text>         what is crawled, for the members who search it: "The repositories of acme"
  --file <file>          several sources from one YAML file, instead of the options above
  --sink <address>       the ingest endpoint of a search (http://…), or a folder for files of NDJSON
  --url <address>        the platform (default: PLATFORM_URL)
  --folder <path>        where states are kept that are too large for the platform (default: .crawl-worker)

  --check                asks the source whether its configuration works, and compares the mapping with its streams
  --discover             prints the streams and their fields
  --dry-run <n>          prints the first documents as the sink would get them
  --help

Environment: PLATFORM_TOKEN, a token with the scope crawl:work; SINK_TOKEN, the token for a sink that is not at the
platform's address, which may be the same.
`;

const OPTIONS = {
  connector: { type: 'string' },
  instance: { type: 'string' },
  source: { type: 'string' },
  config: { type: 'string' },
  documents: { type: 'string' },
  access: { type: 'string' },
  permissions: { type: 'string' },
  about: { type: 'string' },
  file: { type: 'string' },
  sink: { type: 'string' },
  url: { type: 'string' },
  folder: { type: 'string' },
  check: { type: 'boolean' },
  discover: { type: 'boolean' },
  'dry-run': { type: 'string' },
  help: { type: 'boolean' },
} as const;
type Options = ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>['values'];

const DEFAULT_FOLDER = '.crawl-worker';

interface Command {
  readonly url: string | undefined;
  readonly sink: string | undefined;
  readonly sources: readonly SourceDefinition[];
}

function readOptions(args: readonly string[]): Options {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new SettingsError((error as Error).message);
  }
}

/** Reads the sources of the file, or the one of the options. */
async function readCommand(options: Options, environment: NodeJS.ProcessEnv): Promise<Command> {
  const url = options.url ?? environment['PLATFORM_URL'];
  if (options.file !== undefined) {
    const file = await readSourcesFile(options.file);
    const folder = dirname(resolve(options.file));
    const stateFolder = options.folder ? resolve(options.folder) : (file.folder ?? DEFAULT_FOLDER);
    const context = { folder, stateFolder, environment: toSourceEnvironment(environment) };
    const sources = await Promise.all(file.sources.map((source) => readSource(source, context)));
    const keys = sources.map(({ connector, instance }) => `${connector} ${instance}`);
    const double = keys.find((key, index) => keys.indexOf(key) !== index);
    if (double !== undefined) throw new SettingsError(`${options.file} has ${double} twice`);
    return { url: options.url ?? file.url ?? url, sink: options.sink ?? file.sink, sources };
  }
  const { source, config, access, permissions, about } = options;
  // Without records there is nothing to map.
  const isMapped = !options.discover;
  const connector = options.connector ?? (isMapped ? undefined : 'none');
  const documents = options.documents ?? (isMapped ? undefined : 'faker');
  if (!connector || !source || !config || !documents)
    throw new SettingsError('--connector, --source, --config and --documents are required; see --help');
  const entry = {
    connector,
    source,
    config,
    documents,
    ...(options.instance !== undefined && { instance: options.instance }),
    ...(access !== undefined && { access: parseAccess(access) }),
    ...(permissions !== undefined && { permissions }),
    ...(about !== undefined && { about }),
    ...(!isMapped && { access: [] }),
  };
  const context = {
    folder: process.cwd(),
    stateFolder: options.folder ?? DEFAULT_FOLDER,
    environment: toSourceEnvironment(environment),
  };
  return { url, sink: options.sink, sources: [await readSource(entry, context)] };
}

/** The platform's token is none of the source's business. */
const toSourceEnvironment = ({ PLATFORM_TOKEN: _token, SINK_TOKEN: _sink, ...rest }: NodeJS.ProcessEnv) =>
  rest;

/**
 * Runs `crawl-worker airbyte`.
 *
 * @returns the exit code. @throws SettingsError for wrong options.
 */
export async function runAirbyte(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  print: (text: string) => void,
): Promise<number> {
  const options = readOptions(args);
  if (options.help) {
    print(HELP);
    return 0;
  }
  const command = await readCommand(options, environment);
  if (options.discover) return discover(command, print);
  if (options.check) return check(command, print);
  if (options['dry-run'] !== undefined) return dryRun(command, options['dry-run'], print);
  const { url, sink } = command;
  const token = environment['PLATFORM_TOKEN'];
  if (!url || !token) throw new SettingsError('--url (PLATFORM_URL) and PLATFORM_TOKEN are required');
  if (!sink) throw new SettingsError('--sink is required: the ingest endpoint of a search, or a folder');
  const opened = openSink(sink, { url, token }, environment['SINK_TOKEN']);
  await serveAll(command.sources, { url, token, sink: opened });
  return 0;
}

/** Each source waits for its own runs, so a long crawl of one does not keep the others waiting. */
async function serveAll(
  sources: readonly SourceDefinition[],
  { url, token, sink }: { readonly url: string; readonly token: string; readonly sink: Sink },
): Promise<void> {
  const stopping = new AbortController();
  const names = ['SIGTERM', 'SIGINT'] as const;
  // A second signal ends the process, as nothing handles it any more.
  for (const name of names) process.once(name, () => stopping.abort());
  const serving = sources.map((definition) =>
    serve({
      url,
      token,
      connectors: [definition.connector],
      instances: [definition.instance],
      signal: stopping.signal,
      crawl: createAirbyteCrawl(definition, createSourceClient(definition), sink),
    }),
  );
  try {
    await Promise.all(serving);
  } finally {
    stopping.abort();
    await Promise.allSettled(serving);
  }
}

const toLabel = ({ connector, instance }: SourceDefinition) =>
  instance === 'default' ? connector : `${connector} ${instance}`;

async function check({ sources }: Command, print: (text: string) => void): Promise<number> {
  let code = 0;
  for (const definition of sources) {
    const faults = await findFaults(definition).catch((error: Error) => [error.message]);
    print(
      faults.length === 0
        ? `${toLabel(definition)}: fine\n`
        : faults.map((fault) => `${toLabel(definition)}: ${fault}\n`).join(''),
    );
    if (faults.length > 0) code = 1;
  }
  return code;
}

async function findFaults(definition: SourceDefinition): Promise<string[]> {
  const client = createSourceClient(definition);
  const fault = await client.check();
  if (fault !== undefined) return [fault];
  if (definition.permissions !== undefined) {
    const refused = await createSourceClient({ ...definition, config: definition.permissions }).check();
    if (refused !== undefined) return [`permissions: ${refused}`];
  }
  return compareMapping(definition, await client.discover());
}

/** Returns the streams and fields of a mapping that a source does not have. */
export function compareMapping(
  { streams }: Pick<SourceDefinition, 'streams'>,
  discovered: readonly StreamInfo[],
): string[] {
  return Object.entries(streams).flatMap(([name, mapping]) => {
    const stream = discovered.find((one) => one.name === name);
    if (!stream) return [`there is no stream ${name}`];
    const templates = [mapping.title, mapping.text, mapping.url ?? ''];
    for (const expression of [mapping.deletedWhen, mapping.skipWhen])
      if (expression !== undefined) templates.push(`{% if ${expression} %}{% endif %}`);
    const used = templates.flatMap((template) => liquid.globalVariableSegmentsSync(template) as unknown[][]);
    const ids = (typeof mapping.id === 'string' ? [mapping.id] : mapping.id).map((path) => path.split('.'));
    const paths = [
      ...used,
      ...ids,
      ...(mapping.updatedAt === undefined ? [] : [mapping.updatedAt.split('.')]),
    ];
    const unknown = paths.filter((path) => !hasField(stream.json_schema, path)).map((path) => path.join('.'));
    return [...new Set(unknown)].map((path) => `the stream ${name} has no field ${path}`);
  });
}

/** Whether the schema has the field, or says nothing about it. */
function hasField(schema: JsonSchema, path: readonly unknown[]): boolean {
  const [name, ...rest] = path;
  if (typeof name !== 'string') return true;
  const field = schema.properties?.[name];
  // An object without described fields may have any.
  if (!field) return schema.properties === undefined || Object.keys(schema.properties).length === 0;
  return (
    rest.length === 0 || hasField(field.items && typeof rest[0] !== 'string' ? field.items : field, rest)
  );
}

async function discover({ sources }: Command, print: (text: string) => void): Promise<number> {
  for (const definition of sources) {
    const streams = await createSourceClient(definition).discover();
    for (const {
      name,
      json_schema: schema,
      supported_sync_modes: modes,
      source_defined_primary_key: keys,
    } of streams) {
      const key = (keys ?? []).map((path) => path.join('.')).join(', ');
      const mode = modes?.includes('incremental') ? 'incremental' : 'full';
      print(`${name} (${mode}${key === '' ? '' : `, key ${key}`})\n`);
      for (const [field, { type = 'any' }] of Object.entries(schema.properties ?? {}))
        print(`  ${field}: ${[type].flat().join(' or ')}\n`);
    }
  }
  return 0;
}

/** Crawls as a full run would, into a sink that prints, until there is enough. */
async function dryRun({ sources }: Command, count: string, print: (text: string) => void): Promise<number> {
  if (!/^[1-9]\d{0,5}$/.test(count)) throw new SettingsError('--dry-run must be a number of documents');
  const folder = await mkdtemp(join(tmpdir(), 'crawl-worker-dry-run-'));
  try {
    for (const source of sources) await preview({ ...source, folder }, Number(count), print);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return 0;
}

/** Ends a preview. */
class Enough extends Error {}

async function preview(
  definition: SourceDefinition,
  count: number,
  print: (text: string) => void,
): Promise<void> {
  let left = count;
  const sink: Sink = {
    async write(lines) {
      for (const { json } of lines.slice(0, left)) print(`${json}\n`);
      left -= lines.length;
      if (left <= 0) throw new Enough();
    },
  };
  const now = new Date().toISOString();
  const order: CrawlOrder = {
    runId: 'dry-run',
    attempt: 1,
    orgId: 'none',
    connector: definition.connector,
    instance: definition.instance,
    displayName: null,
    userId: 'none',
    scheduleConfig: {},
    priority: 5,
    metadata: {},
    scheduledFor: now,
    mode: 'full',
    fullStartedAt: now,
    checkpoint: null,
  };
  const nothing = () => undefined;
  const run: CrawlRun = {
    signal: new AbortController().signal,
    isCancelled: () => false,
    isTimeUp: () => false,
    progress: nothing,
    count: nothing,
    checkpoint: nothing,
    log: (line) => void process.stderr.write(`${line}\n`),
    describe: nothing,
  };
  try {
    await createAirbyteCrawl(definition, createSourceClient(definition), sink)(order, run);
  } catch (error) {
    if (!(error instanceof Enough)) throw error;
  }
}
