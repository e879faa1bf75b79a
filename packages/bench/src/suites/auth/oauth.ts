import { alternate } from '../../load/alternate.js';
import type { Call } from '../../load/call.js';
import { load } from '../../load/load.js';
import type { Fixture } from '../../runner/fixture.js';
import { defineMeasurement } from '../../runner/measurement.js';
import { type BenchIdentity, createMany, startIdentity } from '../../servers/identity.js';
import { startProgram } from '../../servers/process.js';
import { ME, USED_AT_ONCE } from './environment.js';

/** OAuth adds verification of its tokens, and a layer above the library that issues them. */
const turns = { rounds: 5, share: 0.5, warmUpSeconds: 2 };
const SCOPES = ['crawl:read', 'user:read'];
const form = { grant_type: 'client_credentials', scope: SCOPES.join(' ') };
/** Identity limits the requests of each network to 600 in a minute. */
const addresses = Array.from({ length: 5_000 }, (_value, index) => `10.0.${index >> 8}.${index & 255}`);

const startOauthIdentity = (fixture: Fixture) =>
  startIdentity(fixture, 'bench_oauth', { TRUST_PROXY: '127.0.0.1' });
const toBasic = (id: string, secret: string) => `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

/** @returns the `Authorization` header of a new application. */
async function createApplication({ call }: BenchIdentity): Promise<string> {
  const fields = { name: 'Bench', grantTypes: ['client_credentials'], scopes: SCOPES, role: 'admin' };
  const created = await call<{ application: { clientId: string }; clientSecret: string }>(
    'POST',
    '/api/v1/oauth-applications',
    fields,
  );
  return toBasic(created.application.clientId, created.clientSecret);
}

async function requestToken(url: string, authorization: string, address: string): Promise<string> {
  const headers = { authorization, 'x-forwarded-for': address };
  const response = await fetch(url, { method: 'POST', headers, body: new URLSearchParams(form) });
  if (!response.ok)
    throw new Error(`the token endpoint answered ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { access_token: string }).access_token;
}

export const oauthVerification = defineMeasurement({
  title: 'verification of OAuth access tokens against personal access tokens',
  limitSeconds: 120,
  values: {
    oauth_vs_pat: { bar: { min: 0.97 }, note: 'OAuth access tokens / personal access tokens' },
    oauth: { unit: '/s', note: 'users/me with an OAuth access token' },
  },
  async run(fixture) {
    const identity = await fixture.share(startOauthIdentity);
    const { url } = identity;
    const authorization = await createApplication(identity);
    const account = { name: 'Bench', role: 'admin' };
    const { serviceAccount } = await identity.call<{ serviceAccount: { id: string } }>(
      'POST',
      '/api/v1/service-accounts',
      account,
    );
    const path = `/api/v1/service-accounts/${serviceAccount.id}/tokens`;
    const pats = await identity.createTokens(USED_AT_ONCE, { path, scopes: SCOPES });
    const tokens = await createMany(addresses.slice(0, USED_AT_ONCE), (address) =>
      requestToken(`${url}/oauth2/token`, authorization, address),
    );
    const request = async (bearers: readonly string[], seconds: number) => {
      const calls = bearers.map((bearer): Call => ({ bearer }));
      return (await load(url + ME, calls, { seconds })).requestsPerSecond;
    };
    const { rate, ratio } = await alternate(fixture, turns, {
      pat: (seconds) => request(pats, seconds),
      oauth: (seconds) => request(tokens, seconds),
    });
    return { oauth_vs_pat: ratio('oauth', 'pat'), oauth: rate('oauth') };
  },
});

export const issuance = defineMeasurement({
  title: 'issuing tokens to an application against oidc-provider alone',
  limitSeconds: 120,
  values: {
    issuance_vs_library: { bar: { min: 0.4 }, note: 'client_credentials: identity / oidc-provider alone' },
    issued: { unit: '/s', note: 'client_credentials, each token stored before it is sent' },
  },
  async run(fixture) {
    const identity = await fixture.share(startOauthIdentity);
    const library = fixture.keep(await startProgram(new URL('oauth-library.js', import.meta.url)));
    const request = (url: string, authorization: string) => {
      const calls = addresses.map((address): Call => ({
        form,
        headers: { authorization, 'x-forwarded-for': address },
      }));
      return async (seconds: number) => (await load(url, calls, { seconds })).requestsPerSecond;
    };
    const { rate, ratio } = await alternate(fixture, turns, {
      library: request(`${library.url}/token`, toBasic('bench', 'bench-secret')),
      identity: request(`${identity.url}/oauth2/token`, await createApplication(identity)),
    });
    return { issuance_vs_library: ratio('identity', 'library'), issued: rate('identity') };
  },
});
