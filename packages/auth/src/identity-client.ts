import { setTimeout as delay } from 'node:timers/promises';
import { type Clock, createBatcher, dependencyUnavailable, notApplied } from '@platform/service-kit';
import { Pool } from 'undici';
import type { SignedCredential } from './credential.js';
import {
  MAX_ADDRESS_LENGTH,
  MAX_INTROSPECTION_BATCH,
  type Introspection,
  type IntrospectionClient,
  MAX_USER_AGENT_LENGTH,
  INTROSPECTION_BATCH_PATH,
  type IntrospectionBatch,
  JWKS_PATH,
  TOKEN_PATH,
} from './introspection.js';
import { type Jwks, type KeySet, toKeys } from './key-set.js';
import type { LiveOwner, Liveness, Presentation } from './liveness.js';

/** How another service reaches identity. */
export interface IdentityClientOptions {
  /** Identity's own base URL, inside the cluster. */
  readonly identityUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly clock: Clock;
  /** Called when loading the keys fails; called again only after they have been loaded in between. */
  readonly onKeysFailed?: (error: unknown) => void;
}

export interface IdentityClient {
  readonly keySet: KeySet;
  readonly liveness: Liveness;
  /** Returns this service's own credential, for calling another service. */
  serviceToken(): Promise<string>;
  /** Loads the keys and keeps them fresh until closed. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Identity publishes a new signing key longer than this before it signs with it (see identity's README). */
const KEYS_POLL_MS = 5_000;
/** The interval until the first keys are loaded; services start in any order. */
const FIRST_KEYS_POLL_MS = 250;
const REQUEST_TIMEOUT_MS = 1_500;
const CONNECTIONS = 2;
/** A few times as long as identity takes to answer. */
const MAX_WAIT_MS = 3;
/** A service credential is replaced this long before it ends. */
const RENEW_BEFORE_MS = 60_000;

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** Errors of a kept-alive connection whose replica of identity went away during a request. */
const brokenConnection = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
const isBroken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && brokenConnection.has(String(error.code));

/** These requests change nothing, so one whose connection breaks is retried once, within the same timeout. */
function createCaller(identityUrl: string) {
  const { origin } = new URL(identityUrl);
  const pool = new Pool(origin, {
    connections: CONNECTIONS,
    connect: { timeout: 1_000 },
    headersTimeout: REQUEST_TIMEOUT_MS,
    bodyTimeout: REQUEST_TIMEOUT_MS,
  });
  async function call(
    method: 'GET' | 'POST',
    path: string,
    headers: Record<string, string> = {},
    body?: string,
  ): Promise<Answer> {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const ask = async (): Promise<Answer> => {
      const response = await pool.request({
        method,
        path,
        headers,
        ...(body === undefined ? {} : { body }),
        signal,
      });
      return { status: response.statusCode, body: await response.body.json() };
    };
    try {
      return await ask();
    } catch (error) {
      if (!isBroken(error)) throw error;
      return ask();
    }
  }
  return { call, close: () => pool.close() };
}

type Call = ReturnType<typeof createCaller>['call'];

/** Form-encodes one part of the client credentials (RFC 6749 §2.3.1). */
const encodeForm = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1);

/** Obtains a credential by the client credentials grant (RFC 6749 §4.4). Concurrent callers share one request. */
function createServiceToken(call: Call, options: IdentityClientOptions) {
  let current: { readonly token: string; readonly renewAt: number } | undefined;
  let pending: Promise<string> | undefined;
  async function request(): Promise<string> {
    const { clientId, clientSecret } = options;
    const basic = Buffer.from(`${encodeForm(clientId)}:${encodeForm(clientSecret)}`).toString('base64');
    const { status, body } = await call(
      'POST',
      TOKEN_PATH,
      { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
      'grant_type=client_credentials',
    );
    if (status !== 200)
      throw new Error(`identity answered ${status} to the client credentials of ${options.clientId}`);
    const { access_token: token, expires_in: seconds } = body as { access_token: string; expires_in: number };
    current = {
      token,
      renewAt: options.clock() + Math.max(seconds * 500, seconds * 1_000 - RENEW_BEFORE_MS),
    };
    return token;
  }
  return {
    get(): Promise<string> {
      if (current && options.clock() < current.renewAt) return Promise.resolve(current.token);
      pending ??= request().finally(() => {
        pending = undefined;
      });
      return pending;
    },
    forget(): void {
      current = undefined;
    },
  };
}

/** Marks an outage as not applied, because nothing is done for a credential before it is verified. */
const unavailable = (cause: unknown) => notApplied(dependencyUnavailable('identity', cause));

function createKeys(call: Call, onFailed: (error: unknown) => void) {
  const abort = new AbortController();
  let keys: ReadonlyMap<string, string> | undefined;
  let published = '';
  let isStale = false;
  async function load(): Promise<void> {
    const { status, body } = await call('GET', JWKS_PATH);
    if (status !== 200) throw new Error(`identity answered ${status} to ${JWKS_PATH}`);
    const text = JSON.stringify(body);
    if (text === published) return;
    keys = toKeys(body as Jwks);
    published = text;
  }
  async function refresh(): Promise<void> {
    try {
      await load();
      isStale = false;
    } catch (error) {
      // An outage is reported once, not at every poll.
      if (!isStale) onFailed(error);
      isStale = true;
    }
  }
  async function poll(): Promise<void> {
    while (!abort.signal.aborted) {
      await delay(keys ? KEYS_POLL_MS : FIRST_KEYS_POLL_MS, undefined, {
        ref: false,
        signal: abort.signal,
      }).catch(() => undefined);
      if (!abort.signal.aborted) await refresh();
    }
  }
  const keySet: KeySet = {
    current() {
      if (!keys) throw unavailable(new Error('no signing keys yet'));
      return keys;
    },
    isStale: () => isStale,
  };
  return {
    keySet,
    async start() {
      // Identity may start after us: verification answers 503 until the keys are there.
      await refresh();
      void poll();
    },
    close: () => {
      abort.abort();
    },
  };
}

interface LivenessQuery {
  readonly credential: SignedCredential;
  readonly presentation: Presentation;
}

const toIntrospectionClient = ({ address, userAgent }: Presentation): IntrospectionClient => ({
  ...(address !== undefined && address.length <= MAX_ADDRESS_LENGTH && { address }),
  ...(userAgent !== undefined && { userAgent: userAgent.slice(0, MAX_USER_AGENT_LENGTH) }),
});

/** @param signedScope - of the credential's claims. Identity answers fewer scopes when some were removed since. */
function toLiveOwner(
  {
    active,
    role = 'member',
    username,
    name,
    scope,
    service_account: isServiceAccount = false,
  }: Introspection,
  signedScope: string | undefined,
): LiveOwner | undefined {
  if (!active) return undefined;
  const owner = { role, email: username ?? '', fullName: name ?? '', isServiceAccount };
  if (signedScope === undefined || scope === undefined || scope === signedScope) return owner;
  return { ...owner, scopes: new Set(scope.split(' ')) };
}

/** Verifies credentials for the other services: keys come from identity's JWKS, liveness from its introspection. */
export function createIdentityClient(options: IdentityClientOptions): IdentityClient {
  const { call, close } = createCaller(options.identityUrl);
  const serviceToken = createServiceToken(call, options);
  const keys = createKeys(call, options.onKeysFailed ?? (() => undefined));

  async function introspect(
    queries: readonly LivenessQuery[],
    requestId: string | undefined,
    isRetry = false,
  ): Promise<IntrospectionBatch['results']> {
    const { status, body } = await call(
      'POST',
      INTROSPECTION_BATCH_PATH,
      {
        authorization: `Bearer ${await serviceToken.get()}`,
        'content-type': 'application/json',
        ...(requestId !== undefined && { 'x-request-id': requestId }),
      },
      JSON.stringify({
        tokens: queries.map(({ credential }) => credential.token),
        clients: queries.map(({ presentation }) => toIntrospectionClient(presentation)),
      }),
    );
    if (status === 401 && !isRetry) {
      serviceToken.forget();
      return introspect(queries, requestId, true);
    }
    if (status !== 200) throw new Error(`identity answered ${status} to an introspection`);
    return (body as IntrospectionBatch).results;
  }

  async function load(queries: readonly LivenessQuery[]): Promise<(LiveOwner | undefined)[]> {
    try {
      // A batch serves many requests but carries one request id, that of the first.
      const results = await introspect(queries, queries[0]?.presentation.requestId);
      if (results.length !== queries.length) throw new Error('identity answered another number of tokens');
      return results.map((result, index) => toLiveOwner(result, queries[index]?.credential.claims.scope));
    } catch (error) {
      throw unavailable(error);
    }
  }

  const getLiveness = createBatcher({
    toKey: ({ credential, presentation }: LivenessQuery) => `${credential.digest} ${presentation.address}`,
    load,
    maxBatch: MAX_INTROSPECTION_BATCH,
    maxInFlight: CONNECTIONS,
    maxWaitMs: MAX_WAIT_MS,
  });

  return {
    keySet: keys.keySet,
    liveness: (credential, presentation = {}) => getLiveness({ credential, presentation }),
    serviceToken: () => serviceToken.get(),
    start: keys.start,
    async close() {
      keys.close();
      await close();
    },
  };
}
