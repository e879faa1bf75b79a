import { isDatabaseUnavailable } from '../data/database.js';
import { AppError, asNothingDone, dependencyUnavailable, validationError } from '../errors.js';
import { describeFaults } from './validation.js';

interface FrameworkError extends Error {
  readonly code?: string;
  readonly statusCode?: number;
  readonly validation?: Parameters<typeof describeFaults>[0];
  readonly validationContext?: string;
}

const codeByStatus: Readonly<Record<number, readonly [code: string, message: string]>> = {
  400: ['BAD_REQUEST', 'Bad request'],
  404: ['NOT_FOUND', 'Not found'],
  405: ['METHOD_NOT_ALLOWED', 'Method not allowed'],
  408: ['REQUEST_TIMEOUT', 'Request timeout'],
  413: ['PAYLOAD_TOO_LARGE', 'Request body is too large'],
  414: ['URI_TOO_LONG', 'URI is too long'],
  415: ['UNSUPPORTED_MEDIA_TYPE', 'Unsupported media type: send application/json'],
  417: ['EXPECTATION_FAILED', 'Expectation failed'],
  431: ['HEADERS_TOO_LARGE', 'Request header fields are too large'],
};

/** Creates the public error for an HTTP status that the framework or the parser chose. */
export function toStatusError(status: number, headers?: Readonly<Record<string, string>>): AppError {
  const [code, message] = codeByStatus[status] ?? ['BAD_REQUEST', 'Bad request'];
  return new AppError({ status, code, message, ...(headers && { headers }) });
}

/** Creates the 400 for a body that is not JSON. */
export const invalidJson = (): AppError =>
  new AppError({ status: 400, code: 'INVALID_JSON', message: 'Request body is not valid JSON' });

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
  return error.statusCode === 503 ? asNothingDone(error) : error;
}
