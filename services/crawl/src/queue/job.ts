import type { Connector } from '@platform/events';
import type { Job } from 'bullmq';

/**
 * The data of a job: ids of rows, never their content, so that the row is read when the job is claimed. That also
 * keeps metadata out of the queue, whose backends differ in the text that they can store.
 */
export interface CrawlJobData {
  readonly orgId: string;
  readonly connector: Connector;
  readonly runId: string;
  /** How often the run had been claimed when the job was added: the job of an earlier claim does nothing. */
  readonly claimCount: number;
  /** The trace of the request that asked for the run, if it is traced. */
  readonly traceparent?: string;
}

export type CrawlJob = Pick<Job<CrawlJobData>, 'id' | 'data' | 'opts'>;

/** Returns the id of the job that delivers a run once more. Adding it twice is adding it once. */
export const toJobId = (run: { readonly id: string; readonly claimCount: number }): string =>
  `run-${run.id}-${run.claimCount}`;
