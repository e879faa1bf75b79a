import type { Connector } from '@platform/events';
import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import { recordSighting } from '../../db/worker-sightings.js';

/** A worker asks every 30 s or more often, so this saves half of the writes at least. */
const PERIOD_MS = 60_000;
const MAX_REMEMBERED = 10_000;

/** Stores which connectors workers ask for, once a minute on each replica. */
export function createWorkerSightings({ pool, clock }: { readonly pool: pg.Pool; readonly clock: Clock }) {
  const seenAt = new Map<string, number>();
  return async (orgId: string, connectors: readonly Connector[]): Promise<void> => {
    const now = clock();
    const unseen = connectors.filter(
      (one) => now - (seenAt.get(`${orgId} ${one}`) ?? -Infinity) >= PERIOD_MS,
    );
    if (unseen.length === 0) return;
    if (seenAt.size > MAX_REMEMBERED) seenAt.clear();
    for (const one of unseen) seenAt.set(`${orgId} ${one}`, now);
    await recordSighting(pool, { orgId, connectors: unseen, at: new Date(now) });
  };
}
