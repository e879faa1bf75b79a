import { fetch } from 'undici';
import type { Egress } from './egress.js';

/** The part of a request that OAuth and OpenID Connect libraries hand to their `customFetch`. */
interface ProviderRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Creates the fetch with which providers are read: their metadata, keys, tokens and claims. Administrators of
 * organisations name the addresses, so all of it goes through the egress rules. Redirects are not followed.
 */
export const createProviderFetch =
  ({ agent, assertUrl }: Egress) =>
  async (address: string, { method, headers, body, signal }: ProviderRequest): Promise<Response> => {
    const url = new URL(address);
    assertUrl(url);
    const response = await fetch(url, {
      method,
      // The size is limited as it is received, so nothing is inflated.
      headers: { ...headers, 'accept-encoding': 'identity' },
      ...(body !== undefined && body !== null && { body: body as string }),
      redirect: 'manual',
      signal: signal ?? null,
      dispatcher: agent,
    });
    if ((response.headers.get('content-encoding') ?? 'identity') !== 'identity') {
      await response.body?.cancel();
      throw new Error('the provider answered with an encoding that was not asked for');
    }
    return response;
  };
