import type { Connector } from '@platform/events';
import type { ScheduleConfig } from '../../domain/schedule-config.js';

/** What a crawl is asked to do. */
export interface TaskOrder {
  readonly runId: string;
  /** From 1; a retry has the same `runId`. */
  readonly attempt: number;
  readonly orgId: string;
  readonly connector: Connector;
  readonly userId: string;
  readonly scheduleConfig: ScheduleConfig;
  /** Of the schedule, 1 to 10: for the endpoint to use; it orders no queue. */
  readonly priority: number;
  readonly metadata: Record<string, unknown>;
  /** The time that the run stands for, ISO 8601. */
  readonly scheduledFor: string;
}

export interface TaskContext {
  /** Aborted on pause, removal, timeout and shutdown: the task stops what it has begun. */
  readonly signal: AbortSignal;
  /** When the attempt will be given up, ISO 8601; later by the time for which its endpoint is away. */
  readonly deadline: string;
  /** Of the request that asked for the run; the run's own id where none did. */
  readonly requestId: string;
  /** The task service has the task. @param location - where the task can be cancelled, if it is remote. */
  accepted(location?: string): void;
  /** The task was cancelled at its location. */
  cancelled(): void;
  /** 0–100 of the task's own work. */
  progress(percent: number): void;
  /** Whether the task may be cancelled: it may not when another worker follows it. */
  mayCancel(): Promise<boolean>;
  /** The task service, which has the task, can't be asked about it for this reason. @returns how long the attempt waits, ms. */
  unavailable(reason: string): number;
  /** It can be asked again. */
  available(): void;
}

/**
 * What a run does. Resolves when the crawl is complete, so that its sync event goes out; rejects
 * with the reason when it failed. It may be called again for the same run.
 *
 * @throws {@link EndpointUnavailable} when the task service could not be given the task at present.
 */
export type Task = (order: TaskOrder, context: TaskContext) => Promise<void>;

/** Nobody has refused the task, and nobody has taken it: the attempt has not begun. */
export class EndpointUnavailable extends Error {
  override readonly name = 'EndpointUnavailable';
  /** @param retryAfterMs - what the service asks for, as it says it: unbounded. */
  constructor(
    message: string,
    readonly retryAfterMs?: number,
    options?: ErrorOptions,
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

/** Lets the sync event go out, and nothing else: its consumers do the crawling. */
export const builtInTask: Task = (_order, context) => {
  context.accepted();
  return Promise.resolve();
};
