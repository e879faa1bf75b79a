import { isDatabaseUnavailable } from '../data/database.js';
import { AppError, dependencyUnavailable, invalidJson, toStatusError, validationError } from '../errors.js';
import { describeFaults } from './validation.js';

interface FrameworkError extends Error {
  readonly code?: string;
  readonly statusCode?: number;
  readonly validation?: Parameters<typeof describeFaults>[0];
  readonly validationContext?: string;
}

/**
 * Converts whatever a handler threw to an {@link AppError}.
 *
 * @returns the error itself when it is an {@link AppError}; a 4xx for the framework's own
 *   refusals; 503 when the database is unavailable; otherwise a 500 without details.
 */
export function translateError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  const error = (thrown instanceof Error ? thrown : new Error(String(thrown))) as FrameworkError;
  if (error.validation)
    return validationError(describeFaults(error.validation, error.validationContext ?? 'body'));
  if (error.code === 'FST_ERR_CTP_INVALID_JSON_BODY') return invalidJson();
  const status = error.statusCode;
  if (status !== undefined && status >= 400 && status < 500) return toStatusError(status);
  if (isDatabaseUnavailable(thrown)) return dependencyUnavailable('database', thrown);
  return new AppError({
    status: 500,
    code: 'INTERNAL_ERROR',
    message: 'Internal server error',
    cause: thrown,
  });
}

/**
 * Gives a 503 the code `NOTHING_DONE`, which promises the caller that nothing was changed and a retry is safe. Use it
 * only where no change can have been made: any other 503 leaves that open, since a database can be lost in a commit.
 */
export function notApplied(thrown: unknown): AppError {
  const error = translateError(thrown);
  if (error.statusCode !== 503) return error;
  const { message, headers, cause } = error;
  return new AppError({ status: 503, code: 'NOTHING_DONE', message, cause, ...(headers && { headers }) });
}
