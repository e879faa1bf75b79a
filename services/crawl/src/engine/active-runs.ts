import { type Clock, createPeriodicTask, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import { type RunClaim, renewLeases } from '../db/claimed-runs.js';
import { RunStopped } from './tasks/task.js';

interface ActiveRun {
  readonly run: RunClaim;
  readonly since: number;
}

const HEARTBEAT_MS = 1_000;
/** A run shorter than this needs no heartbeat. */
const FIRST_HEARTBEAT_AFTER_MS = 500;

/**
 * Tracks the runs that this process has claimed. Once a second it renews their leases in one statement, and stops the
 * runs that were paused or removed in the meantime, through any replica.
 */
export function createActiveRuns(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly log: Pick<Logger, 'warn'>;
}) {
  const { pool, clock, leaseMs, log } = deps;
  // Keyed by delivery: if one run is here twice, each delivery has its own entry.
  const runs = new Map<AbortController, ActiveRun>();
  let isStopped = false;

  async function renewAll(): Promise<void> {
    const now = performance.now();
    const renewable = [...runs].filter(([, { since }]) => now - since >= FIRST_HEARTBEAT_AFTER_MS);
    if (renewable.length === 0) return;
    const held = renewable.map(([, { run }]) => run);
    const alive = await renewLeases(pool, held, new Date(clock() + leaseMs));
    for (const [abort, { run }] of renewable) if (!alive.has(run)) abort.abort(new RunStopped('ended'));
  }

  const heartbeat = createPeriodicTask({
    intervalMs: HEARTBEAT_MS,
    run: renewAll,
    onError: (error) => {
      log.warn({ err: error }, 'failed to renew the leases of runs');
    },
  });

  return {
    /** @returns the controller that stops the run; its reason is a {@link RunStopped}. */
    add(run: RunClaim): AbortController {
      const abort = new AbortController();
      runs.set(abort, { run, since: performance.now() });
      if (isStopped) abort.abort(new RunStopped('shutdown'));
      return abort;
    },
    remove: (abort: AbortController) => void runs.delete(abort),
    /** Whether the process shuts down, so that no run is to be claimed. */
    isStopped: () => isStopped,

    /** Stops all runs, including runs that are added later. */
    stopAll(): void {
      isStopped = true;
      for (const abort of runs.keys()) abort.abort(new RunStopped('shutdown'));
    },
    /** Renews the leases now. */
    renew: heartbeat.run,
    start: heartbeat.start,
    stop: () => void heartbeat.stop(),
  };
}

export type ActiveRuns = ReturnType<typeof createActiveRuns>;
