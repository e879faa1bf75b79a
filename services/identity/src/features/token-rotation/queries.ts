import type pg from 'pg';
import { type Caller, getUserAgent } from '../audit/actor.js';
import { createAuditId } from '../audit/queries.js';
import { ownerAndSession, ownerAndToken } from '../personal-access-tokens/insert.queries.js';

export interface Rotation {
  /** The token that is replaced. */
  readonly tokenId: string;
  readonly id: string;
  readonly tokenHash: string;
  readonly signingKeyId: string;
  /** The scopes that the new token is signed with. */
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
  /** When the replaced token ends; undefined for at once. */
  readonly graceEndsAt: Date | undefined;
  readonly at: Date;
}

/*
 * Replaces the token `$16` by a new one, with the audit entries, in one statement. The token's row is locked: of two
 * rotations at once, the second waits for the first and then finds no token without a successor.
 *
 * The new token takes the old one's place in its family. Predecessors that still work point to the new token, so that a
 * revocation finds them. With a grace (`$17`) the old token keeps its children until it ends; the expiry job then moves
 * them to the new token.
 */
const rotateBy = (locks: string) => `
  with ${locks}, old as materialized (
    select token.* from maker, owner join personal_access_tokens token on token.owner_id = owner.id
    where token.id = $16 and token.status = 'active' and (token.expires_at is null or token.expires_at > $8)
      and token.successor_id is null
    for no key update of token
  ), token as (
    insert into personal_access_tokens
      (id, org_id, owner_id, name, description, allow_list, scopes, is_narrowed, token_hash, signing_key_id, created_at, expires_at,
       parent_id)
    select $1::uuid, $2, $3, name, description, allow_list, scopes, scopes <> $5::text[], $6, $7, $8, $9, parent_id from old
    returning id
  ), retired as (
    update personal_access_tokens predecessor
    set successor_id = $1,
        expires_at = least(predecessor.expires_at, $17::timestamptz),
        status = case when $17 is null then 'revoked'::token_status else predecessor.status end,
        revoked_at = case when $17 is null then $8 end,
        revoked_by = case when $17 is null then $3::uuid end,
        revoked_reason = case when $17 is null then 'rotated' end
    from old where predecessor.id = old.id
  ), predecessors as (
    update personal_access_tokens predecessor set successor_id = $1
    from old where predecessor.successor_id = old.id and predecessor.status = 'active'
  ), children as (
    update personal_access_tokens child set parent_id = $1
    from old where child.parent_id = old.id and child.status = 'active' and $17 is null
  )
  insert into audit_entries
    (id, org_id, action, actor_id, credential_kind, credential_id, address, user_agent, subject_id, reason, detail, created_at)
  select entry.id, $2, entry.action, $3, $11, $12, $13, $14, entry.subject_id, entry.reason, entry.detail, $8
  from old, (values
    ($10::uuid, 'token.rotated', $16::uuid, null,
     jsonb_build_object('replacedBy', $1::text, 'graceEndsAt', $18::text)),
    ($4::uuid, 'token.created', $1, null,
     jsonb_build_object('replaces', $16::text, 'scopes', array_to_string($5::text[], ' '), 'expiresAt', $15::text)),
    ($19::uuid, 'token.revoked', $16, 'rotated', '{}'::jsonb)
  ) as entry (id, action, subject_id, reason, detail)
  where entry.action <> 'token.revoked' or $17 is null`;

const rotateBySession = rotateBy(ownerAndSession);
const rotateByToken = rotateBy(ownerAndToken);

/** @returns false when the token isn't active, has been rotated, or the caller's credential has ended. */
export async function rotateToken(db: pg.Pool, rotation: Rotation, by: Caller): Promise<boolean> {
  const { at, expiresAt, graceEndsAt } = rotation;
  const isByToken = by.kind === 'pat';
  const { rowCount } = await db.query({
    name: isByToken ? 'rotate_token_by_token' : 'rotate_token_by_session',
    text: isByToken ? rotateByToken : rotateBySession,
    values: [
      rotation.id,
      by.orgId,
      by.userId,
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
    ],
  });
  return (rowCount ?? 0) > 0;
}
