import type pg from 'pg';
import type { InstanceKey } from '../domain/instance-key.js';
import { pruneRuns } from './runs.js';

/** The number of runs of each outcome that are kept for each instance of a connector. */
export const RUNS_KEPT = 200;
const PRUNE_EVERY = 16;

/**
 * Called for every run that is created or ends. It prunes at random, as a counter could always fall on the same
 * instance. It never rejects and is not awaited: what is not deleted now is deleted later.
 */
export function maybePruneRuns(pool: pg.Pool, key: InstanceKey): void {
  if (Math.random() * PRUNE_EVERY < 1) pruneRuns(pool, key, RUNS_KEPT).catch(() => undefined);
}
