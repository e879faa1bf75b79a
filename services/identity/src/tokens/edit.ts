import { inTransaction } from '@platform/service-kit';
import type pg from 'pg';
import { findChanges } from '../audit/changes.js';
import { type Changes, insertAuditEntry } from '../audit/record.sql.js';
import { type Caller, toActor } from '../base/caller/actor.js';
import { createDescribeBounds } from '../credentials/bounds/bounds.js';
import { lockAdministration } from '../members/organisation/administration.js';
import type { TokenContext } from './context.js';
import { sessionRequiredOutsideFamily, tokenNotFound } from './errors.js';
import type { EditTokenBody, TokenDetails } from './schemas.js';
import {
  findOwnToken,
  isInFamily,
  type TokenDetailsRow,
  type TokenOwner,
  toDetails,
  toState,
} from './token.js';

/* An edit changes what a token is called and who is notified of it. What it grants, only a rotation takes from it. */

type EditableRow = Pick<
  TokenDetailsRow,
  'name' | 'description' | 'mutes_notices' | 'expires_at' | 'status' | 'successor_id'
>;

const editable = `
  select name, description, mutes_notices, expires_at, status::text, successor_id from personal_access_tokens
  where id = $1 and $2 in (owner_id, service_account_id) and org_id = $3 for no key update`;

/** Locks the owner's token. @throws AppError 404 when there is no such active token. */
async function lockToken(
  client: pg.PoolClient,
  values: readonly [tokenId: string, ownerId: string, orgId: string],
  now: number,
): Promise<EditableRow> {
  const { rows } = await client.query<EditableRow>(editable, [...values]);
  const [token] = rows;
  if (!token || toState(token, now) !== 'active') throw tokenNotFound();
  return token;
}

const update = `
  update personal_access_tokens set name = $2, description = $3, mutes_notices = $4 where id = $1`;

/** The form in which the audit shows what an edit can change. */
interface EditableFields {
  readonly name: string;
  readonly description: string | null;
  readonly noticesMuted: boolean;
}

const findEditChanges = (before: EditableFields, after: EditableFields): Changes =>
  findChanges(
    { ...before, noticesMuted: String(before.noticesMuted) },
    { ...after, noticesMuted: String(after.noticesMuted) },
    ['name', 'description', 'noticesMuted'],
  );

/** Returns a token of the owner in any state. @throws AppError 404. */
export async function getToken(
  { pool, clock }: TokenContext,
  { id: ownerId }: Pick<TokenOwner, 'id'>,
  tokenId: string,
): Promise<TokenDetails> {
  const row = await findOwnToken(pool, tokenId, ownerId);
  if (!row) throw tokenNotFound();
  return toDetails(row, clock(), await createDescribeBounds(pool, row.org_id, [row]));
}

/**
 * Changes an active token of the owner. For a service account, the caller is an administrator.
 *
 * @throws AppError 404; 403 ADMIN_REQUIRED, or SESSION_REQUIRED for a token outside of the family of the calling one.
 */
export async function editToken(
  ctx: TokenContext,
  caller: Caller,
  owner: TokenOwner,
  tokenId: string,
  body: EditTokenBody,
): Promise<TokenDetails> {
  const now = ctx.clock();
  const { orgId } = caller;
  await inTransaction(ctx.pool, async (client) => {
    if (owner.isServiceAccount) await lockAdministration(client, caller);
    const token = await lockToken(client, [tokenId, owner.id, orgId], now);
    if (caller.kind === 'pat' && !(await isInFamily(client, tokenId, caller.credentialId)))
      throw sessionRequiredOutsideFamily();
    const before = {
      name: token.name,
      description: token.description,
      noticesMuted: token.mutes_notices,
    };
    const after = { ...before, ...body };
    const changes = findEditChanges(before, after);
    if (Object.keys(changes).length === 0) return;
    await client.query(update, [tokenId, after.name, after.description, after.noticesMuted]);
    const entry = { orgId, action: 'token.changed', actor: toActor(caller), subjectId: tokenId } as const;
    await insertAuditEntry(client, { ...entry, changes, at: new Date(now) });
  });
  return getToken(ctx, owner, tokenId);
}
