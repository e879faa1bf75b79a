import type { Connector } from '@platform/events';
import { AppError, type FaultDetail, translateError, validationError } from '@platform/service-kit';

/* The exact messages of CRAWL-9, CRAWL-10 and CRAWL-18. */

const refused = (code: string, message: string): AppError => new AppError({ status: 400, code, message });

export const invalidSchedule = (faults: readonly FaultDetail[]): AppError =>
  validationError(faults, 'Invalid schedule configuration');
export const unknownConnector = (): AppError =>
  validationError(
    [{ field: 'connector', message: 'is not one of the connectors of this platform' }],
    'Unknown connector',
  );
export const disabledJob = (): AppError => refused('JOB_DISABLED', 'Cannot schedule a disabled job');
export const timeNotInFuture = (): AppError =>
  refused('TIME_NOT_IN_FUTURE', 'Scheduled time must be in the future');
export const nothingToPause = (): AppError => refused('NO_ACTIVE_JOB', 'No active job found to pause');
export const alreadyPaused = (): AppError => refused('ALREADY_PAUSED', 'Job is already paused');
export const nothingToResume = (): AppError => refused('NO_PAUSED_JOB', 'No paused job found to resume');

/** Why one schedule of several was not removed. */
export interface RemovalFault {
  readonly connector: Connector;
  readonly error: unknown;
}

/** Names the connectors that are left, each with its reason. */
export function notAllRemoved(faults: readonly RemovalFault[]): AppError {
  const left = faults.map(({ connector, error }) => ({ connector, reason: translateError(error) }));
  const details = left.map(({ connector, reason }) => ({ field: connector, message: reason.message }));
  const cause = new AggregateError(faults.map(({ error }) => error));
  return left.every(({ reason }) => reason.statusCode === 503)
    ? new AppError({
        status: 503,
        code: 'NOT_ALL_REMOVED',
        message: 'Not all jobs could be removed: try again',
        headers: { 'retry-after': '1' },
        details,
        cause,
      })
    : new AppError({ status: 500, code: 'INTERNAL_ERROR', message: 'Internal server error', details, cause });
}
