import { toMember } from '@platform/auth';
import { Type } from 'typebox';
import type { TokenContext } from '../../../tokens/context.js';
import { revokeToken } from '../../../tokens/revoke.js';
import { Revoked, RevokeReason, TokenPath, toRevoked } from '../../../tokens/schemas.js';
import type { Tool } from '../tool.js';

type Arguments = { readonly tokenId: string; readonly reason?: string };

export const revokeMyToken = (tokens: TokenContext): Tool<Arguments> => ({
  name: 'revoke_my_token',
  title: 'Revoke one of my access tokens',
  description:
    "Revokes one of the account's own personal access tokens, at once and for good: whatever uses it is refused from then on, you too if it is the one you call with. The tokens that it made, and theirs, are revoked with it (list_my_tokens shows them by `parentId`). A token revokes only itself and those. Use it for a token that leaked or isn't needed any more; find its `tokenId` with list_my_tokens. `reason` is kept for the audit. Returns a confirmation and how many tokens were revoked.",
  inputSchema: Type.Object(
    { ...TokenPath.properties, reason: Type.Optional(RevokeReason) },
    { additionalProperties: false },
  ),
  outputSchema: Revoked,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  scopes: ['pat:write'],
  isAdminOnly: false,
  async call({ tokenId, ...options }, { principal, address }) {
    const caller = { ...toMember(principal), client: address };
    return toRevoked(await revokeToken(tokens, caller, caller.userId, tokenId, options));
  },
});
