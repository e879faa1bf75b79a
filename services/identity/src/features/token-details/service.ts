import { type Clock, type FaultDetail, validationError } from '@platform/service-kit';
import type pg from 'pg';
import type { Prisma, Transaction } from '../../resources.js';
import { isNarrower, readAllowList } from '../allow-lists/ranges.js';
import { type Caller, toActor } from '../audit/actor.js';
import { findChanges } from '../audit/changes.js';
import { insertAuditEntry } from '../audit/queries.js';
import { descendantsOutsideOfAllowList, tokenNotFound } from '../personal-access-tokens/errors.js';
import type { TokenOwner } from '../personal-access-tokens/insert.queries.js';
import { toToken } from '../personal-access-tokens/service.js';
import { lockAdministration } from '../users/administration.js';
import {
  type EditableToken,
  findOwnToken,
  lockOwner,
  lockToken,
  narrowFamily,
  type TokenDetailsRow,
  type TokenEdit,
  updateToken,
} from './queries.js';
import type { EditTokenBody, TokenDetails } from './schemas.js';
import { toState } from './state.js';

export interface TokenDetailsService {
  /** Returns a token of the owner in any state. @throws AppError 404. */
  get(owner: { readonly id: string }, tokenId: string): Promise<TokenDetails>;
  /**
   * Changes an own active token. Its scopes can only become fewer, which takes effect at once.
   *
   * @throws AppError 404; 400 for a scope that the token lacks.
   */
  edit(caller: Caller, tokenId: string, body: EditTokenBody): Promise<TokenDetails>;
  /** Changes a token of a service account, for an administrator. @throws AppError 403 ADMIN_REQUIRED; as `edit`. */
  editOfAccount(
    caller: Caller,
    accountId: string,
    tokenId: string,
    body: EditTokenBody,
  ): Promise<TokenDetails>;
}

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

/** @throws AppError 400 that names each scope that the token lacks. */
function narrowScopes(current: readonly string[], wanted: readonly string[]): string[] {
  const faults: FaultDetail[] = wanted.flatMap((scope, index) =>
    current.includes(scope)
      ? []
      : [
          {
            field: `scopes.${index}`,
            message: `the token lacks ${JSON.stringify(scope)}: scopes are only removed`,
          },
        ],
  );
  if (faults.length > 0) throw validationError(faults);
  return current.filter((scope) => wanted.includes(scope));
}

/** @throws AppError 400 for what is no range, or lies outside of the current list. */
function narrowAllowList(current: readonly string[], wanted: readonly string[]): string[] {
  const list = readAllowList(wanted);
  if (isNarrower(list, current)) return list;
  throw validationError([
    { field: 'allowList', message: `must lie within the current list: ${current.join(', ')}` },
  ]);
}

function toEdit(
  token: EditableToken & { readonly allowList: string[] },
  { name, description, scopes: wanted, allowList, noticesMuted }: EditTokenBody,
): TokenEdit {
  const scopes = wanted && narrowScopes(token.scopes, wanted);
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(allowList && { allowList: narrowAllowList(token.allowList, allowList) }),
    ...(noticesMuted !== undefined && { mutesNotices: noticesMuted }),
    ...(scopes && scopes.length < token.scopes.length && { scopes, isNarrowed: true }),
  };
}

/** @throws AppError 409 when a token that this one created would be allowed from nowhere. */
async function narrowDescendants(
  tx: Transaction,
  caller: Caller,
  tokenId: string,
  allowList: readonly string[],
  at: Date,
): Promise<void> {
  const { excludedCount } = await narrowFamily(tx, { tokenId, allowList, caller, at });
  if (excludedCount > 0) throw descendantsOutsideOfAllowList(excludedCount);
}

/** The form in which the audit shows what an edit can change. */
const toAuditForm = ({ name, description, scopes, allowList, mutesNotices }: TokenEdit) => ({
  name: name ?? null,
  description: description ?? null,
  scopes: scopes?.join(' ') ?? null,
  allowList: allowList?.join(' ') ?? null,
  noticesMuted: String(mutesNotices ?? false),
});

export function createTokenDetailsService(deps: {
  readonly pool: pg.Pool;
  readonly prisma: Prisma;
  readonly clock: Clock;
}): TokenDetailsService {
  const { pool, prisma, clock } = deps;

  async function get({ id }: { readonly id: string }, tokenId: string): Promise<TokenDetails> {
    const row = await findOwnToken(pool, tokenId, id);
    if (!row) throw tokenNotFound();
    return toDetails(row, clock());
  }

  async function edit(
    tx: Transaction,
    caller: Caller,
    owner: TokenOwner,
    tokenId: string,
    body: EditTokenBody,
  ): Promise<void> {
    const now = clock();
    if (body.allowList) await lockOwner(tx, owner);
    const token = await lockToken(tx, tokenId, owner.id, caller.orgId);
    if (!token || toState(token, now) !== 'active') throw tokenNotFound();
    const before = {
      ...token,
      allowList: readAllowList(token.allow_list),
      mutesNotices: token.mutes_notices,
    };
    const change = toEdit(before, body);
    const changes = findChanges(toAuditForm(before), toAuditForm({ ...before, ...change }), [
      'name',
      'description',
      'scopes',
      'allowList',
      'noticesMuted',
    ]);
    if (Object.keys(changes).length === 0) return;
    await updateToken(tx, tokenId, change);
    if (change.allowList && change.allowList.length > 0)
      await narrowDescendants(tx, caller, tokenId, change.allowList, new Date(now));
    await insertAuditEntry(tx, {
      orgId: caller.orgId,
      action: 'token.changed',
      actor: toActor(caller),
      subjectId: tokenId,
      changes,
      at: new Date(now),
    });
  }

  return {
    get,
    async edit(caller, tokenId, body) {
      const owner = { id: caller.userId, isServiceAccount: false };
      await prisma.$transaction((tx) => edit(tx, caller, owner, tokenId, body));
      return get(owner, tokenId);
    },
    async editOfAccount(caller, accountId, tokenId, body) {
      const owner = { id: accountId, isServiceAccount: true };
      await prisma.$transaction(async (tx) => {
        await lockAdministration(tx, caller);
        await edit(tx, caller, owner, tokenId, body);
      });
      return get(owner, tokenId);
    },
  };
}
