import type { App, Clock, Shutdown } from '@platform/service-kit';
import type { IdentityConfig } from './config.js';
import type { RefusedUses } from './credentials/liveness/refused-uses.js';
import type { Outbox } from './mails/outbox/outbox.js';
import { registerTokens } from './tokens/create/feature.js';
import { registerServiceAccounts } from './tokens/service-accounts/feature.js';
import type { SigningKeys } from './credentials/signing-keys/service.js';
import { registerTokenDetails } from './tokens/edit/feature.js';
import { registerTokenLeaks } from './tokens/watch/leaks/feature.js';
import { startTokenNotices } from './tokens/watch/notices/feature.js';
import { registerTokenPolicy } from './tokens/policy/feature.js';
import { startTokenReuses } from './tokens/watch/reuse/feature.js';
import { registerTokenRotation } from './tokens/rotate/feature.js';
import { registerTokenSearch } from './tokens/list/feature.js';
import { startUnusedTokens } from './tokens/watch/unused/feature.js';
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
