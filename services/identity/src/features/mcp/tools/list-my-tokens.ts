import { Type } from 'typebox';
import { Token } from '../../personal-access-tokens/schemas.js';
import type { TokenService } from '../../personal-access-tokens/service.js';
import type { Tool } from '../tool.js';

export const listMyTokens = (service: Pick<TokenService, 'listOwn'>): Tool => ({
  name: 'list_my_tokens',
  title: 'List my access tokens',
  description:
    "Lists the account's own active personal access tokens, the newest first, at most 100: id, name, scopes, and when each was created, expires (null: never) and was last used (null: not yet), as ISO 8601 UTC. Use it to find a token's id or to spot tokens that are unused or about to expire. The tokens' values are never shown. Takes no arguments and changes nothing.",
  inputSchema: Type.Object({}, { additionalProperties: false }),
  outputSchema: Type.Object({ tokens: Type.Array(Token) }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  scopes: ['pat:read'],
  isAdminOnly: false,
  call: async (principal) => ({ tokens: await service.listOwn(principal) }),
});
