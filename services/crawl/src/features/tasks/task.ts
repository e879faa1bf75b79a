import type { Connector } from '@platform/events';
import type { ScheduleConfig } from '../schedules/schemas.js';

/** What a crawl is asked to do. */
export interface TaskOrder {
  readonly runId: string;
  /** From 1; a retry has the same `runId`. */
  readonly attempt: number;
  readonly orgId: string;
  readonly connector: Connector;
  readonly userId: string;
  readonly scheduleConfig: ScheduleConfig;
  readonly metadata: Record<string, unknown>;
  /** The time that the run stands for, ISO 8601. */
  readonly scheduledFor: string;
  /** When the attempt will be given up, ISO 8601. */
  readonly deadline: string;
}

export interface TaskContext {
  /** Aborted on pause, removal, timeout and shutdown: the task stops what it has begun. */
  readonly signal: AbortSignal;
  /** The task service has the task. */
  accepted(): void;
  /** 0–100 of the task's own work. */
  progress(percent: number): void;
}

/**
 * What a run does. Resolves when the crawl is complete, so that its sync event goes out; rejects
 * with the reason when it failed. It may be called again for the same run.
 */
export type Task = (order: TaskOrder, context: TaskContext) => Promise<void>;

/** Lets the sync event go out, and nothing else: its consumers do the crawling. */
export const builtInTask: Task = (_order, context) => {
  context.accepted();
  return Promise.resolve();
};
