import type { App } from '@platform/service-kit';
import { adminTokenRoutes, ownTokenRoutes, scopeRoutes } from './routes.js';
import { createTokenService, type TokenService, type TokenServiceDeps } from './service.js';

/** Registers creating and revoking tokens: the caller's own, and those of members for administrators. */
export function registerTokens(app: App, deps: TokenServiceDeps): TokenService {
  const tokens = createTokenService(deps);
  ownTokenRoutes(app, tokens);
  scopeRoutes(app, tokens);
  adminTokenRoutes(app, tokens);
  return tokens;
}
