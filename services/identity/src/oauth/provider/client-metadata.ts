import { createHash, timingSafeEqual } from 'node:crypto';
import { parseUrl } from '@platform/service-kit';
import type { AdapterPayload } from 'oidc-provider';
import type { ClientRow, RegisteredClient } from './clients.sql.js';

/** Secrets have 256 random bits, so a plain hash cannot be reversed. */
export const toSecretHash = (secret: string): string =>
  createHash('sha256').update(secret).digest('base64url');

/** Returns whether the URI is `http:` to the machine that the browser runs on. */
const isLoopbackRedirect = (uri: string): boolean => {
  const url = URL.parse(uri);
  return url?.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
};

/**
 * The redirect URIs with a private-use scheme (RFC 8252 §7.1) that are allowed. They are named one by one, because a
 * browser opens any scheme with whatever program of the machine claims it. PKCE makes a code useless to another program.
 */
const privateUseRedirects: ReadonlySet<string> = new Set(['cursor://anysphere.cursor-mcp/oauth/callback']);

/** Returns whether the URI leads to a program on the machine of the browser, which could be any program there. */
export const isLocalRedirect = (uri: string): boolean =>
  isLoopbackRedirect(uri) || privateUseRedirects.has(uri);

/* The last part of a name is no number, or else it would be an IPv4 address in another spelling. */
const NAME = '([A-Za-z0-9_-]+[.])*[A-Za-z_][A-Za-z0-9_-]*[.]?';
const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const HOST = `(${NAME}|(${OCTET}[.]){3}${OCTET}|\\[[0-9A-Fa-f:.]+\\])`;
const LOOPBACK = '(localhost|127[.]0[.]0[.]1|\\[::1\\])';
const PORT = '(:([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?';
const PRIVATE_USE = [...privateUseRedirects].map((uri) => uri.replaceAll('.', '[.]')).join('|');

/**
 * A redirect URI, which is stored and compared as it is written: in the characters of a URI (RFC 3986 §2), to a host over TLS or to
 * the machine of the browser. It has no user information, because a consent page shows the host: what stands before it could pass
 * for another one.
 */
export const REDIRECT_URI_PATTERN = `^(([Hh][Tt][Tt][Pp][Ss]://${HOST}|[Hh][Tt][Tt][Pp]://${LOOPBACK})${PORT}([/?][!"$-~]*)?|${PRIVATE_USE})$`;
const redirectForm = new RegExp(REDIRECT_URI_PATTERN);
export const MAX_REDIRECT_URI_LENGTH = 2_000;

/** Returns whether a code may be sent to the URI. */
export const isSafeRedirect = (uri: string): boolean =>
  uri.length <= MAX_REDIRECT_URI_LENGTH && redirectForm.test(uri) && parseUrl(uri) !== undefined;

/** A client can use any port of a loopback address only as `native`, so the redirect URIs decide (RFC 8252 §7.3). */
export const toApplicationType = (redirectUris: readonly string[]): 'native' | 'web' =>
  redirectUris.some(isLocalRedirect) ? 'native' : 'web';

/**
 * Converts a stored client to the metadata of RFC 7591. The provider needs a secret to authenticate a client with; it
 * gets the hashes of all active ones, which {@link matchSecret} compares. It does not get the scopes: it would refuse a
 * request for more than those, where agents ask for what the challenge of a resource names.
 */
export function toClientMetadata(row: ClientRow): AdapterPayload {
  const { redirect_uris, grant_types, auth_method, jwks, secret_hashes } = row;
  const isCodeClient = grant_types.includes('authorization_code');
  return {
    client_id: row.id,
    client_name: row.name,
    redirect_uris: isCodeClient ? redirect_uris : [],
    grant_types,
    response_types: isCodeClient ? ['code'] : [],
    token_endpoint_auth_method: auth_method,
    application_type: toApplicationType(redirect_uris),
    // A client without an active secret gets a value that no hash equals.
    ...(auth_method === 'client_secret_basic' && { client_secret: secret_hashes.join(' ') || '-' }),
    ...(auth_method === 'private_key_jwt' && jwks && { jwks }),
  } as AdapterPayload;
}

/** @param hashes - separated by spaces. @returns the hash that the secret has; undefined when it is none of them. */
export function matchSecret(hashes: string, secret: string): string | undefined {
  const presented = Buffer.from(toSecretHash(secret));
  return hashes
    .split(' ')
    .filter((hash) => {
      const expected = Buffer.from(hash);
      return expected.length === presented.length && timingSafeEqual(expected, presented);
    })
    .at(0);
}

/** Converts the metadata of a client that registers itself. It is public: an agent can't keep a secret. */
export const toRegisteredClient = (
  id: string,
  metadata: AdapterPayload,
  createdAt: Date,
): RegisteredClient => ({
  id,
  name: metadata.client_name ?? 'Unnamed application',
  redirectUris: metadata.redirect_uris ?? [],
  grantTypes: metadata.grant_types ?? [],
  createdAt,
});
