import type pg from 'pg';
import { Prisma } from '../../generated/prisma/client.js';
import type { Transaction } from '../../resources.js';
import type { TokenOwner } from '../personal-access-tokens/insert.queries.js';
import type { TokenRow } from '../personal-access-tokens/list.queries.js';
import type { TokenEdit } from './edit.js';
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

/** Locks the owner's token against rotation, revocation, and creations by it. */
export async function lockToken(
  tx: Transaction,
  tokenId: string,
  ownerId: string,
  orgId: string,
): Promise<EditableToken | undefined> {
  const [row] = await tx.$queryRaw<EditableToken[]>(Prisma.sql`
    select name, description, allow_list, mutes_notices, scopes, expires_at, status::text, successor_id from personal_access_tokens
    where id = ${tokenId}::uuid and ${ownerId}::uuid in (owner_id, service_account_id) and org_id = ${orgId}::uuid
    for update`);
  return row;
}

/** Serialises the narrowing of tokens with creations and revocations of the owner's tokens. */
export const lockOwner = (
  tx: Transaction,
  { id, isServiceAccount }: TokenOwner,
  orgId: string,
): Promise<unknown> =>
  tx.$queryRaw(
    isServiceAccount
      ? Prisma.sql`select id from service_accounts where id = ${id}::uuid and org_id = ${orgId}::uuid for no key update`
      : Prisma.sql`select id from users where id = ${id}::uuid and org_id = ${orgId}::uuid for no key update`,
  );

export const updateToken = (tx: Transaction, id: string, edit: TokenEdit): Promise<unknown> =>
  tx.personalAccessToken.update({ where: { id }, data: edit, select: { id: true } });
