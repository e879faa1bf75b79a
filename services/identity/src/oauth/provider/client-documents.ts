import { createTokenBuckets, AppError, type Clock, type Logger } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import OidcProvider from 'oidc-provider';
import type pg from 'pg';
import { toNetwork } from '../../base/network.js';
import { findKnownDocument, saveKnownDocument } from './clients.sql.js';
import { omitAbsent } from './client-rules.js';
import type { FetchDocument } from './document-fetch.js';

/*
 * The documents that describe clients, and their keys. Anyone can send a browser to an address of an allowed host, and
 * each such request would reach that host:
 *
 *   - An address whose host has just failed is not requested again for half a minute.
 *   - Clients that nobody has connected share a small number of requests.
 *
 * The last good document of a client that somebody has connected is stored, and is served while its host fails: a connection
 * does not depend on the host. The provider keeps what was fetched for as long as the host says.
 */

const RETRY_AFTER_MS = 30_000;
const MAX_REMEMBERED = 1_000;
/** The requests for clients that nobody has connected, at each replica. */
const UNKNOWN_PER_MINUTE = 60;
const UNKNOWN_PER_MINUTE_OF_NETWORK = 10;
/** Whoever has one IPv6 network can have thousands of them: the networks of a site share twice as many. */
const UNKNOWN_PER_MINUTE_OF_SITE = 20;

/** The answers with which a host says that there is no such client, rather than that it fails. */
const GONE: ReadonlySet<number> = new Set([404, 410]);

const hostFails = (url: string, cause?: unknown): AppError =>
  new AppError({
    status: 503,
    code: 'SERVICE_UNAVAILABLE',
    message: `${new URL(url).host} does not answer with the document of the client: try again later`,
    headers: { 'retry-after': String(RETRY_AFTER_MS / 1_000) },
    cause,
  });

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** @returns the answer of the host, with its body; undefined when it fails. */
async function request(fetch: FetchDocument, ...[input, init]: Parameters<FetchDocument>) {
  const { status, headers, body } = await fetch(input, init).then(async (response) => ({
    status: response.status,
    headers: response.headers,
    body: await response.text(),
  }));
  const document = parseObject(body);
  if (!GONE.has(status) && (status !== 200 || !document)) throw new Error(`it answered ${status}`);
  const kept = ['cache-control', 'expires'].flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  if (document) omitAbsent(document);
  const cleaned = document ? JSON.stringify(document) : body;
  return { document, response: new Response(cleaned, { status, headers: Object.fromEntries(kept) }) };
}

/** Returns the client whose keys are requested; undefined when it is the document of a client. */
function findClientOfKeys(url: string): string | undefined {
  const client = OidcProvider.ctx?.oidc.client;
  return client && client.clientId !== url ? client.clientId : undefined;
}

/** Creates the fetch of documents and keys for the provider. It throws an AppError, which `applyFault` finds. */
export function createClientDocuments(deps: {
  readonly fetch: FetchDocument;
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly log: Logger;
}): FetchDocument {
  const { fetch, pool, clock, log } = deps;
  const failures = new LRUCache<string, { readonly until: number; readonly isGone: boolean }>({
    max: MAX_REMEMBERED,
  });
  const message = 'Too many requests for clients that nobody has connected: try again later';
  const countUnknown = createTokenBuckets(UNKNOWN_PER_MINUTE, clock, message);
  const countUnknownOfNetwork = createTokenBuckets(UNKNOWN_PER_MINUTE_OF_NETWORK, clock, message);
  const countUnknownOfSite = createTokenBuckets(UNKNOWN_PER_MINUTE_OF_SITE, clock, message);

  return async (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    const clientOfKeys = findClientOfKeys(url);
    const clientId = clientOfKeys ?? url;
    const known = await findKnownDocument(pool, clientId);
    const stored = clientOfKeys === undefined ? known?.document : known?.jwks;
    let cause: unknown;
    const failure = failures.get(url);
    if (failure && clock() < failure.until) {
      if (failure.isGone) return new Response(null, { status: 404 });
    } else {
      if (!known) {
        // Without a request of the provider, the address is unknown; all such requests are of one network.
        const address = OidcProvider.ctx?.ip ?? '';
        countUnknownOfNetwork(toNetwork(address, { ipv4: 32, ipv6: 64 }));
        countUnknownOfSite(toNetwork(address, { ipv4: 32, ipv6: 48 }));
        countUnknown('all');
      }
      try {
        const { document, response } = await request(fetch, input, init);
        const isGone =
          response.status !== 200 || (clientOfKeys === undefined && document?.['client_id'] !== url);
        if (isGone) failures.set(url, { until: clock() + RETRY_AFTER_MS, isGone });
        else failures.delete(url);
        // What the host has answered holds, also when it cannot be stored for now.
        if (known && document && !isGone)
          await saveKnownDocument(
            pool,
            clientId,
            clientOfKeys === undefined ? { document } : { jwks: document },
          ).catch((error: unknown) => log.warn({ err: error }, 'failed to store the document of a client'));
        return response;
      } catch (error) {
        cause = error;
        failures.set(url, { until: clock() + RETRY_AFTER_MS, isGone: false });
      }
    }
    if (stored) return Response.json(stored);
    throw hostFails(url, cause);
  };
}
