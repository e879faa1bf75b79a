import type { Clock, Logger } from '@platform/service-kit';
import type pg from 'pg';
import { renewLeases } from './queries.js';

/** Why a run is stopped from outside. */
export type StopReason = 'ended' | 'timeout' | 'shutdown';

export class RunStopped extends Error {
  override readonly name = 'RunStopped';
  constructor(readonly reason: StopReason) {
    super(`run stopped: ${reason}`);
  }
}

interface ActiveRun {
  readonly abort: AbortController;
  readonly since: number;
}

export interface ActiveRuns {
  /** @returns the signal that tells the run to stop; its reason is a {@link RunStopped}. */
  add(runId: string): AbortController;
  remove(runId: string): void;
  stopAll(): void;
  start(): void;
  stop(): void;
}

const HEARTBEAT_MS = 1_000;
/** A run shorter than this never costs a heartbeat. */
const YOUNG_MS = 500;

/**
 * The runs in this process's hands. Once a second their leases are renewed, in one statement, and
 * those that were paused or removed meanwhile, through whichever replica, are told to stop.
 */
export function createActiveRuns(deps: {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly log: Pick<Logger, 'warn'>;
}): ActiveRuns {
  const { pool, clock, leaseMs, log } = deps;
  const runs = new Map<string, ActiveRun>();
  let timer: NodeJS.Timeout | undefined;
  let isBeating = false;

  async function beat(): Promise<void> {
    const ids = [...runs].filter(([, { since }]) => clock() - since >= YOUNG_MS).map(([id]) => id);
    if (ids.length === 0) return;
    const alive = new Set(await renewLeases(pool, ids, new Date(clock() + leaseMs)));
    for (const id of ids) if (!alive.has(id)) runs.get(id)?.abort.abort(new RunStopped('ended'));
  }

  function onTimer(): void {
    if (isBeating) return;
    isBeating = true;
    void beat()
      .catch((error: unknown) => {
        log.warn({ err: error }, 'leases of runs not renewed');
      })
      .finally(() => {
        isBeating = false;
      });
  }

  return {
    add(runId) {
      const abort = new AbortController();
      runs.set(runId, { abort, since: clock() });
      return abort;
    },
    remove: (runId) => void runs.delete(runId),
    stopAll() {
      for (const { abort } of runs.values()) abort.abort(new RunStopped('shutdown'));
    },
    start: () => void (timer = setInterval(onTimer, HEARTBEAT_MS)),
    stop: () => {
      clearInterval(timer);
    },
  };
}
