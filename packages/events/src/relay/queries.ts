import type pg from 'pg';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** An event that is not published yet. */
export interface PendingEvent {
  readonly event_id: string;
  readonly event_key: string;
  /** The event's JSON, exactly as stored. */
  readonly event: string;
  /** A bigint, as text. */
  readonly position: string;
  /** W3C Trace Context of the operation that caused the event. */
  readonly traceparent: string | null;
}

/** An arbitrary number that nothing else in the database uses; session locks are per database. */
const LEADER_LOCK = `hashtextextended('outbox.relay', 0)`;

/** The channel that notifies the leader of commits on other replicas. */
export const COMMITTED_CHANNEL = 'outbox_committed';
/** The channel that notifies the other replicas that no relay leads. */
export const FREE_CHANNEL = 'outbox_free';

/** Tries to acquire the session lock, which ends with its connection. */
export async function tryLead(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ leads: boolean }>(`select pg_try_advisory_lock(${LEADER_LOCK}) as leads`);
  return rows[0]?.leads === true;
}

/** Releases the lock and notifies the others, which would otherwise notice only at their next attempt. */
export async function yieldLead(db: Queryable): Promise<void> {
  await db.query(`select pg_advisory_unlock(${LEADER_LOCK}), pg_notify('${FREE_CHANNEL}', '')`);
}

export async function notifyCommitted(db: Queryable): Promise<void> {
  await db.query(`select pg_notify('${COMMITTED_CHANNEL}', '')`);
}

/** Reads the pending events after a position, in order, after assigning positions to new events. */
export async function readPending(db: Queryable, after: bigint, limit: number): Promise<PendingEvent[]> {
  await db.query({
    name: 'relay-assign-positions',
    text: 'select outbox.assign_positions($1)',
    values: [limit * 2],
  });
  const { rows } = await db.query<PendingEvent>({
    name: 'relay-read-pending',
    text: `select event_id, event_key, event::text as event, position, traceparent from outbox.events
            where published_at is null and position > $1 order by position limit $2`,
    values: [after, limit],
  });
  return rows;
}

/** The columns that decide whether a pending event must wait. */
export async function readPendingKeys(
  db: Queryable,
  after: bigint,
  limit: number,
): Promise<Pick<PendingEvent, 'position' | 'event_key'>[]> {
  const { rows } = await db.query<Pick<PendingEvent, 'position' | 'event_key'>>({
    name: 'relay-read-pending-keys',
    text: `select position, event_key from outbox.events
            where published_at is null and position > $1 order by position limit $2`,
    values: [after, limit],
  });
  return rows;
}

/** @returns how long each event was pending, in seconds. */
export async function markPublished(db: Queryable, eventIds: readonly string[]): Promise<number[]> {
  const { rows } = await db.query<{ delay: number }>({
    name: 'relay-mark-published',
    text: `update outbox.events set published_at = clock_timestamp()
            where event_id = any($1::uuid[]) and published_at is null
            returning greatest(0, extract(epoch from published_at - created_at))::float8 as delay`,
    values: [eventIds],
  });
  return rows.map(({ delay }) => delay);
}

/** Pending events are counted only up to this number, because counting costs time. */
const MAX_DEPTH = 10_000;

export interface OutboxDepth {
  /** At most 10,000. */
  readonly pending: number;
  readonly oldestAgeSeconds: number;
}

/** Reads an index that holds pending events only. */
export async function readDepth(db: Queryable): Promise<OutboxDepth> {
  const { rows } = await db.query<{ pending: number; age: number }>({
    name: 'relay-depth',
    text: `select count(*)::int as pending,
                  coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0)::float8 as age
             from (select created_at from outbox.events
                    where published_at is null order by position, seq limit $1) as oldest`,
    values: [MAX_DEPTH],
  });
  return { pending: rows[0]?.pending ?? 0, oldestAgeSeconds: Math.max(0, rows[0]?.age ?? 0) };
}
