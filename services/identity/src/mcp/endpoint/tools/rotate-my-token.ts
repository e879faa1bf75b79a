import { toMember } from '@platform/auth';
import { Type } from 'typebox';
import type { TokenContext } from '../../../tokens/context.js';
import { rotateToken } from '../../../tokens/rotate.js';
import { Id, RotatedToken, RotateOptions } from '../../../tokens/schemas.js';
import type { Tool } from '../tool.js';

type Arguments = RotateOptions & { readonly tokenId?: string };

const { message: _message, ...output } = RotatedToken.properties;

export const rotateMyToken = (tokens: TokenContext): Tool<Arguments> => ({
  name: 'rotate_my_token',
  title: 'Rotate one of my access tokens',
  description:
    'Replaces the calling token, or a token that it created directly or through others, by a new one with the same name, and returns the new value (`token.accessToken`), which is never shown again: store it before you go on. Without `tokenId` it rotates the token that you call with. The old one ends after `graceSeconds` (60 unless you say otherwise; 0: at once). With `scopes` or `allowList` the new one grants less, and the tokens that the old one created are revoked. A token rotates only itself and its descendants, only those whose scopes it has and whose allow list lies within its own, and never into a later expiry than its own. Use it when a value was seen by others, or regularly; for a token that nobody needs, use revoke_my_token.',
  inputSchema: Type.Object(
    {
      tokenId: Type.Optional(Id),
      ...RotateOptions.properties,
    },
    { required: [], additionalProperties: false },
  ),
  outputSchema: Type.Object(output),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
  scopes: ['pat:write'],
  isAdminOnly: false,
  isTokenOnly: true,
  async call({ tokenId, ...options }, { principal, address }) {
    const caller = { ...toMember(principal), client: address };
    const owner = { id: caller.userId, isServiceAccount: false };
    const rotated = await rotateToken(tokens, caller, owner, tokenId ?? caller.credentialId, options);
    return { ...rotated };
  },
});
