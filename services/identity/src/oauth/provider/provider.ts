import { generateKeyPairSync, hkdfSync } from 'node:crypto';
import { DPOP_ALGORITHMS } from '@platform/auth';
import { type BoxKey, createServerErrorLog, type Logger } from '@platform/service-kit';
import OidcProvider, {
  type Adapter,
  type Configuration,
  errors,
  type JWK,
  type KoaContextWithOIDC,
} from 'oidc-provider';
import { ACCESS_TOKEN_SECONDS } from './access-tokens.js';
import { findClientFault } from './client-documents.js';
import { type ClientConfigurationDeps, createClientConfiguration } from './client-configuration.js';
import { matchSecret } from './client-metadata.js';
import { createInteractionConfiguration } from './interaction-configuration.js';
import { ISSUER_PATH } from './issuer.js';
import { lifetimes } from './lifetimes.js';
import { allScopes, type ProtectedResources } from './protected-resources.js';

export interface ProviderDeps extends ClientConfigurationDeps {
  readonly publicUrl: string;
  readonly resources: ProtectedResources;
  readonly adapter: (model: string) => Adapter;
  /** Returns whether the member exists and has not been removed. */
  readonly isMember: (userId: string) => Promise<boolean>;
  readonly onSecretUsed: (clientId: string, secretHash: string) => void;
  readonly encryptionKeys: readonly BoxKey[];
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

/** Endpoints that browsers and clients of other origins call; the discovery document names them. */
const routes = {
  authorization: '/authorize',
  token: '/token',
  registration: '/register',
  revocation: '/revoke',
  jwks: '/jwks',
} as const;

function createConfiguration(deps: ProviderDeps, issuer: string): Configuration {
  const { publicUrl, resources, adapter, isMember } = deps;
  const isSecure = publicUrl.startsWith('https:');
  const clients = createClientConfiguration(deps, [issuer, issuer + routes.token]);
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
    ...clients,
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
    ...createInteractionConfiguration(),
    findAccount: async (_ctx, id) =>
      (await isMember(id)) ? { accountId: id, claims: () => ({ sub: id }) } : undefined,
    ttl: lifetimes,
    renderError: (ctx, { error, error_description: description }, cause) => {
      const fault = applyClientFault(ctx, cause);
      renderErrorPage(ctx, fault?.error ?? error, fault?.error_description ?? description);
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
      ...clients.features,
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

/**
 * Answers 503 or 429 when a client cannot be read for now: `invalid_client` would make an agent forget its connection.
 *
 * @returns the body of the answer.
 */
function applyClientFault(ctx: KoaContextWithOIDC, error: unknown) {
  const fault = findClientFault(error);
  if (!fault) return undefined;
  ctx.status = fault.statusCode;
  ctx.set({ ...fault.headers });
  return { error: 'temporarily_unavailable', error_description: fault.message };
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
  const onError = (ctx: KoaContextWithOIDC, error: Error): void => {
    const body = applyClientFault(ctx, error);
    // A page has its own form.
    if (body && typeof ctx.body === 'object') ctx.body = body;
  };
  provider.on('grant.error', onError);
  provider.on('revocation.error', onError);
  // The documented way to authenticate clients whose stored secrets are hashed.
  provider.Client.prototype.compareClientSecret = function compare(actual: string) {
    const hash = matchSecret(this.clientSecret ?? '', actual);
    if (hash !== undefined) deps.onSecretUsed(this.clientId, hash);
    return hash !== undefined;
  };
  return provider;
}
