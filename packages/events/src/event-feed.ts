import type pg from 'pg';
import { decodeCursor, encodeCursor } from './cursor.js';
import { assignPositions } from './positions.js';
import type { SyncEvent } from './sync-event.js';

export interface EventFeedQuery {
  /** Only this organisation's events are read. */
  readonly orgId: string;
  /** The `nextCursor` of an earlier page; without it, from the oldest event that is kept. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface EventFeedPage {
  readonly data: SyncEvent[];
  /** Where to go on, now or later: also given on the last page. Null while there has been no event at all. */
  readonly nextCursor: string | null;
  /** Whether there is more at this moment. */
  readonly hasMore: boolean;
}

/**
 * A reader gives so many rows their position, whosesoever they are, and no more: the newest event is
 * read at once where nobody else does (see {@link createPositionAssigner}), and a backlog is nobody's wait.
 */
const MAX_POSITIONS = 100;

/**
 * Reads an organisation's events in the order in which they became visible. Whoever follows `nextCursor` sees every
 * event exactly once, whichever order the transactions that wrote them committed in. Works with and without a relay.
 *
 * @throws InvalidCursorError when `after` isn't a cursor.
 */
export async function readEvents(
  pool: Pick<pg.Pool, 'query'>,
  { orgId, after, limit }: EventFeedQuery,
): Promise<EventFeedPage> {
  const position = after === undefined ? '0' : decodeCursor(after);
  await assignPositions(pool, MAX_POSITIONS);
  const { rows } = await pool.query<{ event: SyncEvent; position: string }>({
    name: 'outbox-feed',
    text: `select event, position from sync_events.outbox
            where org_id = $1 and position > $2 order by position limit $3`,
    values: [orgId, position, limit + 1],
  });
  const page = rows.slice(0, limit);
  const last = page.at(-1)?.position;
  return {
    data: page.map(({ event }) => event),
    nextCursor: last === undefined ? (after ?? null) : encodeCursor(last),
    hasMore: rows.length > limit,
  };
}
