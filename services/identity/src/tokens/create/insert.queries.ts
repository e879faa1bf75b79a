import type pg from 'pg';
import { type Caller, getUserAgent } from '../../base/caller/actor.js';
import { liesWithin } from '../../credentials/allow-lists/queries.js';
import { createAuditId } from '../../audit/queries.js';
import type { LimitedAlert } from '../../mails/alerts/limited-alerts.js';
import { insertAlertFrom } from '../../mails/alerts/queries.js';

/** The member or the service account that a token acts as. */
export interface TokenOwner {
  readonly id: string;
  readonly isServiceAccount: boolean;
}

export interface NewToken {
  readonly id: string;
  readonly orgId: string;
  readonly owner: TokenOwner;
  readonly name: string;
  readonly description: string | null;
  readonly allowList: readonly string[];
  readonly scopes: readonly string[];
  readonly tokenHash: string;
  readonly signingKeyId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
}

/*
 * The locks of a statement that creates a token: of the owner `$3` in the organisation `$2`, and of the creating
 * credential `$12`, the `maker`, which must be active at `$8`. A token is a maker only while it has all the scopes `$5`.
 * For a service account, the maker is the session of an administrator.
 *
 * The owner is locked before the maker, in the same order as by a revocation: a creation that waits for a revocation then
 * sees the maker revoked, and a revocation that waits for a creation sees the new token.
 */
const ownerAndMaker = (maker: string, owners: 'users' | 'service_accounts' = 'users') => `
  owner as materialized (
    select id from ${owners} where id = $3 and org_id = $2 and removed_at is null for no key update
  ), maker as materialized (
    ${maker} for share of maker
  )`;
export const ownerAndSession = ownerAndMaker(
  `select maker.id, '{}'::inet[] as allow_list, null::uuid as successor_id from owner join sessions maker on maker.user_id = owner.id
    where maker.id = $12::uuid and maker.ended_at is null and maker.expires_at > $8`,
);
export const accountAndSession = ownerAndMaker(
  `select maker.id, '{}'::inet[] as allow_list, null::uuid as successor_id
    from owner cross join sessions maker join users administrator on administrator.id = maker.user_id
    where maker.id = $12::uuid and maker.ended_at is null and maker.expires_at > $8
      and administrator.org_id = $2 and administrator.role = 'admin' and administrator.removed_at is null`,
  'service_accounts',
);
export const ownerAndToken = ownerAndMaker(
  `select maker.id, maker.allow_list, maker.successor_id from owner join personal_access_tokens maker on maker.owner_id = owner.id
    where maker.id = $12::uuid and maker.status = 'active' and (maker.expires_at is null or maker.expires_at > $8)
      and maker.scopes @> $5::text[]`,
);

/*
 * Inserts a token, its audit entry and the mails about it in one statement, so that none exists without the others. A token
 * that has been rotated creates none. The new token has the allow list of the creating token, or one that lies within it.
 */
const isAllowed = `($17::inet[] = '{}' or ${liesWithin('$17::inet[]', 'maker.allow_list')})`;
const insertBy = (
  locks: string,
  parentId: 'maker.id' | 'null',
  ownerColumn: 'owner_id' | 'service_account_id' = 'owner_id',
) => `
  with ${locks}, token as (
    insert into personal_access_tokens
      (id, org_id, ${ownerColumn}, name, scopes, token_hash, signing_key_id, created_at, expires_at, description, allow_list, parent_id)
    select $1, $2, $3, $4, $5, $6, $7, $8, $9, $16,
           case when $17::inet[] = '{}' then maker.allow_list else $17::inet[] end, ${parentId}
    from maker where maker.successor_id is null and ${isAllowed}
    returning id, org_id, name, scopes, expires_at, created_at
  ), entry as (
    insert into audit_entries
      (id, org_id, action, actor_id, credential_kind, credential_id, address, user_agent, subject_id, detail, created_at)
    select $10, org_id, 'token.created', $18::uuid, $11, $12::uuid, $13, $14, id,
           jsonb_build_object('name', name, 'scopes', array_to_string(scopes, ' '), 'expiresAt', $15::text), created_at
    from token
  ), ${insertAlertFrom({ mails: '$19', summaries: '$20', countKey: '$21' }, 'token')}
  select case when maker.successor_id is not null then 'rotated'
              when not ${isAllowed} then 'outside of the allow list' else 'created' end as outcome
  from maker`;

const insertBySession = insertBy(ownerAndSession, 'null');
const insertForAccount = insertBy(accountAndSession, 'null', 'service_account_id');
const insertByToken = insertBy(ownerAndToken, 'maker.id');

/** Why no token was created: the creating credential has ended, was rotated, or has an allow list that is exceeded. */
export type InsertOutcome = 'created' | 'ended' | 'rotated' | 'outside of the allow list';

/** @returns the prepared statement for the owner and the creating credential. A token makes none for a service account. */
function selectInsert({ isServiceAccount }: TokenOwner, maker: Caller): { name: string; text: string } {
  if (isServiceAccount) return { name: 'insert_token_for_account', text: insertForAccount };
  return maker.kind === 'pat'
    ? { name: 'insert_token_by_token', text: insertByToken }
    : { name: 'insert_token_by_session', text: insertBySession };
}

export async function insertToken(
  db: pg.Pool,
  token: NewToken,
  maker: Caller,
  { mails, summaries, countKey }: LimitedAlert,
): Promise<InsertOutcome> {
  const { rows } = await db.query<{ outcome: InsertOutcome }>({
    ...selectInsert(token.owner, maker),
    values: [
      token.id,
      token.orgId,
      token.owner.id,
      token.name,
      token.scopes,
      token.tokenHash,
      token.signingKeyId,
      token.createdAt,
      token.expiresAt,
      createAuditId(token.createdAt),
      maker.kind,
      maker.credentialId,
      maker.client.address,
      getUserAgent(maker.client),
      token.expiresAt?.toISOString() ?? null,
      token.description,
      token.allowList,
      maker.userId,
      mails,
      summaries,
      countKey,
    ],
  });
  return rows[0]?.outcome ?? 'ended';
}
