import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import type { ResolveHost, TargetPolicy } from '@platform/service-kit';
import { Agent, fetch } from 'undici';

const LOOKUP_TIMEOUT_MS = 2_000;

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
  const agent = new Agent({ connect: { lookup, ...(ca !== undefined && { ca }) } });

  return {
    async fetch(input, { method, headers, redirect, signal } = {}) {
      const url = new URL(input instanceof Request ? input.url : input);
      const { hostname } = url;
      // An address needs no lookup, so the agent would not ask.
      await findAllowed(hostname.replace(/^\[|\]$/g, ''));
      const plain = Object.fromEntries(new Headers(headers));
      const response = await fetch(url, {
        method: method ?? 'GET',
        headers: plain,
        redirect: redirect ?? 'manual',
        signal: signal ?? null,
        dispatcher: agent,
      });
      return response;
    },
    close: () => agent.close(),
  };
}
