import type { App, Clock, Shutdown } from '@platform/service-kit';
import type { IdentityConfig } from './config.js';
import type { RefusedUses } from './features/liveness/refused-uses.js';
import type { Outbox } from './features/outgoing-mails/outbox.js';
import { registerTokens } from './features/personal-access-tokens/feature.js';
import { registerServiceAccounts } from './features/service-accounts/feature.js';
import type { SigningKeys } from './features/signing-keys/service.js';
import { registerTokenDetails } from './features/token-details/feature.js';
import { registerTokenLeaks } from './features/token-leaks/feature.js';
import { startTokenNotices } from './features/token-notices/feature.js';
import { registerTokenPolicy } from './features/token-policy/feature.js';
import { startTokenReuses } from './features/token-reuse/feature.js';
import { registerTokenRotation } from './features/token-rotation/feature.js';
import { registerTokenSearch } from './features/token-search/feature.js';
import { startUnusedTokens } from './features/unused-tokens/feature.js';
import type { Resources } from './resources.js';

export interface TokenFeatureDeps extends Resources {
  readonly config: Pick<
    IdentityConfig,
    'AUDIT_DAYS' | 'MCP_SCOPES' | 'SECRET_SCANNING_KEYS' | 'TOKEN_PREFIX'
  >;
  readonly keys: SigningKeys;
  readonly outbox: Outbox;
  readonly refusedUses: Pick<RefusedUses, 'onReuse'>;
  readonly clock: Clock;
  readonly shutdown: Shutdown;
}

/**
 * Registers personal access tokens, from their creation to their end, and the service accounts that can own some.
 *
 * @returns what `/mcp` offers of them as tools.
 */
export function registerTokenFeatures(app: App, deps: TokenFeatureDeps) {
  const { config } = deps;
  const getPolicy = registerTokenPolicy(app, deps);
  const common = { ...deps, getPolicy, tokenPrefix: config.TOKEN_PREFIX };
  startTokenReuses(common);
  const tokens = registerTokens(app, { ...common, defaultScopes: config.MCP_SCOPES });
  const tokenSearch = registerTokenSearch(app, { ...deps, tokens, historyDays: config.AUDIT_DAYS });
  const details = registerTokenDetails(app, { ...deps, tokens });
  registerTokenLeaks(app, { ...deps, scanningKeys: config.SECRET_SCANNING_KEYS });
  startUnusedTokens(deps);
  startTokenNotices(deps);
  const tokenRotation = registerTokenRotation(app, common);
  registerServiceAccounts(app, { ...common, tokens, details, rotation: tokenRotation });
  return { tokens, tokenSearch, tokenRotation };
}
