import type { App } from '@platform/service-kit';
import type { TokenService } from '../create/service.js';
import { ownCredentialRoutes, tokenDetailsRoutes } from './routes.js';
import { createTokenDetailsService, type TokenDetailsService } from './service.js';

/** Registers the details of a token: for its owner, and for the token itself. @returns the service, for those of accounts. */
export function registerTokenDetails(
  app: App,
  deps: Parameters<typeof createTokenDetailsService>[0] & {
    readonly tokens: Pick<TokenService, 'revokeOwn'>;
  },
): TokenDetailsService {
  const details = createTokenDetailsService(deps);
  tokenDetailsRoutes(app, details);
  ownCredentialRoutes(app, details, deps.tokens);
  return details;
}
