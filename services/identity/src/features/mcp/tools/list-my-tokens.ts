import { Type } from 'typebox';
import { Token } from '../../personal-access-tokens/schemas.js';
import type { TokenService } from '../../personal-access-tokens/service.js';
import { NextCursor, type PageArguments, pageArguments, pageOf } from '../page.js';
import { READ_ONLY, type Tool } from '../tool.js';

export const listMyTokens = (service: Pick<TokenService, 'listOwn'>): Tool<PageArguments> => ({
  name: 'list_my_tokens',
  title: 'List my access tokens',
  description:
    "Lists the account's own active personal access tokens, the newest first: id, name, scopes, and when each was created, expires (null: never) and was last used (null: not yet), as ISO 8601 UTC. Use it to find a token's id or to spot tokens that are unused or about to expire. Returns 20 unless `limit` says otherwise; call again with `nextCursor` as `cursor` until it is null (the 100 newest can be reached). The tokens' values are never shown. Changes nothing.",
  inputSchema: Type.Object(pageArguments, { required: [], additionalProperties: false }),
  outputSchema: Type.Object({ tokens: Type.Array(Token), nextCursor: NextCursor }),
  annotations: READ_ONLY,
  scopes: ['pat:read'],
  isAdminOnly: false,
  async call(args, { principal }) {
    const { page, nextCursor } = pageOf(await service.listOwn(principal), ({ id }) => id, args);
    return { tokens: page, nextCursor };
  },
});
