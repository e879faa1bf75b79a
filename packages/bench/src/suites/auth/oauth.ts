import { openFixture } from '../../fixture.js';
import { type BenchIdentity, send, startBenchIdentity } from '../../identity.js';
import { load } from '../../load.js';
import { startProgram } from '../../service-process.js';
import { median, type SuiteOptions, type SuiteResult } from '../../suite.js';
import { ME, USED_AT_ONCE } from './environment.js';

const ROUNDS = 5;
const WARM_UP_SECONDS = 2;
const CREATE_CONCURRENCY = 16;
const SCOPES = ['crawl:read', 'user:read'];
/** Identity limits the requests of each network to 600 in a minute. */
const ADDRESSES = Array.from({ length: 5_000 }, (_value, index) => `10.0.${index >> 8}.${index & 255}`);
const grant = { grant_type: 'client_credentials', scope: SCOPES.join(' ') };

interface Application {
  readonly basic: string;
  readonly accountId: string;
}

const toBasic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

async function createApplication({ url, session }: BenchIdentity): Promise<Application> {
  const fields = { name: 'Bench', grantTypes: ['client_credentials'], scopes: SCOPES, role: 'admin' };
  const { body } = await send(`${url}/api/v1/oauth-applications`, 'POST', session, fields);
  const { application, clientSecret } = body as {
    application: { clientId: string; serviceAccount: { id: string } };
    clientSecret: string;
  };
  return { basic: toBasic(application.clientId, clientSecret), accountId: application.serviceAccount.id };
}

/** Calls `create` until there are as many tokens as the load uses. */
async function createTokens(create: (address: string) => Promise<string>): Promise<string[]> {
  const tokens: string[] = [];
  const left = ADDRESSES.slice(0, USED_AT_ONCE);
  const createSome = async () => {
    for (let address = left.pop(); address !== undefined; address = left.pop())
      tokens.push(await create(address));
  };
  await Promise.all(Array.from({ length: CREATE_CONCURRENCY }, createSome));
  return tokens;
}

async function requestToken(
  { url }: BenchIdentity,
  { basic }: Application,
  address: string,
): Promise<string> {
  const body = new URLSearchParams(grant);
  const headers = { authorization: basic, 'x-forwarded-for': address };
  const response = await fetch(`${url}/oauth2/token`, { method: 'POST', headers, body });
  if (!response.ok)
    throw new Error(`the token endpoint answered ${response.status}: ${await response.text()}`);
  return ((await response.json()) as { access_token: string }).access_token;
}

/** Both act as a service account, which has no `users/me`: the request is verified, and then refused with 403. */
async function measureVerification(
  identity: BenchIdentity,
  { seconds, progress }: SuiteOptions,
): Promise<SuiteResult> {
  progress('creating tokens of an application and of a service account');
  const { url, session } = identity;
  const application = await createApplication(identity);
  const { body } = await send(`${url}/api/v1/service-accounts`, 'POST', session, { name: 'Bench', role: 'admin' });
  const { serviceAccount } = body as { serviceAccount: { id: string } };
  const path = `${url}/api/v1/service-accounts/${serviceAccount.id}/tokens`;
  const targets = {
    pat: await createTokens(async () => {
      const created = await send(path, 'POST', session, { name: 'bench', scopes: SCOPES });
      return (created.body as { token: { accessToken: string } }).token.accessToken;
    }),
    oauth: await createTokens((address) => requestToken(identity, application, address)),
  };
  const rates = { pat: [] as number[], oauth: [] as number[] };
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const kind of ['pat', 'oauth'] as const) {
      const duration = round === 0 ? WARM_UP_SECONDS : seconds / 2;
      const { requestsPerSecond } = await load(url + ME, { seconds: duration, bearers: targets[kind], expected: 403 });
      if (round > 0) rates[kind].push(requestsPerSecond);
    }
  const note = 'requests of a service account, liveness read from PostgreSQL each time';
  return {
    figures: [
      { name: 'personal access tokens', value: median(rates.pat), unit: 'requests/s', note },
      { name: 'OAuth access tokens', value: median(rates.oauth), unit: 'requests/s', note },
    ],
    ratios: [
      {
        name: 'oauth_vs_pat',
        value: median(rates.oauth.map((rate, round) => rate / (rates.pat[round] ?? Number.NaN))),
        goal: { min: 0.97 },
        note: 'OAuth access tokens / personal access tokens',
      },
    ],
  };
} // prettier-ignore

/** Measures `client_credentials` at identity, which stores each token, and at the library that it is built on. */
async function measureIssuance(
  identity: BenchIdentity,
  { seconds, progress }: SuiteOptions,
): Promise<SuiteResult> {
  progress('issuing tokens to an application');
  const library = await startProgram(new URL('oauth-library.js', import.meta.url));
  const { basic } = await createApplication(identity);
  const targets = {
    library: { url: `${library.url}/token`, authorization: toBasic('bench', 'bench-secret') },
    identity: { url: `${identity.url}/oauth2/token`, authorization: basic },
  };
  const rates = { library: [] as number[], identity: [] as number[] };
  try {
    for (let round = 0; round <= ROUNDS; round += 1)
      for (const name of ['library', 'identity'] as const) {
        const duration = round === 0 ? WARM_UP_SECONDS : seconds / 2;
        const { url, authorization } = targets[name];
        const { requestsPerSecond } = await load(url, { seconds: duration, form: grant, headers: { authorization }, addresses: ADDRESSES });
        if (round > 0) rates[name].push(requestsPerSecond);
      }
  } finally {
    await library.stop();
  }
  return {
    figures: [
      { name: 'oidc-provider', value: median(rates.library), unit: 'tokens/s', note: 'client_credentials, alone, stored in memory' },
      { name: 'identity', value: median(rates.identity), unit: 'tokens/s', note: 'client_credentials, each stored before it is sent' },
    ],
    ratios: [
      {
        name: 'issuance_vs_library',
        value: median(rates.identity) / median(rates.library),
        goal: { min: 0.4 },
        note: 'identity / oidc-provider: client_credentials',
      },
    ],
  };
} // prettier-ignore

/** Measures what OAuth adds: to the verification of tokens, and to the library that issues them. */
export async function* measureOauth(options: SuiteOptions, isWanted: (part: string) => boolean) {
  const { identity, stop } = await openFixture(async ({ postgres, keep }) => ({
    identity: keep(await startBenchIdentity(postgres, 'bench_oauth', { TRUST_PROXY: '127.0.0.1' })),
  }));
  try {
    if (isWanted('oauth_vs_pat')) yield await measureVerification(identity, options);
    if (isWanted('issuance_vs_library')) yield await measureIssuance(identity, options);
  } finally {
    await stop();
  }
}
