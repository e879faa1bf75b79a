import { type Clock, createPeriodicTask, type Logger } from '@platform/service-kit';
import type pg from 'pg';
import { type RunClaim, renewLeases } from '../db/claimed-runs.js';
import { RunStopped } from './tasks/task.js';

interface ActiveRun {
  readonly run: RunClaim;
  readonly since: number;
}

export interface ActiveRuns {
  /** @returns the signal that tells the run to stop; its reason is a {@link RunStopped}. */
  add(run: RunClaim): AbortController;
  remove(abort: AbortController): void;
  /** Also stops what is added from then on. */
  stopAll(): void;
  start(): void;
  stop(): void;
}

const HEARTBEAT_MS = 1_000;
/** A run shorter than this never costs a heartbeat. */
const FIRST_HEARTBEAT_AFTER_MS = 500;

/**
 * The runs that this process has claimed. Once a second their leases are renewed, in one statement, and
 * those that were paused or removed meanwhile, through whichever replica, are told to stop.
 */
export function createActiveRuns(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly log: Pick<Logger, 'warn'>;
}): ActiveRuns {
  const { pool, clock, leaseMs, log } = deps;
  // By delivery: should one run be here twice, each has its own.
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
      log.warn({ err: error }, 'leases of runs not renewed');
    },
  });

  return {
    add(run) {
      const abort = new AbortController();
      runs.set(abort, { run, since: performance.now() });
      if (isStopped) abort.abort(new RunStopped('shutdown'));
      return abort;
    },
    remove: (abort) => void runs.delete(abort),
    stopAll() {
      isStopped = true;
      for (const abort of runs.keys()) abort.abort(new RunStopped('shutdown'));
    },
    start: heartbeat.start,
    stop: () => void heartbeat.stop(),
  };
}
