import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICES } from '@platform/local/services';
import { root } from './kustomize.js';

/*
 * The console's router, identity, and the gateways each name the paths of the console. Here the three are held together;
 * other tests of this folder hold the gateways together.
 */

const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const listSorted = (paths: Iterable<string>): string[] => [...new Set(paths)].toSorted();

/** The first segments of the screens' paths; `/` is served by itself. */
const screens = listSorted(
  [...read('packages/console/src/screens.ts').matchAll(/\bpath: '(\/[^'/]*)/g)]
    .map(([, prefix = '']) => prefix)
    .filter((prefix) => prefix !== '/'),
);
const [, list = ''] =
  /SCREEN_PATHS = \[([^\]]*)\]/.exec(read('services/identity/src/features/console/routes.ts')) ?? [];
const served = listSorted([...list.matchAll(/'([^']+)'/g)].map(([, path = '']) => path));
const routed = listSorted(SERVICES.find(({ name }) => name === 'identity')?.prefixes ?? []);
/** What gateways route to identity beside the screens. */
const OTHERS = /^\/(?:api|assets|mcp|oauth2|sign-in|sign-out|\.well-known)(?:\/|$)/;

test('identity serves the prefix of every screen, and no other (UI-1)', () => {
  expect(screens).toContain('/account');
  expect(served).toEqual(screens);
});

test('gateways route the prefix of every screen, and no other, to identity (UI-1)', () => {
  expect(routed.filter((path) => !OTHERS.test(path))).toEqual(screens);
});
