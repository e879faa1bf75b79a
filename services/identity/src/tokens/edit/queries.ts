import type pg from 'pg';
import type { TokenRow } from '../create/list.queries.js';
import type { EditableFields } from './edit.js';
import type { TokenState } from './state.js';

export interface TokenDetailsRow extends TokenRow {
  readonly org_id: string;
  readonly description: string | null;
  readonly allow_list: string[];
  readonly mutes_notices: boolean;
  readonly status: TokenState;
  readonly successor_id: string | null;
  readonly revoked_at: Date | null;
  readonly revoked_reason: string | null;
  /** The address of the last use. */
  readonly address: string | null;
  readonly user_agent: string | null;
}

const ownToken = `
  select t.id, t.org_id, t.name, t.description, t.allow_list, t.mutes_notices, t.scopes, t.created_at, t.expires_at, t.parent_id, t.status::text,
    t.successor_id, t.revoked_at, t.revoked_reason,
    used.last_used_at, used.address, used.user_agent, used.scope_days
  from personal_access_tokens t left join token_last_used used on used.token_id = t.id
  where t.id = $1 and $2 in (t.owner_id, t.service_account_id)`;

/** Finds a token of the owner, in any state. */
export async function findOwnToken(
  db: pg.Pool,
  tokenId: string,
  ownerId: string,
): Promise<TokenDetailsRow | undefined> {
  const { rows } = await db.query<TokenDetailsRow>({
    name: 'own_token',
    text: ownToken,
    values: [tokenId, ownerId],
  });
  return rows[0];
}

export interface EditableToken {
  readonly name: string;
  readonly description: string | null;
  readonly allow_list: string[];
  readonly mutes_notices: boolean;
  readonly scopes: string[];
  readonly expires_at: Date | null;
  readonly status: TokenState;
  readonly successor_id: string | null;
}

const editable = `
  select name, description, allow_list, mutes_notices, scopes, expires_at, status::text, successor_id from personal_access_tokens
  where id = $1 and $2 in (owner_id, service_account_id) and org_id = $3 for update`;

/** Locks the owner's token against rotation, revocation, and creations by it. */
export async function lockToken(
  client: pg.PoolClient,
  tokenId: string,
  ownerId: string,
  orgId: string,
): Promise<EditableToken | undefined> {
  const { rows } = await client.query<EditableToken>(editable, [tokenId, ownerId, orgId]);
  return rows[0];
}

const update = `
  update personal_access_tokens
  set name = $2, description = $3, allow_list = $4::text[]::inet[], scopes = $5, mutes_notices = $6, is_narrowed = is_narrowed or $7
  where id = $1`;

/** @param after - the fields of the token as they are from now on. */
export const updateToken = (
  client: pg.PoolClient,
  id: string,
  after: EditableFields,
  isNarrowed: boolean,
): Promise<unknown> =>
  client.query(update, [
    id,
    after.name,
    after.description,
    after.allowList,
    after.scopes,
    after.mutesNotices,
    isNarrowed,
  ]);
