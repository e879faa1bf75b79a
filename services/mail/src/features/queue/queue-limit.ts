import { type Clock, dependencyUnavailable, notApplied, tooManyRequests } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { measureQueueOf } from './queue.sql.js';

/** A measurement is used this long, in which an organisation may exceed its limits a little. */
const MAX_AGE_MS = 1_000;
const RETRY_AFTER_S = 30;

/** How many mails still fit into the queue. */
interface Room {
  left: number;
}

/**
 * Limits what the mails of one organisation take of the queue, so that one script cannot fill the database. Codes and
 * notices of the platform are not counted.
 */
export function createCheckQueue(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly maxMails: number;
  readonly maxBytes: number;
}) {
  const { pool, clock, maxMails, maxBytes } = deps;
  /** Holds promises, so that a burst of mails is measured once. */
  const measured = new LRUCache<string, { readonly at: number; readonly room: Promise<Room> }>({
    max: 10_000,
  });

  function measure(orgId: string): Promise<Room> {
    const room = measureQueueOf(pool, orgId, maxMails).then(
      (use) => ({ left: use.bytes < maxBytes ? maxMails - use.mails : 0 }),
      (error: unknown) => {
        measured.delete(orgId);
        throw notApplied(dependencyUnavailable('database', error));
      },
    );
    measured.set(orgId, { at: clock(), room });
    return room;
  }

  /** @throws AppError 429 when the organisation has too many mails in the queue; 503 when the database can't be read. */
  return async (orgId: string): Promise<void> => {
    const last = measured.get(orgId);
    const room = await (last && clock() - last.at < MAX_AGE_MS ? last.room : measure(orgId));
    if (room.left <= 0)
      throw tooManyRequests(RETRY_AFTER_S, 'Too many mails of this organisation are in the queue');
    room.left -= 1;
  };
}

export type CheckQueue = ReturnType<typeof createCheckQueue>;
