import type { App } from '@platform/service-kit';
import type { TokenSearchService } from '../token-search/service.js';
import { adminTokenRoutes, ownTokenRoutes, scopeRoutes } from './routes.js';
import { createTokenService, type TokenService, type TokenServiceDeps } from './service.js';

/** Registers creating, listing and revoking tokens: the caller's own, and those of members for administrators. */
export function registerTokens(
  app: App,
  deps: TokenServiceDeps & { readonly search: TokenSearchService },
): TokenService {
  const tokens = createTokenService(deps);
  ownTokenRoutes(app, tokens, deps.search);
  scopeRoutes(app, tokens);
  adminTokenRoutes(app, tokens, deps.search);
  return tokens;
}
