import { type FaultDetail, validationError } from '@platform/service-kit';
import type pg from 'pg';
import { findChanges } from '../audit/changes.js';
import { auditIdPrefix, type Changes, insertAuditEntry } from '../audit/queries.js';
import { type Caller, getUserAgent, toActor } from '../base/caller/actor.js';
import { runInTransaction } from '../base/transaction.js';
import { isNarrower, MAX_RANGES, readAllowList } from '../credentials/allow-lists/ranges.js';
import { lockAdministration } from '../members/organisation/administration.js';
import type { TokenContext } from './context.js';
import { descendantsOutsideOfAllowList, tokenNotFound } from './errors.js';
import { lockTokenOwner, REVOKE_TIMEOUT_MS } from './revoke.js';
import type { EditedToken, EditTokenBody, TokenDetails } from './schemas.js';
import { findOwnToken, type TokenDetailsRow, type TokenOwner, toDetails, toState } from './token.js';

/* An edit can rename a token, and takes scopes and addresses from it. */

/** The fields of a token that an edit can change. */
interface EditableFields {
  readonly name: string;
  readonly description: string | null;
  readonly allowList: string[];
  readonly scopes: string[];
  readonly mutesNotices: boolean;
}

/** The fields that change. */
type TokenEdit = Partial<EditableFields> & { readonly isNarrowed?: true };

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

/** @throws AppError 400 for a scope or an address that the token lacks. */
function toEdit(
  token: EditableFields,
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

/** Returns the form in which the audit shows what an edit can change. */
const toAuditForm = ({ name, description, scopes, allowList, mutesNotices }: EditableFields) => ({
  name,
  description,
  scopes: scopes.join(' '),
  allowList: allowList.join(' '),
  noticesMuted: String(mutesNotices),
});
const auditFields = ['name', 'description', 'scopes', 'allowList', 'noticesMuted'] as const;

/** Returns what the audit shows of an edit. */
const findEditChanges = (before: EditableFields, edit: TokenEdit): Changes =>
  findChanges(toAuditForm(before), toAuditForm({ ...before, ...edit }), auditFields);

type EditableRow = Pick<
  TokenDetailsRow,
  | 'name'
  | 'description'
  | 'allow_list'
  | 'mutes_notices'
  | 'scopes'
  | 'expires_at'
  | 'status'
  | 'successor_id'
>;

const editable = `
  select name, description, allow_list, mutes_notices, scopes, expires_at, status::text, successor_id from personal_access_tokens
  where id = $1 and $2 in (owner_id, service_account_id) and org_id = $3 for update`;

/** Locks the owner's token against rotation, revocation, and creations by it. */
async function lockToken(
  client: pg.PoolClient,
  tokenId: string,
  ownerId: string,
  orgId: string,
): Promise<EditableRow | undefined> {
  const { rows } = await client.query<EditableRow>(editable, [tokenId, ownerId, orgId]);
  return rows[0];
}

const update = `
  update personal_access_tokens
  set name = $2, description = $3, allow_list = $4::text[]::inet[], scopes = $5, mutes_notices = $6, is_narrowed = is_narrowed or $7
  where id = $1`;

/** @param after - the fields of the token as they are from now on. */
const updateToken = (
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

/** A token that was narrowed, and its new limits. */
interface Narrowing {
  readonly tokenId: string;
  /** Undefined when the list stays as it is. */
  readonly allowList: readonly string[] | undefined;
  /** Undefined when the scopes stay as they are. */
  readonly scopes: readonly string[] | undefined;
  readonly caller: Caller;
  readonly at: Date;
}

interface NarrowedFamily {
  /** The number of tokens that were revoked because they had none of the scopes. */
  readonly revokedCount: number;
  /** The number of tokens that would be allowed from nowhere, or have too many ranges. */
  readonly excludedCount: number;
}

/*
 * The tokens that a revocation of the token `$1` would revoke, each with whether it is revoked now: it, or one above it, has
 * none of the scopes `$3`. The list `$2` and the scopes are null when they stay as they are.
 */
const family = `
  family as (
    select id, false as is_revoked from personal_access_tokens where id = $1::uuid
    union
    select member.id, family.is_revoked or not coalesce(member.scopes && $3::text[], true)
    from family cross join lateral (
      select id, scopes from personal_access_tokens where parent_id = family.id and status = 'active'
      union all
      select id, scopes from personal_access_tokens where successor_id = family.id and status = 'active'
    ) member
  ), member as materialized (
    select token.id, token.org_id, token.allow_list as old_list, token.scopes as old_scopes, is_revoked,
      case when $2::text[] is null then token.allow_list
           when token.allow_list = '{}' then $2::text[]::inet[]
           else array(
             select distinct case when own <<= given then own else given end
             from unnest(token.allow_list) own cross join unnest($2::text[]::inet[]) given
             where own <<= given or given <<= own
           ) end as new_list,
      case when $3::text[] is null then token.scopes
           else array(
             select scope from unnest(token.scopes) with ordinality as own (scope, position)
             where scope = any($3::text[]) order by position
           ) end as new_scopes
    from (select id, bool_or(is_revoked) as is_revoked from family group by id) one
      join personal_access_tokens token using (id)
    where token.id <> $1::uuid and (token.expires_at is null or token.expires_at > $5::timestamptz)
  ), change as materialized (
    select *, not (old_list <@ new_list and new_list <@ old_list) as is_list_narrowed, new_scopes <> old_scopes as is_scope_removed
    from member where not is_revoked
  )`;

const change = (field: string, from: string, to: string): string =>
  `jsonb_build_object('${field}', jsonb_build_object('from', array_to_string(${from}, ' '), 'to', array_to_string(${to}, ' ')))`;

const narrow = `
  with recursive ${family}, narrowed as (
    update personal_access_tokens token
    set allow_list = case when is_list_narrowed then new_list else token.allow_list end,
        scopes = new_scopes, is_narrowed = token.is_narrowed or is_scope_removed
    from change
    where token.id = change.id and (is_list_narrowed or is_scope_removed)
      and cardinality(new_list) <= ${MAX_RANGES} and (cardinality(new_list) > 0 or not is_list_narrowed)
    returning token.id, token.org_id, old_list, new_list, old_scopes, new_scopes, is_list_narrowed, is_scope_removed
  ), revoked as (
    update personal_access_tokens token
    set status = 'revoked', revoked_at = $5::timestamptz, revoked_by = $6::uuid, revoked_reason = 'narrowed'
    from member where token.id = member.id and member.is_revoked
    returning token.id, token.org_id
  ), entry as (
    select id, org_id, 'token.changed' as action, null as reason,
      jsonb_build_object('narrowedWith', $1::text) as detail,
      case when is_list_narrowed then ${change('allowList', 'old_list', 'new_list')} else '{}' end
        || case when is_scope_removed then ${change('scopes', 'old_scopes', 'new_scopes')} else '{}' end as changes
    from narrowed
    union all
    select id, org_id, 'token.revoked', 'narrowed', jsonb_build_object('revokedWith', $1::text), '{}' from revoked
  ), entries as (
    insert into audit_entries
      (id, org_id, action, actor_id, credential_kind, credential_id, address, user_agent, subject_id, reason, detail, changes, created_at)
    select ($4::text || substr(gen_random_uuid()::text, 16))::uuid, org_id, action, $6::uuid, $7, $8::uuid, $9, $10, id,
      reason, detail, changes, $5::timestamptz
    from entry
  )
  select (select count(*)::int from member where is_revoked) as "revokedCount",
    (select count(*)::int from change where is_list_narrowed and cardinality(new_list) not between 1 and ${MAX_RANGES}) as "excludedCount"`;

/**
 * Narrows the tokens that a revocation of this one would revoke, so that none is allowed from where this one isn't, or has a
 * scope that this one lacks. Those that would have no scope are revoked, with what they created. The audit has each. The
 * owner is locked by `lockTokenOwner`, which gives the statement as much time as a revocation has.
 */
async function narrowFamily(
  client: pg.PoolClient,
  { tokenId, allowList, scopes, caller, at }: Narrowing,
): Promise<NarrowedFamily> {
  const query: pg.QueryConfig & { query_timeout: number } = {
    text: narrow,
    values: [
      tokenId,
      allowList ?? null,
      scopes ?? null,
      auditIdPrefix(at),
      at.toISOString(),
      caller.userId,
      caller.kind,
      caller.credentialId,
      caller.client.address,
      getUserAgent(caller.client),
    ],
    query_timeout: REVOKE_TIMEOUT_MS,
  };
  const { rows } = await client.query<NarrowedFamily>(query);
  return rows[0] ?? { revokedCount: 0, excludedCount: 0 };
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

/** Returns a token of the owner in any state. @throws AppError 404. */
export async function getToken(
  { pool, clock }: TokenContext,
  { id: ownerId }: Pick<TokenOwner, 'id'>,
  tokenId: string,
): Promise<TokenDetails> {
  const row = await findOwnToken(pool, tokenId, ownerId);
  if (!row) throw tokenNotFound();
  return toDetails(row, clock());
}

/**
 * Changes an active token of the owner. Its scopes can only become fewer, which takes effect at once, for its descendants
 * too. For a service account, the caller is an administrator.
 *
 * @throws AppError 404; 403 ADMIN_REQUIRED; 400 for a scope that the token lacks, or for addresses outside of its allow
 *   list; 409 when a descendant would be allowed from nowhere.
 */
export async function editToken(
  ctx: TokenContext,
  caller: Caller,
  owner: TokenOwner,
  tokenId: string,
  body: EditTokenBody,
): Promise<EditedToken> {
  const now = ctx.clock();
  const at = new Date(now);
  const { orgId } = caller;
  const revokedCount = await runInTransaction(ctx.pool, async (client) => {
    if (owner.isServiceAccount) await lockAdministration(client, caller);
    if (body.allowList || body.scopes) await lockTokenOwner(client, tokenId, orgId);
    const token = await lockToken(client, tokenId, owner.id, orgId);
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
    const count = await narrowDescendants(client, caller, tokenId, edit, at);
    const actor = toActor(caller);
    await insertAuditEntry(client, {
      orgId,
      action: 'token.changed',
      actor,
      subjectId: tokenId,
      changes,
      at,
    });
    return count;
  });
  return { token: await getToken(ctx, owner, tokenId), revokedCount };
}
