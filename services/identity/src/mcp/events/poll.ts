import {
  CursorGoneError,
  encodeCursor,
  findFeedPlace,
  InvalidCursorError,
  readFacts,
} from '@platform/events';
import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import { invalidParams } from './errors.js';
import type { EventCaller } from './event-caller.js';
import type { EventArguments, EventType } from './event-types.js';
import { type Occurrence, toOccurrences } from './occurrences.js';

const DEFAULT_EVENTS = 50;
const MAX_EVENTS = 100;
const POLL_MS = 5_000;

export interface PolledEvents {
  readonly events: readonly Occurrence[];
  readonly cursor: string | null;
  readonly hasMore: boolean;
  readonly nextPollMs: number;
  /** Whether events before these may be missing. */
  readonly truncated: boolean;
}

/** Reads a page; from the oldest fact that there is, when the feed cannot continue from the cursor. */
async function readPage(pool: pg.Pool, query: Parameters<typeof readFacts>[1]) {
  try {
    return { ...(await readFacts(pool, query)), truncated: false };
  } catch (error) {
    if (error instanceof InvalidCursorError) throw invalidParams('cursor is none of this server');
    if (!(error instanceof CursorGoneError)) throw error;
    return { ...(await readFacts(pool, { ...query, after: undefined })), truncated: true };
  }
}

/** Returns the events since the cursor; without one, none and where to begin. */
export async function pollEvents(
  { pool, clock }: { readonly pool: pg.Pool; readonly clock: Clock },
  followed: { readonly type: EventType; readonly args: EventArguments; readonly caller: EventCaller },
  {
    cursor: after,
    maxEvents = DEFAULT_EVENTS,
    maxAgeMs,
  }: {
    readonly cursor?: string | undefined;
    readonly maxEvents?: number | undefined;
    readonly maxAgeMs?: number | undefined;
  },
): Promise<PolledEvents> {
  const nextPollMs = POLL_MS;
  if (after === undefined) {
    const cursor = encodeCursor(await findFeedPlace(pool));
    return { events: [], cursor, hasMore: false, nextPollMs, truncated: false };
  }
  const page = await readPage(pool, {
    orgId: followed.caller.principal.orgId,
    after,
    limit: Math.min(maxEvents, MAX_EVENTS),
    types: followed.type.factTypes,
  });
  const found = await toOccurrences(pool, followed, page.data);
  const oldest = maxAgeMs === undefined ? 0 : clock() - maxAgeMs;
  return {
    events: found.filter(
      (event) => event !== undefined && Date.parse(event.timestamp) >= oldest,
    ) as Occurrence[],
    cursor: page.nextCursor,
    hasMore: page.hasMore,
    nextPollMs,
    truncated: page.truncated,
  };
}
