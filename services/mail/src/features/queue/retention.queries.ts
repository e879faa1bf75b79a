import type pg from 'pg';

/**
 * Deletes up to a thousand mails that failed or are unknown. Records of sent mails stay.
 *
 * @returns the number of mails that were deleted.
 */
export async function deleteUnsent(db: pg.Pool, createdBefore: Date): Promise<number> {
  const { rowCount } = await db.query(
    `delete from mails where id in (
       select id from mails where state in ('failed', 'unknown') and created_at < $1
       order by created_at limit 1000 for update skip locked)`,
    [createdBefore],
  );
  return rowCount ?? 0;
}

/**
 * Deletes up to a thousand of the oldest mails. Ids are UUIDv7, so they are ordered by time.
 *
 * @param before - the smallest id that is kept.
 * @returns the number of mails that were deleted.
 */
export async function deleteOld(db: pg.Pool, before: string): Promise<number> {
  const { rowCount } = await db.query(
    `delete from mails where id in (
       select id from mails where id < $1 and state not in ('queued', 'sending') order by id limit 1000 for update skip locked)`,
    [before],
  );
  return rowCount ?? 0;
}

/** Deletes the contents of up to a thousand mails. Their records stay. */
export async function expireContents(db: pg.Pool, createdBefore: Date): Promise<void> {
  await db.query(
    `update mails set sealed_content = null
     where id in (select id from mails where sealed_content is not null and created_at < $1
                  order by created_at limit 1000 for update skip locked)`,
    [createdBefore],
  );
}

/** Removes the keys of up to a thousand mails that have an outcome, so that they can be used again. The mails stay. */
export async function expireKeys(db: pg.Pool, createdBefore: Date): Promise<void> {
  await db.query(
    `update mails set idempotency_key = null, request_digest = null
     where id in (select id from mails where idempotency_key is not null and created_at < $1
                    and state not in ('queued', 'sending')
                  order by created_at limit 1000)`,
    [createdBefore],
  );
}
