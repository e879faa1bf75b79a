import type { Connector } from '@platform/events';
import type { Clock } from '@platform/service-kit';
import type pg from 'pg';
import type { Actor } from '../../domain/act.js';
import { ALL_INSTANCES, recordSightings, type Sighting } from '../../db/worker-sightings.js';

/** A worker asks every 30 s or more often, so this saves half of the writes at least. */
const PERIOD_MS = 60_000;
const MAX_REMEMBERED = 10_000;

/** Stores which connectors workers ask for, once a minute on each replica. */
export function createWorkerSightings({ pool, clock }: { readonly pool: pg.Pool; readonly clock: Clock }) {
  const seenAt = new Map<string, number>();
  const toKey = (id: string, { connector, instance }: Sighting) => `${id} ${connector} ${instance}`;
  return async (
    { orgId, worker, actor }: { readonly orgId: string; readonly worker: string; readonly actor: Actor },
    connectors: readonly Connector[],
    instances: readonly string[] = [ALL_INSTANCES],
  ): Promise<void> => {
    const now = clock();
    const { credential, actorId } = actor;
    // An application gets another access token every few minutes; its account stays.
    const id = credential.kind === 'oauth' ? actorId : credential.id;
    const seen = connectors
      .flatMap((connector) => instances.map((instance) => ({ connector, instance })))
      .filter((one) => now - (seenAt.get(toKey(id, one)) ?? -Infinity) >= PERIOD_MS);
    if (seen.length === 0) return;
    if (seenAt.size > MAX_REMEMBERED) seenAt.clear();
    await recordSightings(pool, {
      orgId,
      workerId: id,
      seen,
      act: { actor, at: new Date(now), detail: { worker } },
    });
    for (const one of seen) seenAt.set(toKey(id, one), now);
  };
}
