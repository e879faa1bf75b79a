import type { Run, RunParameters } from '../db/runs.js';

/** A run that this worker has claimed. */
export interface ClaimedRun {
  readonly run: Run;
  readonly schedule: RunParameters;
}

/**
 * A run that cannot be claimed before `deferredUntil` (epoch ms): another worker has claimed it, or it waits for the
 * previous run.
 */
export interface DeferredRun {
  readonly deferredUntil: number;
  readonly why: 'waits for the run before it' | 'is claimed by another worker';
}

export interface RunTimes {
  /** The time for which a run may go without a heartbeat. */
  readonly leaseMs: number;
  readonly retryDelayMs: number;
  readonly misfireGraceMs: number;
  /** The time for which an endpoint may be unavailable, in each attempt of a run, before the attempt fails. */
  readonly endpointGraceMs: number;
}

/**
 * A job has nothing to do: its run has ended (`void`), or its schedule has another revision or is not active
 * (`stale`).
 */
export type NoRun = 'void' | 'stale';
