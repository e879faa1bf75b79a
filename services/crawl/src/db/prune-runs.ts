import type pg from 'pg';
import { pruneRuns } from './runs.js';

/** The number of runs, and of skipped ticks, that are kept for each connector of an organisation. */
const RUNS_KEPT = 200;
const PRUNE_EVERY = 16;

/**
 * Called for every run that is created or ends. It prunes at random, as a counter could always fall on the same
 * connector. It never rejects and is not awaited: what is not deleted now is deleted later.
 */
export function maybePruneRuns(pool: pg.Pool, orgId: string, connector: string): void {
  if (Math.random() * PRUNE_EVERY < 1) pruneRuns(pool, orgId, connector, RUNS_KEPT).catch(() => undefined);
}
