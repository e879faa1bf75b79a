import type { Egress } from '@platform/service-kit';
import type { CustomFetch } from 'openid-client';
import { fetch } from 'undici';

/**
 * Creates the fetch with which a provider's metadata, keys, tokens and claims are read. Administrators of organisations
 * name the addresses, so all of it goes through the egress rules. Redirects are not followed.
 */
export const createProviderFetch =
  ({ agent, assertUrl }: Egress): CustomFetch =>
  async (address, { method, headers, body, signal }) => {
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
