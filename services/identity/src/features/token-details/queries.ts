import type pg from 'pg';
import { Prisma } from '../../generated/prisma/client.js';
import type { Transaction } from '../../resources.js';
import { type Caller, getUserAgent } from '../audit/actor.js';
import { MAX_RANGES } from '../allow-lists/ranges.js';
import { auditIdPrefix } from '../audit/queries.js';
import type { TokenOwner } from '../personal-access-tokens/insert.queries.js';
import type { TokenRow } from '../personal-access-tokens/list.queries.js';
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
  /** Where the last use came from. */
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

/** Serialises edits of allow lists with creations and revocations of the owner's tokens. */
export const lockOwner = (tx: Transaction, { id, isServiceAccount }: TokenOwner): Promise<unknown> =>
  tx.$queryRaw(
    isServiceAccount
      ? Prisma.sql`select id from service_accounts where id = ${id}::uuid for no key update`
      : Prisma.sql`select id from users where id = ${id}::uuid for no key update`,
  );

export interface NarrowedFamily {
  /** How many tokens would be allowed from nowhere. */
  readonly excludedCount: number;
}

/**
 * Narrows the allow lists of the tokens that a revocation of this one would revoke, so that none is allowed from where this
 * one isn't. The audit has each that changes.
 */
export async function narrowFamily(
  tx: Transaction,
  {
    tokenId,
    allowList,
    caller,
    at,
  }: {
    readonly tokenId: string;
    readonly allowList: readonly string[];
    readonly caller: Caller;
    readonly at: Date;
  },
): Promise<NarrowedFamily> {
  const list = Prisma.sql`${allowList}::text[]::inet[]`;
  const [row] = await tx.$queryRaw<[{ excluded: number }]>(Prisma.sql`
    with recursive family as (
      select id from personal_access_tokens where id = ${tokenId}::uuid
      union
      select member.id from family cross join lateral (
        select id from personal_access_tokens where parent_id = family.id and status = 'active'
        union all
        select id from personal_access_tokens where successor_id = family.id and status = 'active'
      ) member
    ), member as materialized (
      select token.id, token.org_id, token.allow_list as old_list,
        case when token.allow_list = '{}' then ${list} else array(
          select distinct case when own <<= given then own else given end
          from unnest(token.allow_list) own cross join unnest(${list}) given where own <<= given or given <<= own
        ) end as new_list
      from family join personal_access_tokens token using (id) where token.id <> ${tokenId}::uuid
    ), narrowed as (
      update personal_access_tokens token set allow_list = member.new_list
      from member where token.id = member.id and cardinality(member.new_list) between 1 and ${MAX_RANGES}
        and not (member.old_list <@ member.new_list and member.new_list <@ member.old_list)
      returning token.id, token.org_id, member.old_list, member.new_list
    ), entries as (
      insert into audit_entries
        (id, org_id, action, actor_id, credential_kind, credential_id, address, user_agent, subject_id, detail, changes, created_at)
      select (${auditIdPrefix(at)}::text || substr(gen_random_uuid()::text, 16))::uuid, org_id, 'token.changed', ${caller.userId}::uuid,
        ${caller.kind}, ${caller.credentialId}::uuid, ${caller.client.address}, ${getUserAgent(caller.client)}, id,
        jsonb_build_object('narrowedWith', ${tokenId}::text),
        jsonb_build_object('allowList', jsonb_build_object(
          'from', array_to_string(old_list, ' '), 'to', array_to_string(new_list, ' '))), ${at.toISOString()}::timestamptz
      from narrowed
    )
    select count(*)::int as excluded from member where cardinality(new_list) not between 1 and ${MAX_RANGES}`);
  return { excludedCount: row.excluded };
}

export interface TokenEdit {
  readonly name?: string;
  readonly description?: string | null;
  readonly scopes?: string[];
  readonly isNarrowed?: true;
  readonly allowList?: string[];
  readonly mutesNotices?: boolean;
}

export const updateToken = (tx: Transaction, id: string, edit: TokenEdit): Promise<unknown> =>
  tx.personalAccessToken.update({ where: { id }, data: edit, select: { id: true } });
