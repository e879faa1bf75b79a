import type { App } from '@platform/service-kit';
import type { TokenService } from '../create/service.js';
import { adminTokenListRoutes, ownTokenListRoutes } from './routes.js';
import { createTokenSearch, type TokenSearchService } from './service.js';

/** Registers the lists of tokens, which are searches with a filter: the caller's own, and the organisation's. */
export function registerTokenSearch(
  app: App,
  deps: Parameters<typeof createTokenSearch>[0] & { readonly tokens: TokenService },
): TokenSearchService {
  const search = createTokenSearch(deps);
  ownTokenListRoutes(app, deps.tokens, search);
  adminTokenListRoutes(app, deps.tokens, search);
  return search;
}
