import { type Clock, createPeriodicTask, HOUR_MS, type Logger } from '@platform/service-kit';
import type pg from 'pg';

export interface OutboxRetentionOptions {
  readonly pool: Pick<pg.Pool, 'query'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly clock: Clock;
  /** Events older than this are deleted. Default 14 days. */
  readonly retentionMs?: number;
  /** Whether unpublished events are kept however old they are. True with Kafka; without it, age alone decides. */
  readonly isPublishedOnly: boolean;
  /** Called with a position before events up to it are deleted, and none after it. */
  readonly beforeDeletion?: (last: string) => Promise<void>;
}

const RETENTION_MS = 14 * 24 * HOUR_MS;
const BATCH = 1_000;

/** Keeps the outbox from growing forever. It may run on every replica; they share the work. */
export function createOutboxRetention(options: OutboxRetentionOptions) {
  const { pool, clock, isPublishedOnly, retentionMs = RETENTION_MS, beforeDeletion } = options;
  let isStopping = false;

  async function sweep(): Promise<number> {
    const before = new Date(clock() - retentionMs);
    const last = await findLast(pool, before);
    if (last === undefined) return 0;
    await beforeDeletion?.(last);
    let total = 0;
    for (;;) {
      const deleted = await deleteBatch(pool, { before, last, isPublishedOnly });
      total += deleted;
      if (deleted < BATCH || isStopping) return total;
    }
  }
  const task = createPeriodicTask({
    intervalMs: HOUR_MS,
    run: sweep,
    onError: (error) => {
      options.log.warn({ err: error }, 'failed to delete old events; will retry');
    },
  });
  return {
    /** Deletes all expired events in batches, and returns how many. The timer of `start` calls it hourly. */
    sweep,
    start: task.start,
    stop: (): Promise<void> => {
      isStopping = true;
      return task.stop();
    },
  };
}

export type OutboxRetention = ReturnType<typeof createOutboxRetention>;

/** Returns the position of the newest expired event. An older one with a higher position is deleted by the next sweep. */
async function findLast(pool: Pick<pg.Pool, 'query'>, before: Date): Promise<string | undefined> {
  const { rows } = await pool.query<{ position: string }>({
    name: 'outbox-last-old',
    text: `select position from outbox.events where created_at < $1 and position is not null
            order by created_at desc, position desc limit 1`,
    values: [before],
  });
  return rows[0]?.position;
}

async function deleteBatch(
  pool: Pick<pg.Pool, 'query'>,
  of: { readonly before: Date; readonly last: string; readonly isPublishedOnly: boolean },
): Promise<number> {
  const { rowCount } = await pool.query({
    name: 'outbox-delete-old',
    text: `with deleted as (
             delete from outbox.events where event_id in (
               select event_id from outbox.events
                where created_at < $1 and position <= $4 and (published_at is not null or not $2)
                order by created_at limit $3 for update skip locked)
             returning position
           ), noted as (
             update outbox.head set deletions = deletions + 1,
               deleted = greatest(deleted, (select max(position) from deleted))
             where exists (select from deleted)
           )
           select from deleted`,
    values: [of.before, of.isPublishedOnly, BATCH, of.last],
  });
  return rowCount ?? 0;
}
