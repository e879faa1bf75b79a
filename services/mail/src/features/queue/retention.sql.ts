import type pg from 'pg';

/** The most rows that one statement changes, so that none takes long or holds many locks. */
export const UPKEEP_BATCH = 1_000;

/**
 * Deletes a batch of mails that failed or are unknown. Records of sent mails stay.
 *
 * @returns the number of mails that were deleted.
 */
export async function deleteUnsent(db: pg.Pool, createdBefore: Date): Promise<number> {
  const { rowCount } = await db.query(
    `delete from mails where id in (
       select id from mails where state in ('failed', 'unknown') and created_at < $1
       order by created_at limit ${UPKEEP_BATCH} for update skip locked)`,
    [createdBefore],
  );
  return rowCount ?? 0;
}

/**
 * Deletes a batch of the oldest mails. Ids are UUIDv7, so they are ordered by time.
 *
 * @param before - the smallest id that is kept.
 * @returns the number of mails that were deleted.
 */
export async function deleteOld(db: pg.Pool, before: string): Promise<number> {
  const { rowCount } = await db.query(
    `delete from mails where id in (
       select id from mails where id < $1 and state not in ('queued', 'sending')
       order by id limit ${UPKEEP_BATCH} for update skip locked)`,
    [before],
  );
  return rowCount ?? 0;
}

/** Deletes the contents of a batch of mails. Their records stay. @returns the number of mails. */
export async function expireContents(db: pg.Pool, createdBefore: Date): Promise<number> {
  const { rowCount } = await db.query(
    `update mails set sealed_content = null
     where id in (select id from mails where sealed_content is not null and created_at < $1
                  order by created_at limit ${UPKEEP_BATCH} for update skip locked)`,
    [createdBefore],
  );
  return rowCount ?? 0;
}

/**
 * Removes the keys of a batch of mails that have an outcome, so that they can be used again. The mails stay.
 *
 * @returns the number of mails.
 */
export async function expireKeys(db: pg.Pool, createdBefore: Date): Promise<number> {
  const { rowCount } = await db.query(
    `update mails set idempotency_key = null, request_digest = null
     where id in (select id from mails where idempotency_key is not null and created_at < $1
                    and state not in ('queued', 'sending')
                  order by created_at limit ${UPKEEP_BATCH})`,
    [createdBefore],
  );
  return rowCount ?? 0;
}
