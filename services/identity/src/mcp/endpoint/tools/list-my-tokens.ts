import { toMember } from '@platform/auth';
import { Type } from 'typebox';
import type { TokenContext } from '../../../tokens/context.js';
import { findOwnTokens } from '../../../tokens/list.js';
import { TokenDetails, tokenStates } from '../../../tokens/schemas.js';
import { READ_ONLY, type Tool } from '../tool.js';

/** Pages are small by default, because every item takes up the model's context. */
const inputSchema = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'How many at most.' }),
    state: Type.Enum([...tokenStates], { default: 'active' }),
    cursor: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'The `nextCursor` of the page before; leave out for the first.',
      }),
    ),
  },
  { required: [], additionalProperties: false },
);
/** The arguments after validation, which fills in the default. */
type Arguments = { readonly limit: number; readonly state: TokenDetails['state']; readonly cursor?: string };

export const listMyTokens = (tokens: TokenContext): Tool<Arguments> => ({
  name: 'list_my_tokens',
  title: 'List my access tokens',
  description:
    "Lists the account's own personal access tokens, the newest first, active ones unless `state` says otherwise: id, name, description, scopes, state, the token it is revoked with (`parentId`; null: none), and when each was created, expires (null: never) and was last used (null: not yet) and from where (`lastUse`), as ISO 8601 UTC. An active token with `replacedBy` was rotated and ends at `expiresAt`. Use it to find a token's id or to spot tokens that are unused, or about to expire. Returns 20 unless `limit` says otherwise; call again with `nextCursor` as `cursor` until it is null. The tokens' values are never shown. Changes nothing.",
  inputSchema,
  outputSchema: Type.Object({
    tokens: Type.Array(TokenDetails),
    nextCursor: Type.Union([Type.String(), Type.Null()], { description: 'Null: there is no more.' }),
  }),
  annotations: READ_ONLY,
  scopes: ['pat:read'],
  isAdminOnly: false,
  async call(query, { principal }) {
    const { items, nextCursor } = await findOwnTokens(tokens, toMember(principal), query, 'none');
    return { tokens: items, nextCursor };
  },
});
