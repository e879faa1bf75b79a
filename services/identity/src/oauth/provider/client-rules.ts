import { isDisplayName } from '@platform/service-kit';
import { type ClientMetadata, errors } from 'oidc-provider';
import { isSafeRedirect, toApplicationType } from './client-metadata.js';

/*
 * The rules for clients that describe themselves, in a document or by registration. What they want beyond what a client
 * of an agent needs is left out rather than refused, as RFC 7591 §2 allows: agents ask for what other servers have.
 */

const grantTypesOfAgents: ReadonlySet<string> = new Set(['authorization_code', 'refresh_token']);

/**
 * Members that would make the provider fetch an address, answer a secret that nobody keeps, or refuse what a client asks
 * for later: what a client says of itself limits nothing, and the person consents to each scope.
 */
const unused = [
  'sector_identifier_uri',
  'client_secret',
  'client_secret_expires_at',
  'scope',
  'response_modes',
] as const;

/** A registration does not bind every token; a client binds the tokens that it sends proofs for. */
const unkept = 'dpop_bound_access_tokens';

const MAX_NAME_LENGTH = 100;
/** As many as an application can have. */
const MAX_REDIRECT_URIS = 20;
/** The characters of all of them, which anybody can have stored. */
const MAX_REDIRECT_LENGTH = 8_192;

/** Returns the texts of a list. The metadata is what a stranger sent: nothing in it has to have its type. */
const readTexts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];

/** Returns the name that a page can show; undefined when it could mislead its reader, or shows nothing. */
function toShownName(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined;
  // By code points, so that no character is cut in two.
  const start = Array.from(name).slice(0, MAX_NAME_LENGTH).join('');
  return isDisplayName(start) ? start : undefined;
}

/** Removes what a client sends without a value: null, or an empty text (RFC 7591 §2 makes nearly everything optional). */
export function omitAbsent(metadata: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(metadata))
    if (value === null || value === '') delete metadata[name];
}

/**
 * @param isDocument - whether a document describes the client, which may prove its identity by the keys in it.
 * @throws InvalidRedirectUri when no redirect URI is left, or they are too long.
 */
export function applyClientRules(metadata: ClientMetadata, isDocument: boolean): void {
  const redirectUris = readTexts(metadata.redirect_uris).filter(isSafeRedirect).slice(0, MAX_REDIRECT_URIS);
  if (redirectUris.length === 0)
    throw new errors.InvalidRedirectUri(
      `redirect_uris of ${metadata.client_id} must be https:, or http: of a loopback address`,
    );
  if (redirectUris.join('').length > MAX_REDIRECT_LENGTH)
    throw new errors.InvalidRedirectUri(`redirect_uris must have ${MAX_REDIRECT_LENGTH} characters at most`);
  metadata.redirect_uris = redirectUris;
  const shownName = toShownName(metadata.client_name);
  if (shownName === undefined) delete metadata.client_name;
  else metadata.client_name = shownName;
  const kept = readTexts(metadata.grant_types).filter((name) => grantTypesOfAgents.has(name));
  metadata.grant_types = [...new Set(['authorization_code', ...kept])];
  metadata.response_types = ['code'];
  for (const name of unused) delete metadata[name];
  if (!isDocument) delete metadata[unkept];
  // The provider's default is a secret, which an agent cannot keep.
  const hasKeys = isDocument && metadata.token_endpoint_auth_method === 'private_key_jwt';
  if (!hasKeys) {
    metadata.token_endpoint_auth_method = 'none';
    delete metadata.jwks_uri;
    delete metadata.jwks;
  }
  metadata.application_type = toApplicationType(redirectUris);
}
