import { generateKeyPairSync, hkdfSync } from 'node:crypto';
import { DPOP_ALGORITHMS } from '@platform/auth';
import { type Clock, createServerErrorLog, type Logger } from '@platform/service-kit';
import OidcProvider, {
  type Adapter,
  type Configuration,
  errors,
  interactionPolicy,
  type JWK,
  type KoaContextWithOIDC,
} from 'oidc-provider';
import type { BoxKey } from '../../secret-box.js';
import { ACCESS_TOKEN_SECONDS } from './access-tokens.js';
import { matchSecret } from './client-metadata.js';
import { applyClientRules } from './client-rules.js';
import { type FetchDocument, MAX_DOCUMENT_BYTES } from './document-fetch.js';
import { CONSENT_PATH, ISSUER_PATH } from './issuer.js';
import { allScopes, type ProtectedResources } from './protected-resources.js';

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/** How long a connection lasts at most, and a refresh token that is not used. */
export const GRANT_SECONDS = 90 * DAY;
const REFRESH_TOKEN_SECONDS = 30 * DAY;
const INTERACTION_SECONDS = 15 * MINUTE;
const MAX_ASSERTION_SECONDS = 10 * MINUTE;

export interface ProviderDeps {
  readonly publicUrl: string;
  readonly resources: ProtectedResources;
  readonly adapter: (model: string) => Adapter;
  /** Returns whether the member exists and has not been removed. */
  readonly isMember: (userId: string) => Promise<boolean>;
  readonly onSecretUsed: (clientId: string, secretHash: string) => void;
  readonly encryptionKeys: readonly BoxKey[];
  /** The hosts whose documents describe clients. */
  readonly clientHosts: readonly string[];
  readonly fetchDocument: FetchDocument;
  /** Whether clients may register themselves (RFC 7591). */
  readonly isRegistrationOpen: boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * The provider requires a key for ID tokens, which it never issues here: access tokens are signed with the platform's
 * own keys, so those rotate without a new provider.
 */
function createUnusedKey(): JWK {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { ...privateKey.export({ format: 'jwk' }), alg: 'EdDSA', use: 'sig' };
}

/** Signs in and asks for consent every time: remembered consent lets any page on the web obtain a new token. */
function createPolicy(): interactionPolicy.Prompt[] {
  const { Check, Prompt } = interactionPolicy;
  return [
    new Prompt(
      { name: 'login', requestable: true },
      new Check(
        'no_session',
        'sign-in is required',
        'login_required',
        ({ oidc }) => !oidc.session?.accountId,
      ),
    ),
    new Prompt(
      { name: 'consent', requestable: true },
      new Check('every_time', 'consent is required', 'consent_required', ({ oidc }) => !oidc.result?.consent),
    ),
  ];
}

/** Endpoints that browsers and clients of other origins call; the discovery document names them. */
const routes = {
  authorization: '/authorize',
  token: '/token',
  registration: '/register',
  revocation: '/revoke',
  jwks: '/jwks',
} as const;

/** Returns whether the document is at a listed host, on the usual port. */
function isAllowedHost(hosts: readonly string[], clientId: string): boolean {
  const url = URL.parse(clientId);
  return url !== null && url.port === '' && hosts.includes(url.hostname);
}

function createConfiguration(deps: ProviderDeps, issuer: string): Configuration {
  const { publicUrl, resources, adapter, isMember } = deps;
  const isSecure = publicUrl.startsWith('https:');
  const tokenUrl = issuer + routes.token;
  const cookie = {
    signed: true,
    httpOnly: true,
    sameSite: 'lax',
    secure: isSecure,
    overwrite: true,
  } as const;
  return {
    adapter,
    routes,
    scopes: [...allScopes],
    responseTypes: ['code'],
    jwks: { keys: [createUnusedKey()] },
    enabledJWA: { idTokenSigningAlgValues: ['EdDSA'], dPoPSigningAlgValues: [...DPOP_ALGORITHMS] },
    clientDefaults: { id_token_signed_response_alg: 'EdDSA' },
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    cookies: {
      keys: deps.encryptionKeys.map(({ key }) =>
        Buffer.from(hkdfSync('sha256', key, '', 'oauth cookies', 32)).toString('base64url'),
      ),
      names: {
        session: isSecure ? '__Host-oauth_session' : 'oauth_session',
        interaction: isSecure ? '__Secure-oauth_interaction' : 'oauth_interaction',
        resume: isSecure ? '__Secure-oauth_resume' : 'oauth_resume',
      },
      long: { ...cookie, path: '/' },
      short: cookie,
    },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    expiresWithSession: async () => false,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    interactions: {
      policy: createPolicy(),
      url: (_ctx, { uid }) => `${CONSENT_PATH}/${uid}`,
    },
    loadExistingGrant: async ({ oidc }) => {
      const grantId = oidc.result?.consent?.grantId;
      return grantId === undefined ? undefined : oidc.provider.Grant.find(grantId);
    },
    findAccount: async (_ctx, id) =>
      (await isMember(id)) ? { accountId: id, claims: () => ({ sub: id }) } : undefined,
    clientBasedCORS: () => true,
    fetch: deps.fetchDocument,
    fetchResponseBodyLimits: { jwks_uri: MAX_DOCUMENT_BYTES, sector_identifier_uri: MAX_DOCUMENT_BYTES },
    extraClientMetadata: {
      // The provider asks only about properties that are named; this one means nothing.
      properties: ['platform_rules'],
      validator(ctx, key, _value, metadata) {
        delete metadata[key];
        // Stored clients were checked when they were registered. A document is read anew each time.
        const isDocument = metadata.client_id.startsWith('https:');
        if (isDocument || ctx?.oidc.route === 'registration') applyClientRules(metadata, isDocument);
      },
    },
    // The accepted audiences of the provider come from the Host header (RFC 7523 §3).
    assertJwtClientAuthClaimsAndHeader: (_ctx, { aud, exp }) => {
      if (![aud].flat().every((name) => name === issuer || name === tokenUrl))
        throw new errors.InvalidClientAuth('aud must be the issuer or the token endpoint');
      // Each assertion is remembered until it expires, so that it is used only once.
      if (Number(exp) > deps.clock() / 1_000 + MAX_ASSERTION_SECONDS)
        throw new errors.InvalidClientAuth('exp must be at most ten minutes ahead');
    },
    ttl: {
      AuthorizationCode: MINUTE,
      AccessToken: ACCESS_TOKEN_SECONDS,
      ClientCredentials: ACCESS_TOKEN_SECONDS,
      Grant: GRANT_SECONDS,
      Interaction: INTERACTION_SECONDS,
      RefreshToken: REFRESH_TOKEN_SECONDS,
      Session: INTERACTION_SECONDS,
    },
    renderError: (ctx, { error, error_description: description }) => {
      renderErrorPage(ctx, error, description);
    },
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      introspection: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: true },
      clientCredentials: { enabled: true },
      revocation: {
        enabled: true,
        allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId,
      },
      registration: { enabled: deps.isRegistrationOpen, issueRegistrationAccessToken: false },
      clientIdMetadataDocument: {
        enabled: deps.clientHosts.length > 0,
        ack: 'draft-02',
        allowFetch: async (_ctx, id) => isAllowedHost(deps.clientHosts, id),
        allowClient: async (_ctx, client) => isAllowedHost(deps.clientHosts, client.clientId),
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: (ctx) =>
          ctx.oidc.params?.['grant_type'] === 'client_credentials' ? resources.api : resources.mcp,
        getResourceServerInfo(_ctx, indicator) {
          const resource = resources.find(indicator);
          if (!resource) throw new errors.InvalidTarget('unknown resource');
          return {
            scope: resource.scopes.join(' '),
            audience: indicator,
            accessTokenFormat: 'opaque',
            accessTokenTTL: ACCESS_TOKEN_SECONDS,
          };
        },
        useGrantedResource: () => true,
      },
    },
  };
}

/** Shows a fault that cannot be sent to the client, because it is unknown or its redirect URI is wrong. */
function renderErrorPage(ctx: KoaContextWithOIDC, error: string, description: string | undefined): void {
  ctx.type = 'text/plain; charset=utf-8';
  ctx.body = `The application could not be connected: ${error}${description === undefined ? '' : ` (${description})`}`;
}

/** Creates the authorization server (OAuth 2.1, RFC 6749), without its routes. */
export function createProvider(deps: ProviderDeps): OidcProvider {
  const issuer = deps.publicUrl + ISSUER_PATH;
  const provider = new OidcProvider(issuer, createConfiguration(deps, issuer));
  // The gateway has terminated TLS; the mount pins the headers that Koa reads then.
  provider.proxy = true;
  const logServerError = createServerErrorLog();
  provider.on('server_error', (_ctx, error) => {
    logServerError(deps.log, { error, message: 'The authorization server failed', isOutage: true });
  });
  // The documented way to authenticate clients whose stored secrets are hashed.
  provider.Client.prototype.compareClientSecret = function compare(actual: string) {
    const hash = matchSecret(this.clientSecret ?? '', actual);
    if (hash !== undefined) deps.onSecretUsed(this.clientId, hash);
    return hash !== undefined;
  };
  return provider;
}
