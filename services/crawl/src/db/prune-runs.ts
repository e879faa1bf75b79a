import type pg from 'pg';
import { pruneRuns } from './runs.js';

/** Of each connector of an organisation the table keeps so many runs, and as many skipped ticks. */
const RUNS_KEPT = 200;
const PRUNE_EVERY = 16;

/**
 * Called for every run that is added to a history or ends. By chance, not by count: a count may
 * fall upon the same connector each time. Never rejects, and is not waited for: what isn't deleted
 * now is later.
 */
export function maybePruneRuns(pool: pg.Pool, orgId: string, connector: string): void {
  if (Math.random() * PRUNE_EVERY < 1) pruneRuns(pool, orgId, connector, RUNS_KEPT).catch(() => undefined);
}
