import type { UserPrincipal } from '@platform/auth';
import { notFound } from '@platform/service-kit';
import type pg from 'pg';
import { type ActivityRow, findActivity } from './queries.js';
import type { ActivityQuery, ActivityResponse } from './schemas.js';

const toEntry = (row: ActivityRow): ActivityResponse['data'][number] => ({
  id: row.id,
  userId: row.user_id,
  tool: row.tool,
  outcome: row.outcome,
  durationMs: row.duration_ms,
  requestId: row.request_id,
  client: row.client,
  createdAt: row.created_at.toISOString(),
});

/**
 * Lists the calls made with a token, newest first; revoked and expired tokens included. Members see their own tokens,
 * administrators with a session every token of the organisation.
 *
 * @throws AppError 404, also for a token that the caller may not see.
 */
export async function listActivity(
  pool: pg.Pool,
  { orgId, userId, role, kind }: UserPrincipal,
  tokenId: string,
  { limit, cursor }: ActivityQuery,
): Promise<ActivityResponse> {
  const ownerId = role === 'admin' && kind === 'session' ? undefined : userId;
  // Fetch one more than requested to learn whether there is another page.
  const rows = await findActivity(pool, { tokenId, orgId, ownerId, after: cursor, limit: limit + 1 });
  if (!rows) throw notFound('Token not found');
  const data = rows.slice(0, limit).map(toEntry);
  return { data, nextCursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null };
}
