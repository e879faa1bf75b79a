import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { parse } from 'yaml';
import { AccessEntry } from '../documents/contract.js';
import type { SourceDefinition } from './source.js';

/** The settings are wrong. The message says which one, and what it must be. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

const Access = Type.Union([Type.Literal('everyone'), Type.Array(AccessEntry)]);
type Access = Static<typeof Access>;

const Stream = Type.Object(
  {
    id: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1 })]),
    title: Type.String(),
    text: Type.String(),
    url: Type.Optional(Type.String()),
    mimeType: Type.Optional(Type.String()),
    updatedAt: Type.Optional(Type.String()),
    deletedWhen: Type.Optional(Type.String()),
    skipWhen: Type.Optional(Type.String()),
    access: Type.Optional(Access),
    permissionsId: Type.Optional(Type.String()),
  },
  { additionalProperties: false },
);

/** A file of mappings: one for each stream that is crawled. */
const Documents = Type.Object(
  {
    extends: Type.Optional(Type.String()),
    access: Type.Optional(Access),
    streams: Type.Optional(Type.Record(Type.String(), Type.Union([Stream, Type.Null()]))),
  },
  { additionalProperties: false },
);

/** The configuration of a source, or the file that has it. */
const Configuration = Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown())]);

/** One source of a file. */
const Source = Type.Object(
  {
    connector: Type.String({ minLength: 1 }),
    instance: Type.Optional(Type.String({ minLength: 1 })),
    source: Type.String({ minLength: 1 }),
    config: Configuration,
    permissions: Type.Optional(Configuration),
    about: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
    documents: Type.String({ minLength: 1 }),
    access: Type.Optional(Access),
  },
  { additionalProperties: false },
);
export type Source = Static<typeof Source>;

const SourcesFile = Type.Object(
  {
    url: Type.Optional(Type.String()),
    sink: Type.Optional(Type.String()),
    folder: Type.Optional(Type.String()),
    sources: Type.Array(Source, { minItems: 1 }),
  },
  { additionalProperties: false },
);
export type SourcesFile = Static<typeof SourcesFile>;

const validators = { documents: Compile(Documents), sources: Compile(SourcesFile) };

/** The ready mappings, in the workspace and in the bundle of the npm package. */
const MAPPINGS = ['../../mappings/', '../mappings/']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(join(path, 'github.yaml')));

async function readYaml(path: string): Promise<unknown> {
  try {
    // JSON is YAML, too.
    return parse(await readFile(path, 'utf8'), { intAsBigInt: false }) as unknown;
  } catch (error) {
    throw new SettingsError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

function readAs<T>(
  validator: {
    Check(value: unknown): value is T;
    Errors(value: unknown): { instancePath: string; message: string }[];
  },
  value: unknown,
  path: string,
): T {
  if (validator.Check(value)) return value;
  const [error] = validator.Errors(value);
  throw new SettingsError(`${path}: ${error?.instancePath ?? ''} ${error?.message ?? 'is wrong'}`);
}

export async function readSourcesFile(path: string): Promise<SourcesFile> {
  return readAs(validators.sources, await readYaml(path), path);
}

const toEntries = (access: Access) => (access === 'everyone' ? [{ kind: 'everyone' as const }] : access);

/** @param name - of a ready mapping, or the path of a file. */
async function readDocuments(
  name: string,
  folder: string,
  depth = 0,
): Promise<{ access?: Access; streams: Record<string, Static<typeof Stream>> }> {
  const path = /^[\w-]+$/.test(name) ? join(MAPPINGS ?? '', `${name}.yaml`) : resolve(folder, name);
  const file = readAs(validators.documents, await readYaml(path), path);
  if (depth > 5) throw new SettingsError(`${path} extends itself`);
  const base =
    file.extends === undefined ? undefined : await readDocuments(file.extends, dirname(path), depth + 1);
  const access = file.access ?? base?.access;
  // A stream without a mapping is left out.
  const all = Object.entries({ ...base?.streams, ...file.streams });
  const streams = Object.fromEntries(
    all.filter((entry): entry is [string, Static<typeof Stream>] => entry[1] !== null),
  );
  if (Object.keys(streams).length === 0) throw new SettingsError(`${path} maps no stream`);
  return { ...(access !== undefined && { access }), streams };
}

/** @throws SettingsError. */
async function readConfiguration(
  given: Source['config'],
  folder: string,
  connector: string,
): Promise<object> {
  const config = typeof given === 'string' ? await readYaml(resolve(folder, given)) : given;
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw new SettingsError(`The configuration of ${connector} must be an object`);
  return config;
}

/**
 * Reads everything that an entry names.
 *
 * @param folder - that paths are relative to. @throws SettingsError.
 */
export async function readSource(
  entry: Source,
  {
    folder,
    stateFolder,
    environment,
  }: { readonly folder: string; readonly stateFolder: string; readonly environment: NodeJS.ProcessEnv },
): Promise<SourceDefinition> {
  const { connector, instance = 'default', source: command, about } = entry;
  const config = await readConfiguration(entry.config, folder, connector);
  const permissions = entry.permissions && (await readConfiguration(entry.permissions, folder, connector));
  const documents = await readDocuments(entry.documents, folder);
  const access = permissions ? undefined : (entry.access ?? documents.access);
  const streams = Object.entries(documents.streams);
  const unsaid = streams.filter(
    ([, stream]) => (stream.access ?? access) === undefined && !(permissions && stream.permissionsId),
  );
  if (permissions && entry.access)
    throw new SettingsError(
      `Of ${connector}, say either access or permissions, which are those of the source`,
    );
  if (unsaid.length > 0)
    throw new SettingsError(
      `Say who may find the documents of ${connector} (${unsaid.map(([name]) => name).join(', ')}): access: everyone, or a list of groups and users`,
    );
  return {
    connector,
    instance,
    command,
    config,
    ...(permissions && { permissions }),
    ...(about !== undefined && { about }),
    streams: Object.fromEntries(
      streams.map(([name, { access: own, ...stream }]) => [
        name,
        { ...stream, ...(own && { access: toEntries(own) }) },
      ]),
    ),
    access: access === undefined ? undefined : toEntries(access),
    folder: isAbsolute(stateFolder) ? stateFolder : resolve(folder, stateFolder),
    environment,
  };
}

/** Reads `everyone`, or `group:engineering,user:ada@example.com`. */
export function parseAccess(text: string): Access {
  if (text === 'everyone') return text;
  return text.split(',').map((part) => {
    const [, kind, id] = /^(group|user):(.+)$/.exec(part.trim()) ?? [];
    if (kind === undefined || id === undefined)
      throw new SettingsError(
        `--access must be everyone, or like group:engineering,user:ada@example.com, not "${text}"`,
      );
    return { kind: kind as 'group' | 'user', id };
  });
}
