import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, integer, list, origin, loadConfig, oneOf, text, url, withDefault } from './config.js';
import { serviceVariables } from './service-variables.js';

const SECRET = 'never-to-be-printed';
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'config-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function fileWith(content: string): string {
  const file = join(folder, `${Math.random()}`);
  writeFileSync(file, content);
  return file;
}

function getFaults(act: () => unknown): readonly string[] {
  try {
    act();
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

// oxfmt-ignore
test('reports all faults at once with name and expected form, never with the value', () => {
  const variables = { A: text('a secret'), B: integer(1, 5), C: url(['https:'], 'https://example.com'), D: oneOf('x', 'y'), E: text() };
  const faults = getFaults(() => loadConfig({ B: SECRET, C: `http://${SECRET}`, D: SECRET, E_FILE: `/nowhere/${SECRET}` }, variables));
  expect(faults).toEqual([
    'A is missing: it must be a secret',
    'B must be a whole number from 1 to 5',
    'C must be a URL such as https://example.com',
    'D must be one of x, y',
    "E_FILE names a file that can't be read",
  ]);
  expect(new ConfigError(faults).message).not.toContain(SECRET);
});

test('reads a value from a file without its last line break, and from one place only', () => {
  expect(loadConfig({ A_FILE: fileWith('value\n') }, { A: text() })).toEqual({ A: 'value' });
  expect(loadConfig({ A_FILE: fileWith(' a\nb\r\n') }, { A: text() })).toEqual({ A: ' a\nb' });
  expect(getFaults(() => loadConfig({ A: 'x', A_FILE: fileWith('x') }, { A: text() }))).toEqual([
    'A and A_FILE are both set: keep one',
  ]);
});

test('treats an empty variable and an empty file as absent', () => {
  const variables = { A: withDefault(text(), 'fallback') };
  for (const env of [{}, { A: '' }, { A_FILE: '' }, { A_FILE: fileWith('') }, { A_FILE: fileWith('\n') }])
    expect(loadConfig(env, variables)).toEqual({ A: 'fallback' });
});

// oxfmt-ignore
test.each(['1.5', '1e1', ' 1', '0x1', '', 'NaN', '99999999999999999999', '-1', '6'])('rejects %j as a whole number from 0 to 5', (value) => {
  expect(integer(0, 5).parse(value)).toBeUndefined();
});

test('the address of a site has no path', () => {
  const { parse } = origin(['https:'], 'https://knowledge.example.com');
  expect(['https://a.example', 'https://A.example/', 'https://a.example:8443'].map(parse)).toEqual([
    'https://a.example',
    'https://a.example',
    'https://a.example:8443',
  ]);
  const wrong = [
    'https://a.example/wiki',
    'https://a.example/?x',
    'https://a.example/#x',
    'https://me@a.example',
  ];
  expect([...wrong, 'http://a.example', 'a.example'].map(parse)).toEqual(Array(6).fill(undefined));
});

test('drops blanks and empty items of lists', () => {
  expect(list('').parse(' a, ,b,,')).toEqual(['a', 'b']);
});

test('accepts addresses and ranges as proxies', () => {
  const { TRUST_PROXY } = serviceVariables;
  expect(TRUST_PROXY.parse('10.0.0.0/8, ::1,fd00::/8, 127.0.0.1')).toHaveLength(4);
  for (const value of [
    '10.0.0.0/33',
    '10.0.0',
    'proxy.local',
    '::1/129',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    'true',
    '*',
    // With a range of everybody, anybody could claim any address.
    '0.0.0.0/0',
    '10.0.0.0/8,::/0',
    '0.0.0.0/00',
  ])
    expect([value, TRUST_PROXY.parse(value)]).toEqual([value, undefined]);
});

// oxfmt-ignore
test('disables tracing for true in any case, and rejects what is not a boolean', () => {
  const { OTEL_SDK_DISABLED } = serviceVariables;
  const values = ['true', 'TRUE', 'False', 'yes', '1', 'constructor'];
  expect(values.map((value) => OTEL_SDK_DISABLED.parse(value))).toEqual([true, true, false, undefined, undefined, undefined]);
});

test('reports contradictions with the other faults, and checks only valid values for them', () => {
  const variables = { A: withDefault(integer(0, 9), 1), B: withDefault(integer(0, 9), 2), C: integer(0, 9) };
  const load = (env: NodeJS.ProcessEnv) =>
    loadConfig(env, variables, ({ A = 0, B = 9 }) => (A > B ? ['A must not exceed B'] : []));
  expect(getFaults(() => load({ A: '3' }))).toEqual([
    'C is missing: it must be a whole number from 0 to 9',
    'A must not exceed B',
  ]);
  expect(getFaults(() => load({ A: '9', B: SECRET, C: '1' }))).toEqual([
    'B must be a whole number from 0 to 9',
  ]);
  expect(load({ C: '1' })).toEqual({ A: 1, B: 2, C: 1 });
});
