import type { ClaimedRow } from '../db/claim-runs.js';

/** A run that this worker has claimed. */
export interface ClaimedRun {
  readonly run: ClaimedRow;
  /** Where the remote task of the attempt can be cancelled; undefined while there is none, or it has ended. */
  taskLocation: string | undefined;
}

export interface RunTimes {
  /** The time for which a run may go without a heartbeat. */
  readonly leaseMs: number;
  readonly retryDelayMs: number;
  readonly misfireGraceMs: number;
  /** The time for which an endpoint may be unavailable, in each attempt of a run, before the attempt fails. */
  readonly endpointGraceMs: number;
}
