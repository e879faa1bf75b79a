import type { Connector } from '@platform/events';
import type { Job, JobSchedulerJobOptions } from 'bullmq';
import { toJobKey } from '../domain/connectors.js';
import { parsePattern, type Recurrence } from '../domain/recurrence.js';

/**
 * The data of a job: ids of rows, never their content, so that the row is read when the job is claimed. That also
 * keeps metadata out of the queue, whose backends differ in the text that they can store.
 *
 *   tick  created by the schedule's job scheduler, once per time
 *   once  the one job of a one-off schedule
 *   run   a run that exists already: requested, missed, or recovered from a crashed worker
 */
export type CrawlJobData = {
  readonly orgId: string;
  readonly connector: Connector;
  /** The trace of the request that asked for the job, if it is traced; a tick's trace begins with its run. */
  readonly traceparent?: string;
} & (
  | { readonly kind: 'tick'; readonly scheduleId: string; readonly revision: number }
  | { readonly kind: 'once'; readonly scheduleId: string; readonly revision: number; readonly at: number }
  | { readonly kind: 'run'; readonly runId: string }
);

export type CrawlJob = Pick<Job<CrawlJobData>, 'id' | 'data' | 'attemptsMade' | 'moveToDelayed'> & {
  readonly opts: JobSchedulerJobOptions;
};

/**
 * Returns the key of the job scheduler that belongs to one revision of a schedule. Each revision has its own, so that
 * a command for one revision never changes another's, however late the queue executes it.
 */
export const toSchedulerKey = (schedule: {
  readonly connector: Connector;
  readonly orgId: string;
  readonly revision: number;
}): string => `${toJobKey(schedule.connector, schedule.orgId)}-${schedule.revision}`;

export const toTickJobId = (schedulerId: string, at: number): string => `repeat:${schedulerId}:${at}`;
export const toOnceJobId = (scheduleId: string, revision: number): string => `once-${scheduleId}-${revision}`;
export const toRunJobId = (runId: string, recoveries: number): string => `run-${runId}-${recoveries}`;

/** Returns the key of the job scheduler that made a tick: the part between BullMQ's prefix and the time. */
export const parseSchedulerKey = (jobId: string): string =>
  jobId.slice(jobId.indexOf(':') + 1, jobId.lastIndexOf(':'));

/** Returns the time that a tick stands for, epoch ms: BullMQ appends it to the id. */
export function parseTickTime(jobId: string): number {
  return Number(jobId.slice(jobId.lastIndexOf(':') + 1));
}

/** Returns the recurrence of the tick's scheduler; undefined for a job that no scheduler made. */
export function parseTickRecurrence({ opts }: CrawlJob): Recurrence | undefined {
  const { pattern, tz } = opts.repeat ?? {};
  return pattern === undefined ? undefined : parsePattern(pattern, tz);
}

/** A run that any free worker can claim. */
export interface RunJob {
  readonly runId: string;
  readonly orgId: string;
  readonly connector: Connector;
  readonly recoveries: number;
  readonly attemptsLeft: number;
}
