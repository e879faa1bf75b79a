import type { UserPrincipal } from '@platform/auth';
import { notFound } from '@platform/service-kit';
import type pg from 'pg';
import { type ActivityRow, type CallsOf, findActivity, isSessionOf, isTokenOf } from './activity.sql.js';
import type { ActivityQuery, ActivityResponse, ToolCallEntry } from './schemas.js';

const toEntry = (row: ActivityRow): ToolCallEntry => ({
  id: row.id,
  userId: row.user_id,
  via: row.via,
  tool: row.tool,
  outcome: row.outcome,
  reason: row.reason,
  lacks: [...row.lacks],
  durationMs: row.duration_ms,
  requestId: row.request_id,
  address: row.address,
  client: row.client,
  credential: { kind: row.credential_kind, id: row.credential_id },
  clientId: row.client_id,
  createdAt: row.created_at.toISOString(),
});

/** Returns a page of calls and refusals, newest first. The caller has checked who may see them. */
export async function readActivity(
  pool: pg.Pool,
  of: CallsOf,
  { limit, cursor }: ActivityQuery,
): Promise<ActivityResponse> {
  // Fetch one more than requested to learn whether there is another page.
  const rows = await findActivity(pool, of, { after: cursor, limit: limit + 1 });
  const data = rows.slice(0, limit).map(toEntry);
  return { data, nextCursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null };
}

/**
 * Lists the calls made with a token, and what was refused to it, newest first; revoked and expired tokens included. Members see
 * their own tokens, administrators with a session every token of the organisation.
 *
 * @throws AppError 404, also for a token that the caller may not see.
 */
export async function listActivity(
  pool: pg.Pool,
  { orgId, userId, role, kind }: UserPrincipal,
  tokenId: string,
  query: ActivityQuery,
): Promise<ActivityResponse> {
  const ownerId = role === 'admin' && kind === 'session' ? undefined : userId;
  if (!(await isTokenOf(pool, tokenId, orgId, ownerId))) throw notFound('Token not found');
  return readActivity(pool, { credentialId: tokenId }, query);
}

/**
 * Lists what was refused in a session of a member, and the tools that were called in it, newest first. The caller is an
 * administrator.
 *
 * @throws AppError 404.
 */
export async function listSessionActivity(
  pool: pg.Pool,
  { orgId }: UserPrincipal,
  { id: userId, sessionId }: { readonly id: string; readonly sessionId: string },
  query: ActivityQuery,
): Promise<ActivityResponse> {
  if (!(await isSessionOf(pool, { sessionId, orgId, userId }))) throw notFound('Session not found');
  return readActivity(pool, { credentialId: sessionId }, query);
}
