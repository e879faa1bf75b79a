import type { Connector } from '@platform/events';
import type { ScheduleConfig } from './schedule-config.js';

/** A removed schedule remains as a mark for the applier; no read returns it. */
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
  /** Increases with every write that invalidates earlier jobs. */
  readonly revision: number;
  readonly scheduledAt: Date;
  /** The time that an interval is counted from: when the times of the schedule last changed. */
  readonly anchorAt: Date;
  readonly pausedAt: Date | null;
  readonly nextRunAt: Date | null;
  readonly overdueSince: Date | null;
  readonly missedRuns: number;
}
