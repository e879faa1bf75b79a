import { execFile } from 'node:child_process';
import { readdir, readFile, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '@platform/embedded';
import { describeWith } from '@platform/testing';
import { parse } from 'yaml';
import { compareMapping } from '../src/airbyte/command.js';
import type { JsonSchema, StreamInfo } from '../src/airbyte/messages.js';
import { readSource } from '../src/airbyte/settings.js';
import { createSourceClient } from '../src/airbyte/source.js';

/*
 * The ready mappings against the streams and fields that the sources' packages have. Not checked: google-drive,
 * microsoft-sharepoint and s3, whose discovery lists files; their one schema is that of the CDK's unstructured format.
 */

const start = '2024-01-01T00:00:00Z';

/** Sources that describe their streams without their API, with a configuration that has the right form. */
const offline = {
  faker: ['faker', { count: 1 }],
  gitlab: [
    'gitlab',
    {
      credentials: { auth_type: 'access_token', access_token: 'x' },
      projects_list: ['a/b'],
      start_date: start,
    },
  ],
  jira: ['jira', { api_token: 'x', domain: 'acme.atlassian.net', email: 'a@b.example' }],
  slack: [
    'slack',
    {
      credentials: { option_title: 'API Token Credentials', api_token: 'x' },
      start_date: start,
      lookback_window: 0,
      join_channels: false,
    },
  ],
  notion: [
    'notion',
    { credentials: { auth_type: 'token', token: 'x' }, start_date: '2024-01-01T00:00:00.000Z' },
  ],
  zendesk: [
    'zendesk-support',
    {
      subdomain: 'acme',
      start_date: start,
      credentials: { credentials: 'api_token', email: 'a@b.example', api_token: 'x' },
    },
  ],
} as const;

const read = (documents: string, source: string, config: object) =>
  readSource(
    { connector: 'code_1', source: `source-${source}`, config: { ...config }, documents, access: 'everyone' },
    { folder: '/', stateFolder: '/', environment: process.env },
  );

interface Manifest {
  readonly streams: readonly object[];
}

/** Reads the streams that are written in the manifest of a source whose discovery needs its API, or does not run. */
async function readManifest(source: string): Promise<StreamInfo[]> {
  const program = await realpath(findProgram(`source-${source}`) ?? '');
  const { stdout } = await promisify(execFile)(join(dirname(program), 'python'), [
    '-c',
    `import importlib.util; print(importlib.util.find_spec("source_${source}").submodule_search_locations[0])`,
  ]);
  const manifest = parse(await readFile(join(stdout.trim(), 'manifest.yaml'), 'utf8')) as Manifest;
  // A manifest is YAML of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
  const resolve = (node: any): any => {
    if (typeof node === 'string' && node.startsWith('#/'))
      return resolve(
        node
          .slice(2)
          .split('/')
          .reduce<Record<string, never>>((value, name) => value[name] ?? {}, manifest as never),
      );
    if (typeof node !== 'object' || node === null || Array.isArray(node)) return node;
    const { $ref, ...own } = node;
    return $ref === undefined ? node : { ...resolve($ref), ...own };
  };
  const resolveSchema = (node: unknown): JsonSchema => {
    const schema = resolve(node);
    const properties = Object.entries(schema.properties ?? {}).map(([name, field]) => [
      name,
      resolveSchema(field),
    ]);
    return {
      ...schema,
      ...(schema.properties && { properties: Object.fromEntries(properties) }),
      ...(schema.items && { items: resolveSchema(schema.items) }),
    };
  };
  return manifest.streams.map((node) => {
    const stream = resolve(node);
    const loader = resolve(stream.schema_loader);
    const schema = resolve(Array.isArray(loader) ? loader[0] : loader)?.schema;
    return { name: stream.name ?? stream.$parameters?.name, json_schema: resolveSchema(schema ?? {}) };
  });
}

describeWith('airbyte-sources', 'a ready mapping', () => {
  test.each(Object.entries(offline))(
    'has the streams and fields of its source: %s',
    async (documents, [source, config]) => {
      const definition = await read(documents, source, config);
      expect(compareMapping(definition, await createSourceClient(definition).discover())).toEqual([]);
    },
  );

  test.each(['github', 'confluence'])(
    'has the streams and fields of its source: %s, by its manifest',
    async (source) => {
      expect(compareMapping(await read(source, source, {}), await readManifest(source))).toEqual([]);
    },
  );

  test.each(['google-drive', 'microsoft-sharepoint', 's3'])(
    'has the fields of unstructured files: %s',
    async (source) => {
      const names = ['content', 'document_key', '_ab_source_file_url', '_ab_source_file_last_modified'];
      const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
      expect(
        compareMapping(await read(source, source, {}), [{ name: 'documents', json_schema: { properties } }]),
      ).toEqual([]);
    },
  );

  test('is in one of these tests', async () => {
    const files = await readdir(join(import.meta.dirname, '../mappings'));
    const tested = [
      ...Object.keys(offline),
      'github',
      'confluence',
      'google-drive',
      'microsoft-sharepoint',
      's3',
    ];
    expect(files.map((file) => file.replace('.yaml', '')).toSorted()).toEqual(tested.toSorted());
  });
});
