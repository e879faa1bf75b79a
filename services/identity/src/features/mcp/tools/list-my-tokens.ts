import { toMember } from '@platform/auth';
import { Type } from 'typebox';
import { Token } from '../../personal-access-tokens/schemas.js';
import type { TokenService } from '../../personal-access-tokens/service.js';
import { READ_ONLY, type Tool } from '../tool.js';

/** Pages are small by default, because every item takes up the model's context. */
const inputSchema = Type.Object(
  {
    limit: Type.Integer({ minimum: 1, maximum: 100, default: 20, description: 'How many at most.' }),
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
type Arguments = { readonly limit: number; readonly cursor?: string };

export const listMyTokens = (service: Pick<TokenService, 'listOwn'>): Tool<Arguments> => ({
  name: 'list_my_tokens',
  title: 'List my access tokens',
  description:
    "Lists the account's own active personal access tokens, the newest first: id, name, scopes, the token it is revoked with (`parentId`; null: none), and when each was created, expires (null: never) and was last used (null: not yet), as ISO 8601 UTC. Use it to find a token's id or to spot tokens that are unused or about to expire. Returns 20 unless `limit` says otherwise; call again with `nextCursor` as `cursor` until it is null. The tokens' values are never shown. Changes nothing.",
  inputSchema,
  outputSchema: Type.Object({
    tokens: Type.Array(Token),
    nextCursor: Type.Union([Type.String(), Type.Null()], { description: 'Null: there is no more.' }),
  }),
  annotations: READ_ONLY,
  scopes: ['pat:read'],
  isAdminOnly: false,
  async call({ limit, cursor: after }, { principal }) {
    // Fetch one more than requested to learn whether there is another page.
    const found = await service.listOwn(toMember(principal), { limit: limit + 1, after });
    const tokens = found.slice(0, limit);
    return { tokens, nextCursor: found.length > limit ? (tokens.at(-1)?.id ?? null) : null };
  },
});
