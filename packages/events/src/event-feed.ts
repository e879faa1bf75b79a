import type pg from 'pg';
import type { Connector } from './connectors.js';
import { decodeCursor, encodeCursor } from './cursor.js';
import { toInstanceEventKey } from './kafka-message.js';
import { assignPositions } from './positions.js';
import type { SyncEvent } from './sync-event.js';

export interface EventFeedQuery {
  /** Only this organisation's events are read. */
  readonly orgId: string;
  /** The `nextCursor` of an earlier page; without it, the feed begins with the oldest stored event. */
  readonly after?: string | undefined;
  /** Only events of this connector; a page may then be empty and yet have more after it. */
  readonly connector?: Connector | undefined;
  /** Only events of this instance of the connector. */
  readonly instance?: string | undefined;
  readonly limit: number;
}

export interface EventFeedPage {
  readonly data: SyncEvent[];
  /**
   * The cursor from which to continue, now or later. The last page has one, too; it is null only while there has been
   * no event at all.
   */
  readonly nextCursor: string | null;
  /** Whether there are more events at this moment. */
  readonly hasMore: boolean;
}

/**
 * The largest number of rows, of any organisation, to which a read assigns positions. The newest event is thus readable at
 * once where nothing else assigns them (see {@link createPositionAssigner}), and no reader waits for a backlog.
 */
const MAX_POSITIONS = 100;

/**
 * Reads an organisation's events in the order in which they became visible. A reader that follows `nextCursor` sees every
 * event exactly once, in whichever order the writing transactions committed. Works with and without a relay.
 *
 * @throws InvalidCursorError when `after` is not a cursor.
 */
export async function readEvents(
  pool: Pick<pg.Pool, 'query'>,
  { orgId, after, connector, instance, limit }: EventFeedQuery,
): Promise<EventFeedPage> {
  const position = after === undefined ? '0' : decodeCursor(after);
  await assignPositions(pool, MAX_POSITIONS);
  if (connector !== undefined)
    return readConnectorEvents(pool, { orgId, connector, instance, position, after, limit });
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

/** The number of an organisation's events that one filtered read looks at, so that its cost doesn't grow with the outbox. */
const MAX_SEARCHED = 2_000;

interface ConnectorQuery {
  readonly orgId: string;
  readonly connector: Connector;
  readonly instance: string | undefined;
  readonly position: string;
  readonly after: string | undefined;
  readonly limit: number;
}

/** Filters a bounded part of the organisation's events (EVT-9); the cursor leads on from there, also when none of them matched. */
async function readConnectorEvents(
  pool: Pick<pg.Pool, 'query'>,
  { orgId, connector, instance, position, after, limit }: ConnectorQuery,
): Promise<EventFeedPage> {
  const allInstances = instance === undefined ? `${orgId}:${connector}:` : null;
  const { rows: found } = await pool.query<{
    event: SyncEvent | null;
    position: string | null;
    searched: number;
    searchedTo: string | null;
  }>({
    name: 'outbox-feed-of-connector',
    text: `with searched as materialized (
             select event, event_key, position from sync_events.outbox
             where org_id = $1 and position > $2 order by position limit $4
           )
           select total.searched, total."searchedTo", matching.event, matching.position
           from (select count(*)::int as searched, max(position) as "searchedTo" from searched) total
             left join (select * from searched where event_key = $3 or starts_with(event_key, $6::text) order by position limit $5) matching on true
           order by matching.position`,
    values: [
      orgId,
      position,
      toInstanceEventKey(orgId, connector, instance),
      MAX_SEARCHED,
      limit + 1,
      allInstances,
    ],
  });
  const matching = found.flatMap((row) =>
    row.event !== null && row.position !== null ? [{ event: row.event, position: row.position }] : [],
  );
  const [{ searched, searchedTo } = { searched: 0, searchedTo: null }] = found;
  const page = matching.slice(0, limit);
  const isFull = matching.length > limit;
  const last = isFull ? page.at(-1)?.position : (searchedTo ?? undefined);
  return {
    data: page.map(({ event }) => event),
    nextCursor: last === undefined ? (after ?? null) : encodeCursor(last),
    hasMore: isFull || searched === MAX_SEARCHED,
  };
}

/** Reads one event of the organisation; undefined when it has none with this id, or no longer. */
export async function findEvent(
  pool: Pick<pg.Pool, 'query'>,
  { orgId, eventId }: { readonly orgId: string; readonly eventId: string },
): Promise<SyncEvent | undefined> {
  const { rows } = await pool.query<{ event: SyncEvent }>({
    name: 'outbox-event',
    text: 'select event from sync_events.outbox where event_id = $1 and org_id = $2',
    values: [eventId, orgId],
  });
  return rows[0]?.event;
}
