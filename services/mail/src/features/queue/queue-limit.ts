import { type Clock, dependencyUnavailable, notApplied, tooManyRequests } from '@platform/service-kit';
import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { measureQueueOf } from './queries.js';

/** A measurement is used this long, in which an organisation may exceed its limits a little. */
const MAX_AGE_MS = 1_000;
const RETRY_AFTER_S = 30;

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
  const measured = new LRUCache<string, { readonly at: number; left: number }>({ max: 10_000 });

  async function measure(orgId: string): Promise<{ readonly at: number; left: number }> {
    const use = await measureQueueOf(pool, orgId, maxMails).catch((error: unknown) => {
      throw notApplied(dependencyUnavailable('database', error));
    });
    const room = { at: clock(), left: use.bytes < maxBytes ? maxMails - use.mails : 0 };
    measured.set(orgId, room);
    return room;
  }

  /** @throws AppError 429 when the organisation has too many mails in the queue; 503 when the database can't be read. */
  return async (orgId: string): Promise<void> => {
    const last = measured.get(orgId);
    const room = last && clock() - last.at < MAX_AGE_MS ? last : await measure(orgId);
    if (room.left <= 0)
      throw tooManyRequests(RETRY_AFTER_S, 'Too many mails of this organisation are in the queue');
    room.left -= 1;
  };
}

export type CheckQueue = ReturnType<typeof createCheckQueue>;
