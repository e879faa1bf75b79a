import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import type { ResolveHost, TargetPolicy } from '@platform/service-kit';
import { Agent, fetch } from 'undici';

const LOOKUP_TIMEOUT_MS = 2_000;
/** The largest answer that is read. */
export const MAX_DOCUMENT_BYTES = 65_536;

/** Fetches the documents of clients; the response type is that of the provider's configuration. */
export type FetchDocument = typeof globalThis.fetch;

/**
 * Creates the fetch with which the provider reads documents and keys of clients. Anyone can name their address, so a
 * connection goes only to an address that the policy allows: the one that was checked, whatever the name resolves to
 * next (DNS rebinding).
 *
 * @param options.ca - trusts this certificate in place of the system's. Tests set it.
 */
export function createDocumentFetch(options: {
  readonly resolve: ResolveHost;
  readonly policy: TargetPolicy;
  readonly ca?: string;
}): { readonly fetch: FetchDocument; close(): Promise<void> } {
  const { resolve, policy, ca } = options;

  async function findAllowed(host: string): Promise<LookupAddress[]> {
    const addresses = await resolve(host, AbortSignal.timeout(LOOKUP_TIMEOUT_MS));
    const allowed = addresses.filter(({ address }) => policy.allows(host, address, 443));
    if (allowed.length === 0) throw new Error(`${host} has no address that clients may have`);
    return allowed;
  }

  const lookup: LookupFunction = (host, { all }, callback) => {
    callbackify(() => findAllowed(host))((error, addresses) => {
      if (error) callback(error, '');
      else if (all) callback(null, addresses);
      else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
  };
  const agent = new Agent({
    connect: { lookup, ...(ca !== undefined && { ca }) },
    maxResponseSize: MAX_DOCUMENT_BYTES,
  });

  return {
    async fetch(input, { method, headers, redirect, signal } = {}) {
      const url = new URL(input instanceof Request ? input.url : input);
      const { hostname, protocol, port } = url;
      if (protocol !== 'https:' || port !== '')
        throw new Error('documents of clients are at https: and port 443');
      // An address needs no lookup, so the agent would not ask.
      await findAllowed(hostname.replace(/^\[|\]$/g, ''));
      // The size is limited as it is received, so nothing is inflated.
      const plain = { ...Object.fromEntries(new Headers(headers)), 'accept-encoding': 'identity' };
      const response = await fetch(url, {
        method: method ?? 'GET',
        headers: plain,
        redirect: redirect ?? 'manual',
        signal: signal ?? null,
        dispatcher: agent,
      });
      if ((response.headers.get('content-encoding') ?? 'identity') === 'identity') return response;
      await response.body?.cancel();
      throw new Error(`${hostname} answered with an encoding that was not asked for`);
    },
    close: () => agent.close(),
  };
}
