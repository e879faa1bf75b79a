import { isScope, type Scope } from '@platform/auth';

/** What an agent gets when it asks for nothing in particular: to read. It asks for more when a tool needs more. */
export const initialScopes: readonly Scope[] = ['user:read', 'kb:read', 'crawl:read'];

/**
 * Replaces the scopes of an authorization request by those that the platform knows: others are ignored (RFC 6749 §3.3),
 * such as `openid` and `offline_access`, for which many clients ask everywhere. Without any, it gets the initial ones.
 *
 * @param url - path and query.
 */
export function withKnownScopes(url: string): string {
  const [path = '', query = ''] = url.split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  // The provider refuses a parameter that is sent twice.
  if (parameters.getAll('scope').length > 1) return url;
  const known = (parameters.get('scope') ?? '').split(' ').filter(isScope);
  parameters.set('scope', (known.length > 0 ? known : initialScopes).join(' '));
  return `${path}?${parameters.toString()}`;
}
