import type pg from 'pg';
import type { Connector } from './connectors.js';
import { CursorGoneError, decodeCursor, encodeCursor, type FeedCursor } from './cursor.js';
import { expandFactTypes, type FactEvent } from './facts/event.js';
import { toInstanceEventKey } from './kafka-message.js';
import { assignPositions } from './positions.js';
import type { SyncEvent } from './sync-event.js';

/** A place in an organisation's feed, and how much of it is read. */
interface FeedQuery {
  /** Only this organisation's events are read. */
  readonly orgId: string;
  /** The `nextCursor` of an earlier page; without it, the feed begins with the oldest stored event. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface EventFeedQuery extends FeedQuery {
  /** Only events of these connectors; a page may then be empty and yet have more after it. */
  readonly connectors?: readonly Connector[] | undefined;
  /** Only events of this instance of the connectors. */
  readonly instance?: string | undefined;
}

export interface FactFeedQuery extends FeedQuery {
  /** Whether the page goes back from the newest fact. Its `nextCursor` leads on in this direction alone, and is null at the end. */
  readonly isNewestFirst?: boolean | undefined;
  /** Only facts of these types, as {@link expandFactTypes} understands them; a page may then be empty and yet have more after it. */
  readonly types?: readonly string[] | undefined;
  /** Only facts about these, in place of `types`: the first part of the action of an audit entry, or of another fact's type. */
  readonly subjects?: readonly string[] | undefined;
}

export interface FeedPage<E> {
  readonly data: E[];
  /**
   * The cursor from which to continue, now or later. The last page has one, too; it is null only while there has been
   * no event at all.
   */
  readonly nextCursor: string | null;
  /** Whether there are more events at this moment. */
  readonly hasMore: boolean;
}
export type EventFeedPage = FeedPage<SyncEvent>;

/**
 * The largest number of rows, of any organisation, to which a read assigns positions. The newest event is thus readable at
 * once where nothing else assigns them (see {@link createPositionAssigner}), and no reader waits for a backlog.
 */
const MAX_POSITIONS = 100;

/** The number of an organisation's events that one filtered read looks at, so that its cost doesn't grow with the outbox. */
const MAX_SEARCHED = 2_000;

/** One row of each of the two statements; without events there is one row with the head alone. */
interface FeedRow<E> {
  readonly epoch: string;
  readonly head: string;
  readonly deleted: string;
  readonly deletions: string;
  readonly event: E | null;
  readonly position: string | null;
  /** How many events were searched, and the position of the last one, by the filtered statement. */
  readonly searched?: number;
  readonly searchedTo?: string | null;
}

/** The directions in which a feed can be read: where a page begins without a cursor, and how it goes on. */
const directions = {
  forward: { name: '', start: '0', page: 'position > $2 order by position', last: 'max', order: '' },
  back: {
    name: '-newest',
    start: String(2n ** 63n - 1n),
    page: 'position < $2 order by position desc',
    last: 'min',
    order: ' desc',
  },
} as const;
type Direction = (typeof directions)[keyof typeof directions];

/* Head and events are of one snapshot: every event up to the head is visible, or has been deleted. */
const findAll = ({ name, page, order }: Direction, values: readonly unknown[]) => ({
  name: `outbox-feed${name}`,
  text: `select head.epoch, head.position as head, head.deleted, head.deletions, page.event, page.position
         from outbox.head left join lateral (
           select event, position from outbox.events
           where org_id = $1 and ${page} limit $3) page on true
         order by page.position${order}`,
  values: [...values],
});

/** A condition on an event; its first parameter is $5. */
interface FeedFilter {
  readonly name: string;
  readonly condition: string;
  readonly values: readonly unknown[];
}

/** Filters a bounded part of the organisation's events (EVT-9); the cursor leads on from there, also when none of them matched. */
const findMatching = (
  { name, condition, values }: FeedFilter,
  { name: suffix, page, last, order }: Direction,
  given: readonly unknown[],
) => ({
  name: `outbox-feed-${name}${suffix}`,
  text: `with searched as materialized (
           select event, event_key, position from outbox.events
           where org_id = $1 and ${page} limit $4
         )
         select head.epoch, head.position as head, head.deleted, head.deletions, total.searched, total."searchedTo",
           matching.event, matching.position
         from outbox.head,
           (select count(*)::int as searched, ${last}(position) as "searchedTo" from searched) total
           left join (select * from searched where ${condition} order by position${order} limit $3) matching on true
         order by matching.position${order}`,
  values: [...given, MAX_SEARCHED, ...values],
});

/**
 * Reads an organisation's events in the order in which they became visible. A reader that follows `nextCursor` sees every
 * event exactly once, in whichever order the writing transactions committed, or learns that it cannot. Works with and
 * without a relay.
 */
async function readFeed<E>(
  pool: Pick<pg.Pool, 'query'>,
  { orgId, after, limit }: FeedQuery,
  filter: FeedFilter | undefined,
  direction: Direction = directions.forward,
): Promise<FeedPage<E>> {
  const cursor = after === undefined ? undefined : decodeCursor(after);
  await assignPositions(pool, MAX_POSITIONS);
  const values = [orgId, cursor?.position ?? direction.start, limit + 1];
  const { rows } = await pool.query<FeedRow<E>>(
    filter === undefined ? findAll(direction, values) : findMatching(filter, direction, values),
  );
  const [first] = rows;
  if (!first) throw new Error('the outbox has no head');
  const { epoch, head, searched, searchedTo } = first;
  const isBack = direction === directions.back;
  if (cursor && !(isBack ? cursor.epoch === epoch : isAnswerable(cursor, first))) throw new CursorGoneError();
  const found = rows.flatMap(({ event, position }) =>
    event && position !== null ? [{ event, position }] : [],
  );
  const page = found.slice(0, limit);
  const isFull = found.length > limit;
  const isSearchedInPart = searched === MAX_SEARCHED;
  // Without more events the cursor moves on to the head, so that it stays ahead of what is deleted.
  const position = (isFull ? page.at(-1)?.position : isSearchedInPart ? searchedTo : undefined) ?? head;
  const hasMore = isFull || isSearchedInPart;
  return {
    data: page.map(({ event }) => event),
    nextCursor:
      head === '0' || (isBack && !hasMore)
        ? null
        : encodeCursor({ epoch, position, deletions: cursor?.deletions ?? first.deletions }),
    hasMore,
  };
}

/**
 * Reads an organisation's sync events, as {@link readFeed} does.
 *
 * @throws InvalidCursorError when `after` is not a cursor; CursorGoneError when events after it may be missing.
 */
export function readEvents(
  pool: Pick<pg.Pool, 'query'>,
  { connectors, instance, ...query }: EventFeedQuery,
): Promise<EventFeedPage> {
  const { orgId } = query;
  const filter = connectors && {
    name: 'of-connectors',
    condition: 'event_key = any($5::text[]) or event_key ^@ any($6::text[])',
    values: [
      connectors.map((connector) => toInstanceEventKey(orgId, connector, instance)),
      instance === undefined ? connectors.map((connector) => `${orgId}:${connector}:`) : [],
    ],
  };
  return readFeed<SyncEvent>(pool, query, filter);
}

/**
 * Reads an organisation's facts, as {@link readFeed} does.
 *
 * @throws InvalidCursorError when `after` is not a cursor; CursorGoneError when facts after it may be missing.
 */
export function readFacts(
  pool: Pick<pg.Pool, 'query'>,
  { types, subjects, isNewestFirst = false, ...query }: FactFeedQuery,
): Promise<FeedPage<FactEvent>> {
  const ofTypes = types && {
    name: 'of-types',
    condition: `event ->> 'type' = any($5::text[])`,
    values: [expandFactTypes(types)],
  };
  const aboutSubjects = subjects && {
    name: 'about',
    condition: `split_part(coalesce(event -> 'data' ->> 'action', event ->> 'type'), '.', 1) = any($5::text[])`,
    values: [[...subjects]],
  };
  return readFeed<FactEvent>(
    pool,
    query,
    aboutSubjects ?? ofTypes,
    isNewestFirst ? directions.back : directions.forward,
  );
}

/** A place in the feed from which a reader goes on. */
export interface FeedPlace extends FeedCursor {
  /** Whether events before it may be missing. */
  readonly isTruncated: boolean;
}

/**
 * Finds the place that a cursor names, or the oldest event that is kept when the feed cannot continue from it; without one, the
 * place of what happens from now on.
 *
 * @throws InvalidCursorError when `after` is not a cursor.
 */
export async function findFeedPlace(pool: Pick<pg.Pool, 'query'>, after?: string): Promise<FeedPlace> {
  const cursor = after === undefined ? undefined : decodeCursor(after);
  await assignPositions(pool, MAX_POSITIONS);
  const { rows } = await pool.query<Omit<FeedRow<unknown>, 'event' | 'position'>>({
    name: 'outbox-feed-place',
    text: 'select epoch, position as head, deleted, deletions from outbox.head',
  });
  const [row] = rows;
  if (!row) throw new Error('the outbox has no head');
  const { epoch, head, deleted, deletions } = row;
  if (!cursor) return { epoch, position: head, deletions, isTruncated: false };
  return isAnswerable(cursor, row)
    ? { ...cursor, isTruncated: false }
    : { epoch, position: deleted, deletions, isTruncated: true };
}

/*
 * Events are deleted by age, and with Kafka once they are published, so some may be left among deleted ones. Who
 * began to read after the last deletion misses none of the rest.
 */
const isAnswerable = (
  cursor: FeedCursor,
  { epoch, head, deleted, deletions }: Omit<FeedRow<unknown>, 'event' | 'position'>,
): boolean =>
  cursor.epoch === epoch &&
  (BigInt(cursor.position) >= BigInt(deleted) || cursor.deletions === deletions) &&
  BigInt(cursor.position) <= BigInt(head);

/** Makes all cursors of the feed invalid: its positions have started over, as after the database was restored. */
export const startFeedEpoch = (db: Pick<pg.ClientBase, 'query'>): Promise<unknown> =>
  db.query('update outbox.head set epoch = gen_random_uuid()');

/** Reads one event of the organisation; undefined when it has none with this id, or no longer. */
export async function findEvent<E = SyncEvent>(
  pool: Pick<pg.Pool, 'query'>,
  { orgId, eventId }: { readonly orgId: string; readonly eventId: string },
): Promise<E | undefined> {
  const { rows } = await pool.query<{ event: E }>({
    name: 'outbox-event',
    text: 'select event from outbox.events where event_id = $1 and org_id = $2',
    values: [eventId, orgId],
  });
  return rows[0]?.event;
}
