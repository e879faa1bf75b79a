import { createEgress, createProviderFetch, type ResolveHost } from '@platform/service-kit';

/** The largest answer that is read. */
export const MAX_DOCUMENT_BYTES = 65_536;
const TIMEOUT_MS = 5_000;

/** Fetches the documents of clients; the response type is that of the provider's configuration. */
export type FetchDocument = typeof globalThis.fetch;

/**
 * Creates the fetch with which the provider reads documents and keys of clients. Anyone can name their address, so it
 * connects to public addresses only, by TLS on the usual port.
 */
export function createDocumentFetch(resolve: ResolveHost) {
  const egress = createEgress([], { maxAnswerBytes: MAX_DOCUMENT_BYTES, timeoutMs: TIMEOUT_MS }, resolve);
  const read = createProviderFetch(egress);
  const fetch: FetchDocument = async (input, { method = 'GET', headers, signal } = {}) => {
    const { href, protocol, port } = new URL(input instanceof Request ? input.url : input);
    if (protocol !== 'https:' || port !== '')
      throw new Error('documents of clients are at https: and port 443');
    return read(href, {
      method,
      headers: Object.fromEntries(new Headers(headers)),
      signal: signal ?? undefined,
    });
  };
  return { fetch, close: () => egress.agent.destroy() };
}
