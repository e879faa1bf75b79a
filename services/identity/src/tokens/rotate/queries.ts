import type pg from 'pg';
import { runInTransaction } from '../../base/transaction.js';
import { liesWithin } from '../../credentials/allow-lists/queries.js';
import { type Caller, getUserAgent } from '../../base/caller/actor.js';
import { createAuditId } from '../../audit/queries.js';
import {
  accountAndSession,
  ownerAndSession,
  ownerAndToken,
  type TokenOwner,
} from '../create/insert.queries.js';

export interface Rotation {
  readonly owner: TokenOwner;
  /** The token that is replaced. */
  readonly tokenId: string;
  readonly id: string;
  readonly tokenHash: string;
  readonly signingKeyId: string;
  /** The scopes that the new token is signed with. */
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
  /** The time at which the replaced token ends; undefined for at once. */
  readonly graceEndsAt: Date | undefined;
  readonly at: Date;
}

/*
 * The lock on the owner's row serialises rotations with creations and revocations, so that the next statement sees every
 * child that was created before it.
 */
const lockOwner = (owners: 'users' | 'service_accounts') =>
  `select from ${owners} where id = $1 and org_id = $2 for no key update`;

/*
 * The tokens whose revocation would revoke the token `$16`: itself, its ancestors and their successors. A token rotates
 * only its descendants, so that whoever stole it can't leave its family, and only those within its allow list.
 */
const isOwnFamily = `${liesWithin('target.allow_list', 'maker.allow_list')} and exists (
      with recursive lineage as (
        select id, parent_id, successor_id from personal_access_tokens where id = $16
        union
        select above.id, above.parent_id, above.successor_id
        from lineage cross join lateral unnest(array[lineage.parent_id, lineage.successor_id]) as link (id)
          join personal_access_tokens above on above.id = link.id
      ) select from lineage where lineage.id = maker.id)`;

/*
 * Replaces the token `$16` by a new one, with the audit entries, in one statement. The token's row is locked: of two
 * rotations at once, the second waits for the first and then finds no token without a successor. A token that was rotated
 * itself rotates none.
 *
 * The new token takes the old one's place in its family. Predecessors that still work point to the new token, so that a
 * revocation finds them. With a grace (`$17`) the old token keeps its children until it ends; the expiry job then moves
 * them to the new token.
 */
const rotateBy = (
  locks: string,
  isPermitted: string,
  ownerColumn: 'owner_id' | 'service_account_id' = 'owner_id',
) => `
  with ${locks}, target as materialized (
    select token.* from maker, owner join personal_access_tokens token on token.${ownerColumn} = owner.id
    where token.id = $16 and token.status = 'active' and (token.expires_at is null or token.expires_at > $8)
      and token.successor_id is null
    for no key update of token
  ), verdict as materialized (
    select case when maker.successor_id is not null then 'caller rotated'
                when target.id is null then 'not active'
                when not (${isPermitted}) then 'not permitted' else 'rotated' end as outcome
    from maker left join target on true
  ), old as materialized (
    select target.* from target, verdict where outcome = 'rotated'
  ), token as (
    insert into personal_access_tokens
      (id, org_id, ${ownerColumn}, name, description, allow_list, mutes_notices, scopes, is_narrowed, token_hash, signing_key_id, created_at, expires_at,
       parent_id)
    select $1::uuid, $2, $3, name, description, allow_list, mutes_notices, scopes, scopes <> $5::text[], $6, $7, $8, $9, parent_id from old
    returning id
  ), retired as (
    update personal_access_tokens predecessor
    set successor_id = $1,
        expires_at = least(predecessor.expires_at, $17::timestamptz),
        status = case when $17 is null then 'revoked'::token_status else predecessor.status end,
        revoked_at = case when $17 is null then $8 end,
        revoked_by = case when $17 is null then $20::uuid end,
        revoked_reason = case when $17 is null then 'rotated' end
    from old where predecessor.id = old.id
  ), predecessors as (
    update personal_access_tokens predecessor set successor_id = $1
    from old where predecessor.successor_id = old.id and predecessor.status = 'active'
  ), children as (
    update personal_access_tokens child set parent_id = $1
    from old where child.parent_id = old.id and child.status = 'active' and $17 is null
  ), entries as (
    insert into audit_entries
      (id, org_id, action, actor_id, credential_kind, credential_id, address, user_agent, subject_id, reason, detail, created_at)
    select entry.id, $2, entry.action, $20, $11, $12, $13, $14, entry.subject_id, entry.reason, entry.detail, $8
    from old, (values
      ($10::uuid, 'token.rotated', $16::uuid, null,
       jsonb_build_object('replacedBy', $1::text, 'graceEndsAt', $18::text)),
      ($4::uuid, 'token.created', $1, null,
       jsonb_build_object('replaces', $16::text, 'scopes', array_to_string($5::text[], ' '), 'expiresAt', $15::text)),
      ($19::uuid, 'token.revoked', $16, 'rotated', '{}'::jsonb)
    ) as entry (id, action, subject_id, reason, detail)
    where entry.action <> 'token.revoked' or $17 is null
  )
  select outcome from verdict`;

const rotateBySession = rotateBy(ownerAndSession, 'true');
const rotateForAccount = rotateBy(accountAndSession, 'true', 'service_account_id');
const rotateByToken = rotateBy(ownerAndToken, isOwnFamily);

/** Why a token wasn't rotated: the caller's credential has ended or was rotated, or the token is none that it may rotate. */
export type RotationOutcome = 'rotated' | 'ended' | 'caller rotated' | 'not active' | 'not permitted';

/** @returns the prepared statement for the owner and the credential. A token rotates none of a service account. */
function selectRotate({ isServiceAccount }: TokenOwner, by: Caller): { name: string; text: string } {
  if (isServiceAccount) return { name: 'rotate_token_for_account', text: rotateForAccount };
  return by.kind === 'pat'
    ? { name: 'rotate_token_by_token', text: rotateByToken }
    : { name: 'rotate_token_by_session', text: rotateBySession };
}

export async function rotateToken(pool: pg.Pool, rotation: Rotation, by: Caller): Promise<RotationOutcome> {
  const { at, expiresAt, graceEndsAt, owner } = rotation;
  const query = {
    ...selectRotate(owner, by),
    values: [
      rotation.id,
      by.orgId,
      owner.id,
      createAuditId(at),
      rotation.scopes,
      rotation.tokenHash,
      rotation.signingKeyId,
      at,
      expiresAt,
      createAuditId(at),
      by.kind,
      by.credentialId,
      by.client.address,
      getUserAgent(by.client),
      expiresAt?.toISOString() ?? null,
      rotation.tokenId,
      graceEndsAt ?? null,
      graceEndsAt?.toISOString() ?? null,
      createAuditId(at),
      by.userId,
    ],
  };
  return runInTransaction(pool, async (client) => {
    await client.query(lockOwner(owner.isServiceAccount ? 'service_accounts' : 'users'), [
      owner.id,
      by.orgId,
    ]);
    const { rows } = await client.query<{ outcome: RotationOutcome }>(query);
    return rows[0]?.outcome ?? 'ended';
  });
}
