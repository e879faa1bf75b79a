import type { Connector } from '@platform/events';
import type { ScheduleConfig } from './schedule-config.js';

/** A removed one is a mark for the applier: no read returns it. */
export type ScheduleState = 'active' | 'paused' | 'finished' | 'removed';

export interface Schedule {
  readonly id: string;
  readonly orgId: string;
  readonly connector: Connector;
  readonly userId: string;
  readonly config: ScheduleConfig;
  readonly priority: number;
  readonly maxRetries: number;
  readonly timeoutMs: number;
  readonly metadata: Record<string, unknown> | null;
  readonly state: ScheduleState;
  /** Grows with every write that voids earlier jobs. */
  readonly revision: number;
  readonly scheduledAt: Date;
  /** What an interval is counted from: when the times of the schedule were last changed. */
  readonly anchorAt: Date;
  readonly pausedAt: Date | null;
  readonly nextRunAt: Date | null;
  readonly overdueSince: Date | null;
  readonly missedRuns: number;
}
