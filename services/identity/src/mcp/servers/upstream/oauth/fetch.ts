import type { FetchLike } from '@modelcontextprotocol/client';
import { toUpstreamFault, type UpstreamFault } from '../../../../base/egress/faults.js';
import { createProviderFetch, type Egress } from '@platform/service-kit';

/** The largest document of an authorization server. */
export const MAX_DOCUMENT_BYTES = 128 * 1_024;
/** One answer of an authorization server may take this long in all. */
export const ANSWER_MS = 8_000;

/** Describes a fault without what a server said. */
export const describeFault = (error: unknown): { readonly err: UpstreamFault; readonly fault: string } => ({
  err: toUpstreamFault(error),
  fault: error instanceof Error ? error.name : typeof error,
});

/** Creates the fetch with which authorization servers are asked: all of it goes through the rules of the operator. */
export function createAuthorizationFetch(egress: Egress): FetchLike {
  const fetchFromProvider = createProviderFetch(egress);
  return async (url, init = {}) => {
    const { body } = init;
    const response = await fetchFromProvider(String(url), {
      method: init.method ?? 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(body !== undefined && body !== null && { body: String(body as string | URLSearchParams) }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const { status, headers } = response;
    const bytes = await response.arrayBuffer();
    // The client tells answers by Node's own class, and this one is of another version of the same library.
    return new Response(bytes.byteLength === 0 ? null : bytes, { status, headers: [...headers] });
  };
}
