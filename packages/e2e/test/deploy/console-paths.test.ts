import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICES } from '@platform/local/services';
import { root } from './chart.js';

/*
 * The console's router, identity and the gateways each list the paths of the console. This test compares the three;
 * other tests in this folder compare the gateways.
 */

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const listSorted = (paths: Iterable<string>): string[] => [...new Set(paths)].toSorted();

/** The first segments of the screens' paths; `/` is served separately. */
const screens = listSorted(
  [...read('packages/console/src/screens.ts').matchAll(/\bpath: '(\/[^'/]*)/g)]
    .map(([, prefix = '']) => prefix)
    .filter((prefix) => prefix !== '/'),
);
const [, list = ''] =
  /SCREEN_PATHS = \[([^\]]*)\]/.exec(read('services/identity/src/console/routes.ts')) ?? [];
const served = listSorted([...list.matchAll(/'([^']+)'/g)].map(([, path = '']) => path));
const routed = listSorted(SERVICES.find(({ name }) => name === 'identity')?.prefixes ?? []);
/** The paths besides the screens that gateways route to identity. */
const OTHERS =
  /^\/(?:api|access|assets|mcp|oauth2|authorize|token|register|sign-in|sign-out|docs|v0\.1|\.well-known)(?:\/|$)/;

test('identity serves the prefixes of the screens, and no others (UI-1)', () => {
  expect(screens).toContain('/account');
  expect(served).toEqual(screens);
});

test('gateways route the prefixes of the screens, and no others, to identity (UI-1)', () => {
  expect(routed.filter((path) => !OTHERS.test(path))).toEqual(screens);
});

test('the console has words for every action of the audit log', () => {
  const source = read('services/identity/src/audit/actions.ts');
  const actions = [...source.matchAll(/^ {2}'([a-z_]+\.[a-z_]+)':/gm)].map(([, action = '']) => action);
  const words = read('packages/console/src/text/en/audit.ts');
  expect(actions).toContain('token.revoked');
  expect(actions.filter((action) => !words.includes(`'${action}': '`))).toEqual([]);
});

test('the pages of the sign-in have the face that the console brings', () => {
  const { devDependencies } = JSON.parse(read('packages/console/package.json')) as {
    devDependencies: Record<string, string>;
  };
  expect(read('services/identity/src/sign-in/page-kit/style.ts')).toContain(
    `/assets/inter-${devDependencies['@fontsource-variable/inter']}.woff2`,
  );
});
