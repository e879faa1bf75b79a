import { generateKeyPairSync, hkdfSync } from 'node:crypto';
import { DPOP_ALGORITHMS } from '@platform/auth';
import type { BoxKey, Logger } from '@platform/service-kit';
import OidcProvider, {
  type Adapter,
  type Configuration,
  errors,
  type JWK,
  type KoaContextWithOIDC,
} from 'oidc-provider';
import { isForBrowser } from '../../sign-in/page-kit/error-page.js';
import { toPageResponse } from '../../sign-in/page-kit/page.js';
import { ACCESS_TOKEN_SECONDS } from './access-tokens.js';
import { type ClientConfigurationDeps, createClientConfiguration } from './client-configuration.js';
import { matchSecret } from './client-metadata.js';
import { connectionErrorPage } from './error-page.js';
import { answerFaults, applyFault } from './faults.js';
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
      const fault = applyFault(ctx, cause);
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

/** Shows a fault that cannot be sent to the client, because it is unknown or its redirect URI is wrong. */
function renderErrorPage(ctx: KoaContextWithOIDC, error: string, description: string | undefined): void {
  if (isForBrowser(ctx.method, ctx.get('accept'))) {
    const requestId = String(ctx.res.getHeader('x-request-id') ?? '');
    const { headers, body } = toPageResponse(connectionErrorPage(error, description, requestId));
    ctx.set({ ...headers });
    ctx.body = body;
    return;
  }
  ctx.type = 'text/plain; charset=utf-8';
  ctx.body = `The application could not be connected: ${error}${description === undefined ? '' : ` (${description})`}`;
}

/** Creates the authorization server (OAuth 2.1, RFC 6749), without its routes. */
export function createProvider(deps: ProviderDeps): OidcProvider {
  const issuer = deps.publicUrl + ISSUER_PATH;
  const provider = new OidcProvider(issuer, createConfiguration(deps, issuer));
  // The gateway has terminated TLS; the mount pins the headers that Koa reads then.
  provider.proxy = true;
  answerFaults(provider, deps.log);
  // The documented way to authenticate clients whose stored secrets are hashed.
  provider.Client.prototype.compareClientSecret = function compare(actual: string) {
    const hash = matchSecret(this.clientSecret ?? '', actual);
    if (hash !== undefined) deps.onSecretUsed(this.clientId, hash);
    return hash !== undefined;
  };
  return provider;
}
