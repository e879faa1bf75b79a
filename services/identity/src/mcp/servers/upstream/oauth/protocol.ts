import {
  assertSecureTokenEndpoint,
  auth,
  computeScopeUnion,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  fetchToken,
  isStrictScopeSuperset,
  type FetchLike,
  LATEST_PROTOCOL_VERSION,
  OAuthError,
  OAuthErrorCode,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  refreshAuthorization,
  selectClientAuthMethod,
  type StoredOAuthClientInformation,
} from '@modelcontextprotocol/client';
import { UpstreamFault } from '../../../../base/egress/faults.js';
import { createGrant, type Flow, type Grant } from './grant.js';

/*
 * Sign-ins at servers, by the official client: discovery (RFC 9728, RFC 8414), registration (client id metadata documents,
 * RFC 7591), PKCE, resource indicators (RFC 8707) and the check of the issuer (RFC 9207) are its own. This file is loaded
 * with the first sign-in, and knows no tables.
 */

/** What servers are told of the platform as a client. */
export interface ClientIdentity {
  readonly redirectUrl: string;
  readonly metadata: OAuthClientMetadata;
  /** Where the metadata can be read; undefined without TLS, which such documents need. */
  readonly metadataUrl: string | undefined;
}

interface SignIn {
  readonly identity: ClientIdentity;
  readonly serverUrl: string;
  readonly fetchFn: FetchLike;
}

interface Begun {
  readonly url: URL;
  readonly flow: Flow;
}

/** Asks the server without a credential, so that it says where to get one. */
async function findChallenge({ serverUrl, fetchFn }: SignIn) {
  const response = await fetchFn(serverUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: {
        protocolVersion: LATEST_PROTOCOL_VERSION,
        capabilities: {},
        clientInfo: { name: 'workspace-knowledge-platform', version: '1' },
      },
    }),
  });
  await response.body?.cancel();
  return response.status === 401 ? extractWWWAuthenticateParams(response) : {};
}

/** What the client remembers between the steps of one sign-in. */
interface Memory {
  client?: StoredOAuthClientInformation | undefined;
  discovery?: OAuthDiscoveryState;
  codeVerifier?: string;
  url?: URL;
}

const createProvider = (identity: ClientIdentity, memory: Memory, state = ''): OAuthClientProvider => ({
  redirectUrl: identity.redirectUrl,
  clientMetadata: identity.metadata,
  ...(identity.metadataUrl !== undefined && { clientMetadataUrl: identity.metadataUrl }),
  state: () => state,
  clientInformation: () => memory.client,
  saveClientInformation: (client) => void (memory.client = client),
  // Nobody is signed in yet.
  tokens: () => undefined,
  saveTokens: () => undefined,
  redirectToAuthorization: (url) => void (memory.url = url),
  saveCodeVerifier: (verifier) => void (memory.codeVerifier = verifier),
  codeVerifier: () => memory.codeVerifier ?? '',
  discoveryState: () => memory.discovery,
  saveDiscoveryState: (discovery) => void (memory.discovery = discovery),
});

/**
 * Begins a sign-in.
 *
 * @param options.client - as an administrator has given it, or as it was registered before; undefined registers it.
 * @param options.scopes - to ask for beside what the server names.
 */
export async function begin(
  signIn: SignIn,
  options: {
    readonly state: string;
    readonly client: StoredOAuthClientInformation | undefined;
    readonly scopes: readonly (string | null | undefined)[];
  },
): Promise<Begun> {
  const { serverUrl, fetchFn } = signIn;
  const { scope: named, resourceMetadataUrl } = await findChallenge(signIn);
  const discovery = await discoverOAuthServerInfo(serverUrl, {
    fetchFn,
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
  });
  // Guessed endpoints of an unknown issuer could not be told from another one's.
  const issuer = discovery.authorizationServerMetadata?.issuer;
  if (issuer === undefined) throw new Error('the server has no metadata of an authorization server');
  // A client that an administrator has given is for the issuer of the first sign-in, and shown to no other one.
  const wanted = options.scopes.filter((scope) => typeof scope === 'string' && scope !== '') as string[];
  const scope = wanted.length === 0 ? named : computeScopeUnion(named, ...wanted);
  // A client that has registered itself for fewer scopes registers again.
  const registered = options.client && 'scope' in options.client ? options.client.scope : undefined;
  const isTooNarrow = registered !== undefined && isStrictScopeSuperset(scope, registered);
  const memory: Memory = {
    discovery: {
      ...discovery,
      ...(resourceMetadataUrl && { resourceMetadataUrl: resourceMetadataUrl.href }),
    },
    client:
      options.client && !isTooNarrow
        ? { ...options.client, issuer: options.client.issuer ?? issuer }
        : undefined,
  };
  await auth(createProvider(signIn.identity, memory, options.state), {
    serverUrl,
    fetchFn,
    ...(scope !== undefined && { scope }),
  });
  const { url, client, codeVerifier } = memory;
  if (!url || !client || codeVerifier === undefined) throw new Error('the sign-in did not begin');
  // A browser is sent there: without TLS only where the server itself has none, which the operator allows.
  const isClear = serverUrl.startsWith('http:') && url.protocol === 'http:';
  if (url.protocol !== 'https:' && !isClear) throw new Error('the server names no page with TLS');
  return { url, flow: { client, codeVerifier, discovery: memory.discovery ?? discovery } };
}

/** Completes a sign-in with the code of the authorization server, and what it says of itself (`iss`). */
export async function complete(
  { identity, fetchFn }: Pick<SignIn, 'identity' | 'fetchFn'>,
  flow: Flow,
  { code, iss, now }: { readonly code: string; readonly iss: string | undefined; readonly now: number },
): Promise<Grant> {
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = flow.discovery;
  const tokens = await fetchToken(createProvider(identity, { ...flow }), authorizationServerUrl, {
    authorizationCode: code,
    fetchFn,
    ...(metadata && { metadata }),
    ...(resourceMetadata && { resource: resourceMetadata.resource }),
    ...(iss !== undefined && { iss }),
  });
  return createGrant({ ...tokens, issuer: metadata?.issuer ?? authorizationServerUrl }, flow, now);
}

const clientUnknown: ReadonlySet<string> = new Set([
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
]);
/** Whether an authorization server no longer knows the client. */
export const isClientUnknown = (error: unknown): boolean =>
  error instanceof OAuthError && clientUnknown.has(error.code);

/** The errors after which a refresh token is of no use any more. */
const ended: ReadonlySet<string> = new Set([...clientUnknown, OAuthErrorCode.InvalidGrant]);

const TOO_MANY_REQUESTS = 429;
/** The errors that say nothing of the account that asked. */
const unavailable: ReadonlySet<string> = new Set([
  OAuthErrorCode.ServerError,
  OAuthErrorCode.TemporarilyUnavailable,
  OAuthErrorCode.TooManyRequests,
]);

/** Renews the tokens. @returns undefined when the person has to sign in again. */
export async function renew(grant: Grant, fetchFn: FetchLike, now: number): Promise<Grant | undefined> {
  const { tokens, client, discovery } = grant;
  if (tokens.refresh_token === undefined) return undefined;
  const { authorizationServerMetadata: metadata, resourceMetadata } = discovery;
  try {
    const renewed = await refreshAuthorization(discovery.authorizationServerUrl, {
      clientInformation: client,
      refreshToken: tokens.refresh_token,
      fetchFn,
      ...(metadata && { metadata }),
      ...(resourceMetadata && { resource: resourceMetadata.resource }),
    });
    const scope = renewed.scope ?? tokens.scope;
    const issuer = tokens.issuer;
    return createGrant(
      { ...renewed, ...(scope !== undefined && { scope }), ...(issuer !== undefined && { issuer }) },
      grant,
      now,
    );
  } catch (error) {
    if (error instanceof OAuthError && ended.has(error.code)) return undefined;
    throw error;
  }
}

/** Whether an authorization server is unavailable, rather than refusing what one account asks for. */
export const isUnavailable = (error: unknown): boolean =>
  !(error instanceof OAuthError) || unavailable.has(error.code);

const REFUSED: ReadonlySet<number> = new Set([400, 401]);

/**
 * Revokes the tokens where the authorization server lets clients do that (RFC 7009). What it refuses, it would refuse again.
 *
 * @returns false when it refuses.
 * @throws UpstreamFault while it is unavailable.
 */
export async function revoke({ tokens, client, discovery }: Grant, fetchFn: FetchLike): Promise<boolean> {
  const { authorizationServerMetadata: metadata } = discovery;
  // The type of OpenID Connect's metadata lacks it.
  const endpoint = metadata && 'revocation_endpoint' in metadata ? metadata.revocation_endpoint : undefined;
  if (typeof endpoint !== 'string') return true;
  const url = assertSecureTokenEndpoint(endpoint);
  const isRefresh = tokens.refresh_token !== undefined;
  const token = {
    token: tokens.refresh_token ?? tokens.access_token,
    token_type_hint: isRefresh ? 'refresh_token' : 'access_token',
  };
  const { client_id: id, client_secret: secret } = client as { client_id: string; client_secret?: string };
  const methods = metadata?.token_endpoint_auth_methods_supported ?? [];
  const isBasic = secret !== undefined && selectClientAuthMethod(client, methods) === 'client_secret_basic';
  const basic = isBasic && { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
  const headers = { 'content-type': 'application/x-www-form-urlencoded', ...basic };
  const post = async (fields: Readonly<Record<string, string>>): Promise<number> => {
    const body = new URLSearchParams({ ...token, ...fields });
    const response = await fetchFn(url, { method: 'POST', headers, body });
    await response.body?.cancel();
    return response.status;
  };
  let status = await post(
    isBasic ? {} : { client_id: id, ...(secret !== undefined && { client_secret: secret }) },
  );
  // The official Python SDK revokes for nobody whose request lacks one of these, empty or in a header as the secret may be.
  if (REFUSED.has(status)) status = await post({ client_id: id, client_secret: secret ?? '' });
  if (status >= 500 || status === TOO_MANY_REQUESTS) throw new UpstreamFault('http_error', status);
  return status < 400;
}
