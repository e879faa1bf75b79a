import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import { runInTransaction } from '../../base/transaction.js';
import { readAllowList } from '../../credentials/allow-lists/ranges.js';
import { type Caller, toActor } from '../../base/caller/actor.js';
import { insertAuditEntry } from '../../audit/queries.js';
import { descendantsOutsideOfAllowList, tokenNotFound } from '../create/errors.js';
import type { TokenOwner } from '../create/insert.queries.js';
import { toToken } from '../create/service.js';
import { lockTokenOwner } from '../revoke/queries.js';
import { lockAdministration } from '../../members/organisation/administration.js';
import { findEditChanges, toEdit, type TokenEdit } from './edit.js';
import { narrowFamily } from './narrow-family.queries.js';
import { findOwnToken, lockToken, type TokenDetailsRow, updateToken } from './queries.js';
import type { EditedToken, EditTokenBody, TokenDetails } from './schemas.js';
import { toState } from './state.js';

/** Returns the details of a token as they are shown. */
export function toDetails(row: TokenDetailsRow, now: number): TokenDetails {
  const state = toState(row, now);
  // The expiry job hasn't revoked a rotated token yet whose grace has ended.
  const isDue = state === 'revoked' && row.status === 'active';
  return {
    ...toToken(row, now),
    description: row.description,
    lastUse:
      row.last_used_at === null
        ? null
        : { at: row.last_used_at.toISOString(), address: row.address, userAgent: row.user_agent },
    allowList: readAllowList(row.allow_list),
    noticesMuted: row.mutes_notices,
    state,
    replacedBy: row.successor_id,
    revokedAt: (isDue ? row.expires_at : row.revoked_at)?.toISOString() ?? null,
    revokedReason: isDue ? 'rotated' : row.revoked_reason,
  };
}

/**
 * Takes from the token's descendants what the edit takes from it.
 *
 * @returns how many were revoked, because they had no other scope.
 * @throws AppError 409 when one would be allowed from nowhere.
 */
async function narrowDescendants(
  client: pg.PoolClient,
  caller: Caller,
  tokenId: string,
  { allowList, scopes }: TokenEdit,
  at: Date,
): Promise<number> {
  // An empty list allows every address.
  const isListNarrowed = allowList !== undefined && allowList.length > 0;
  if (!isListNarrowed && !scopes) return 0;
  const { revokedCount, excludedCount } = await narrowFamily(client, {
    tokenId,
    allowList: isListNarrowed ? allowList : undefined,
    scopes,
    caller,
    at,
  });
  if (excludedCount > 0) throw descendantsOutsideOfAllowList(excludedCount);
  return revokedCount;
}

/** Creates the service that shows and edits single tokens. */
export function createTokenDetailsService(deps: { readonly pool: pg.Pool; readonly clock: Clock }) {
  const { pool, clock } = deps;

  async function get({ id }: { readonly id: string }, tokenId: string): Promise<TokenDetails> {
    const row = await findOwnToken(pool, tokenId, id);
    if (!row) throw tokenNotFound();
    return toDetails(row, clock());
  }

  /** @returns how many descendants were revoked. */
  async function editIn(
    client: pg.PoolClient,
    caller: Caller,
    owner: TokenOwner,
    tokenId: string,
    body: EditTokenBody,
  ): Promise<number> {
    const now = clock();
    const at = new Date(now);
    if (body.allowList || body.scopes) await lockTokenOwner(client, tokenId, caller.orgId);
    const token = await lockToken(client, tokenId, owner.id, caller.orgId);
    if (!token || toState(token, now) !== 'active') throw tokenNotFound();
    const before = {
      ...token,
      allowList: readAllowList(token.allow_list),
      mutesNotices: token.mutes_notices,
    };
    const edit = toEdit(before, body);
    const changes = findEditChanges(before, edit);
    if (Object.keys(changes).length === 0) return 0;
    await updateToken(client, tokenId, { ...before, ...edit }, edit.isNarrowed ?? false);
    const revokedCount = await narrowDescendants(client, caller, tokenId, edit, at);
    await insertAuditEntry(client, {
      orgId: caller.orgId,
      action: 'token.changed',
      actor: toActor(caller),
      subjectId: tokenId,
      changes,
      at,
    });
    return revokedCount;
  }

  return {
    /** Returns a token of the owner in any state. @throws AppError 404. */
    get,

    /**
     * Changes an own active token. Its scopes can only become fewer, which takes effect at once, for its descendants too.
     *
     * @throws AppError 404; 400 for a scope that the token lacks, or for addresses outside of its allow list; 409 when a
     *   descendant would be allowed from nowhere.
     */
    async edit(caller: Caller, tokenId: string, body: EditTokenBody): Promise<EditedToken> {
      const owner = { id: caller.userId, isServiceAccount: false };
      const revokedCount = await runInTransaction(pool, (client) =>
        editIn(client, caller, owner, tokenId, body),
      );
      return { token: await get(owner, tokenId), revokedCount };
    },

    /** Changes a token of a service account, for an administrator. @throws AppError 403 ADMIN_REQUIRED; as `edit`. */
    async editOfAccount(
      caller: Caller,
      accountId: string,
      tokenId: string,
      body: EditTokenBody,
    ): Promise<EditedToken> {
      const owner = { id: accountId, isServiceAccount: true };
      const revokedCount = await runInTransaction(pool, async (client) => {
        await lockAdministration(client, caller);
        return editIn(client, caller, owner, tokenId, body);
      });
      return { token: await get(owner, tokenId), revokedCount };
    },
  };
}
export type TokenDetailsService = ReturnType<typeof createTokenDetailsService>;
