import type { Connector } from '@platform/events';
import type { RunMode } from '../../domain/run-state.js';
import type { ScheduleConfig } from '../../domain/schedule-config.js';

/** Describes the crawl that a task does. */
export interface TaskOrder {
  readonly runId: string;
  /** Counts from 1; a retry has the same `runId`. */
  readonly attempt: number;
  readonly orgId: string;
  readonly connector: Connector;
  /** Which of the organisation's connectors of this type. */
  readonly instance: string;
  readonly displayName: string | null;
  readonly userId: string;
  readonly scheduleConfig: ScheduleConfig;
  /** The schedule's priority, 1 to 10. It is passed on to the endpoint; the queue does not use it. */
  readonly priority: number;
  readonly metadata: Record<string, unknown>;
  /** The time that the run stands for, ISO 8601. */
  readonly scheduledFor: string;
  /** After a full crawl, what it has not seen counts as gone. */
  readonly mode: RunMode;
}

export interface TaskContext {
  /** Aborted on pause, removal, timeout and shutdown; the task then stops what it has started. */
  readonly signal: AbortSignal;
  /** The time at which the attempt times out, in ISO 8601. The time for which its endpoint is unavailable is added. */
  readonly deadline: string;
  /** The lease of the claim, with which the endpoint may report. */
  readonly lease: string;
  /** The id of the request that asked for the run; the run's own id when there was none. */
  readonly requestId: string;
  /** The endpoint has accepted the task. @param location - where the task can be cancelled, if it is remote. */
  accepted(location?: string): void;
  /** The endpoint has said that the task has ended, so that there is nothing to cancel. */
  ended(): void;
  /** Reports 0–100 of the task's own work. */
  progress(percent: number): void;
  /** The endpoint, which has the task, cannot be reached. @returns how long the attempt waits, in ms. */
  unavailable(reason: string): number;
  /** The endpoint can be reached again. */
  available(): void;
}

/**
 * Does the work of a run. Resolves when the crawl is complete, so that its sync event is published; rejects with the
 * reason when it failed. It may be called again for the same run.
 *
 * @throws {@link EndpointUnavailable} when the endpoint could not accept the task at present.
 */
export type Task = (order: TaskOrder, context: TaskContext) => Promise<void>;

/** The endpoint has neither refused nor accepted the task, so the attempt has not begun. */
export class EndpointUnavailable extends Error {
  override readonly name = 'EndpointUnavailable';
  /** @param retryAfterMs - the delay that the endpoint asks for, not limited. */
  constructor(
    message: string,
    readonly retryAfterMs?: number,
    options?: ErrorOptions,
    /** Undefined when the endpoint did not answer. */
    readonly status?: number,
  ) {
    super(message, options);
  }
}

/** Why a run is stopped from outside. */
export type StopReason = 'ended' | 'timeout' | 'unavailable' | 'shutdown';

export class RunStopped extends Error {
  override readonly name = 'RunStopped';
  constructor(
    readonly reason: StopReason,
    message = `run stopped: ${reason}`,
  ) {
    super(message);
  }
}

/** Does nothing, so that the sync event is published at once: its consumers do the crawling. */
export const eventTask: Task = (_order, context) => {
  context.accepted();
  return Promise.resolve();
};
