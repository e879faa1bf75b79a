import type { InstanceKey } from './instance-key.js';
import type { RunWorker } from './run-worker.js';
import type { ScheduleConfig } from './schedule-config.js';

export type ScheduleState = 'active' | 'paused' | 'finished';

export interface Schedule extends InstanceKey {
  readonly id: string;
  readonly userId: string;
  readonly config: ScheduleConfig;
  readonly priority: number;
  readonly maxRetries: number;
  readonly timeoutMs: number;
  readonly metadata: Record<string, unknown> | null;
  readonly worker: RunWorker;
  /** The endpoint that crawls; null unless `worker` is `endpoint`. */
  readonly endpointId: string | null;
  readonly fullEveryDays: number | null;
  readonly state: ScheduleState;
  /** Increases with every change by a user. */
  readonly revision: number;
  readonly scheduledAt: Date;
  /** The time that an interval is counted from: when the times of the schedule last changed. */
  readonly anchorAt: Date;
  readonly pausedAt: Date | null;
  /** When it resumes by itself; null when it is not paused, or until somebody resumes it. */
  readonly pausedUntil: Date | null;
  readonly nextRunAt: Date | null;
  readonly missedRuns: number;
}
