import { Type } from 'typebox';
import { Message, RevokeReason, TokenPath } from '../../personal-access-tokens/schemas.js';
import type { TokenService } from '../../personal-access-tokens/service.js';
import type { Tool } from '../tool.js';

type Arguments = { readonly tokenId: string; readonly reason?: string };

export const revokeMyToken = (service: Pick<TokenService, 'revokeOwn'>): Tool<Arguments> => ({
  name: 'revoke_my_token',
  title: 'Revoke one of my access tokens',
  description:
    "Revokes one of the account's own personal access tokens, at once and for good: whatever uses it is refused from then on, you too if it is the one you call with. Use it for a token that leaked or isn't needed any more; find its `tokenId` with list_my_tokens. `reason` is kept for the audit. Returns a confirmation.",
  inputSchema: Type.Object(
    { ...TokenPath.properties, reason: Type.Optional(RevokeReason) },
    { additionalProperties: false },
  ),
  outputSchema: Message,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  scopes: ['pat:write'],
  isAdminOnly: false,
  async call({ tokenId, reason }, { principal }) {
    await service.revokeOwn(principal, tokenId, reason);
    return { message: 'Token revoked' };
  },
});
