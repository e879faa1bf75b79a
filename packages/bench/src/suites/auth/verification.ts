import { alternate } from '../../load/alternate.js';
import type { Call } from '../../load/call.js';
import { load } from '../../load/load.js';
import { defineMeasurement, median } from '../../runner/measurement.js';
import type { BenchIdentity } from '../../servers/identity.js';
import type { NodeServer } from '../../servers/process.js';
import { forgedBearers, garbageBearers } from './bearers.js';
import { ME, SCOPES, startBare, startLarge, startSmall, USED_AT_ONCE } from './environment.js';

const turns = { rounds: 9, share: 1 / 3, warmUpSeconds: 3 };
/** The largest number of ranges; the load comes from an address in the last one. */
const ALLOW_LIST = [
  ...Array.from({ length: 19 }, (_value, index) =>
    index % 2 ? `2001:db8:${index}::/48` : `10.${index}.0.0/16`,
  ),
  '127.0.0.0/8',
];

/** Bounds of every kind. */
const BOUNDS = {
  servers: [],
  tools: ['whoami', 'list_crawls', 'get_crawl'],
  connectors: ['code_1', 'files_1'],
};
const GROUPS = 5;

/** Creates tokens with bounds, of a service account that is in groups. */
async function createLimitedTokens({ call, createTokens }: BenchIdentity): Promise<string[]> {
  const account = { name: 'Limited', role: 'member' };
  const { serviceAccount } = await call<{ serviceAccount: { id: string } }>(
    'POST',
    '/api/v1/service-accounts',
    account,
  );
  for (let index = 0; index < GROUPS; index += 1) {
    const { group } = await call<{ group: { id: string } }>('POST', '/api/v1/groups', {
      name: `Group ${index}`,
    });
    await call('POST', `/api/v1/groups/${group.id}/members`, { members: [serviceAccount.id] });
  }
  const path = `/api/v1/service-accounts/${serviceAccount.id}/tokens`;
  return createTokens(USED_AT_ONCE, { path, scopes: ['user:read'], bounds: BOUNDS });
}

const toCalls = (bearers: readonly string[], expected = 200): Call[] =>
  bearers.map((bearer) => ({ bearer, expected }));
const request = async ({ url }: NodeServer, calls: readonly Call[], seconds: number) =>
  (await load(url + ME, calls, { seconds })).requestsPerSecond;

export const verification = defineMeasurement({
  title: 'verification of tokens against a bare route',
  limitSeconds: 180,
  values: {
    verify_vs_bare: { bar: { min: 0.4 }, note: 'users/me with a token / a bare Fastify JSON route' },
    bounds_vs_none: { bar: { min: 0.97 }, note: 'tokens with bounds / without' },
    groups_vs_none: {
      note: 'tokens with bounds of an account in five groups, which the answer names / without',
    },
    allow_lists_vs_none: { bar: { min: 0.97 }, note: 'tokens with an allow list of 20 ranges / without' },
    garbage_vs_bare: { bar: { min: 0.55 }, note: 'bearers of others / a bare Fastify JSON route' },
    bare: { unit: '/s', note: 'a bare Fastify JSON route' },
    thousand: { unit: '/s', note: 'users/me with a token, liveness from PostgreSQL each time' },
    forged: { unit: '/s', note: '20,000 different tokens with a forged signature: one Ed25519 check each' },
    verify_p99: { unit: 'ms', note: 'p99 of users/me, 50 connections' },
    resident: { unit: 'MiB', bar: { max: 200 }, note: 'peak memory of identity under these loads' },
  },
  async run(fixture) {
    const bare = await fixture.share(startBare);
    const identity = await fixture.share(startSmall);
    const listed = await identity.createTokens(USED_AT_ONCE, { scopes: SCOPES, allowList: ALLOW_LIST });
    const bounded = await identity.createTokens(USED_AT_ONCE, { scopes: SCOPES, bounds: BOUNDS });
    const limited = await createLimitedTokens(identity);
    // The bare route gets the same headers, because parsing them takes time there too.
    const valid = toCalls(identity.tokens);
    const p99Ms: number[] = [];
    const { rate, ratio } = await alternate(fixture, turns, {
      bare: (seconds) => request(bare, valid, seconds),
      thousand: async (seconds) => {
        const { requestsPerSecond, p99Ms: p99 } = await load(identity.url + ME, valid, { seconds });
        p99Ms.push(p99);
        return requestsPerSecond;
      },
      bounded: (seconds) => request(identity, toCalls(bounded), seconds),
      limited: (seconds) => request(identity, toCalls(limited), seconds),
      listed: (seconds) => request(identity, toCalls(listed), seconds),
      garbage: (seconds) => request(identity, toCalls(garbageBearers(), 401), seconds),
      forged: (seconds) => request(identity, toCalls(forgedBearers(identity.tokens[0] ?? ''), 401), seconds),
    });
    return {
      verify_vs_bare: ratio('thousand', 'bare'),
      bounds_vs_none: ratio('bounded', 'thousand'),
      groups_vs_none: ratio('limited', 'thousand'),
      allow_lists_vs_none: ratio('listed', 'thousand'),
      garbage_vs_bare: ratio('garbage', 'bare'),
      bare: rate('bare'),
      thousand: rate('thousand'),
      forged: rate('forged'),
      verify_p99: median(p99Ms),
      resident: await identity.residentPeakMib(),
    };
  },
});

export const millionTokens = defineMeasurement({
  title: 'verification with a million tokens against a thousand',
  limitSeconds: 300,
  values: {
    million_vs_thousand: { bar: { min: 0.9 }, note: 'users/me with 1,000,000 tokens / with 1,000' },
    million: { unit: '/s', note: 'users/me with 1,000,000 tokens of 100,000 members' },
  },
  async run(fixture) {
    const [small, large] = [await fixture.share(startSmall), await fixture.share(startLarge)];
    const { rate, ratio } = await alternate(fixture, turns, {
      thousand: (seconds) => request(small, toCalls(small.tokens), seconds),
      million: (seconds) => request(large, toCalls(large.tokens), seconds),
    });
    return { million_vs_thousand: ratio('million', 'thousand'), million: rate('million') };
  },
});
