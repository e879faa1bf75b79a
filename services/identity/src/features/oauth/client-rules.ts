import { canDelegateScope } from '@platform/auth';
import { type ClientMetadata, errors } from 'oidc-provider';
import { isLoopbackRedirect, toApplicationType } from './client-metadata.js';

/*
 * The rules for clients that describe themselves, in a document or by registration. What they want beyond what a client
 * of an agent needs is left out rather than refused, as RFC 7591 §2 allows: agents ask for what other servers have.
 */

const grantTypesOfAgents: ReadonlySet<string> = new Set(['authorization_code', 'refresh_token']);

const isSafeRedirect = (uri: string): boolean => {
  const url = URL.parse(uri);
  return url?.protocol === 'https:' || isLoopbackRedirect(uri);
};

/** @throws InvalidRedirectUri for a redirect URI that is neither `https:` nor of the own machine. */
export function applyClientRules(metadata: ClientMetadata): void {
  const { redirect_uris: redirectUris = [], client_id: id } = metadata;
  if (redirectUris.length === 0 || !redirectUris.every(isSafeRedirect))
    throw new errors.InvalidRedirectUri(
      `redirect_uris of ${id} must be https:, or http: of a loopback address`,
    );
  const kept = metadata.grant_types?.filter((name) => grantTypesOfAgents.has(name)) ?? [];
  metadata.grant_types = [...new Set(['authorization_code', ...kept])];
  metadata.response_types = ['code'];
  metadata.token_endpoint_auth_method ??= 'none';
  metadata.application_type = toApplicationType(redirectUris);
  if (metadata.scope !== undefined) {
    const scopes = metadata.scope.split(' ').filter((name) => canDelegateScope(name, 'admin'));
    if (scopes.length > 0) metadata.scope = scopes.join(' ');
    else delete metadata.scope;
  }
}
