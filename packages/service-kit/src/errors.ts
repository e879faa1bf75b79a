/** One fault of the caller's input: the field, and the form that it must have. */
export interface FaultDetail {
  readonly field: string;
  readonly message: string;
}

export interface AppErrorOptions {
  /** HTTP status. */
  readonly status: number;
  /** Machine-readable code, upper snake case. */
  readonly code: string;
  /** Public text, which never contains a secret or another organisation's data. */
  readonly message: string;
  readonly details?: readonly FaultDetail[];
  readonly headers?: Readonly<Record<string, string>>;
  /** The internal cause, which is logged and never sent. */
  readonly cause?: unknown;
  /** Whether the error is created once and thrown many times; its body is then rendered once, too. */
  readonly isReused?: boolean;
}

/**
 * The one error type that leaves a feature. An error handler of the
 * service's error format renders it; anything else that reaches the handler is a 500.
 */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly statusCode: number;
  readonly code: string;
  readonly details: readonly FaultDetail[] | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly isReused: boolean;

  constructor(options: AppErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.statusCode = options.status;
    this.code = options.code;
    this.details = options.details;
    this.headers = options.headers;
    this.isReused = options.isReused ?? false;
  }
}

/** Creates a 400 with one entry per fault of the body, query or path. */
export const validationError = (details: readonly FaultDetail[], message = 'Invalid request'): AppError =>
  new AppError({ status: 400, code: 'VALIDATION_ERROR', message, details });

/** Creates a 404, which is the same for a missing thing and for one of another organisation. */
export const notFound = (message: string): AppError =>
  new AppError({ status: 404, code: 'NOT_FOUND', message });

export const conflict = (code: string, message: string): AppError =>
  new AppError({ status: 409, code, message });

/** Creates a 429. `retryAfterSeconds` is rounded up to whole seconds (RFC 9110 §10.2.3). */
export const tooManyRequests = (retryAfterSeconds: number, message = 'Too many requests'): AppError =>
  new AppError({
    status: 429,
    code: 'RATE_LIMITED',
    message,
    headers: { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))) },
  });

/** Creates a 503 for a dependency that did not answer; its name is only logged. */
export const dependencyUnavailable = (dependency: string, cause?: unknown): AppError =>
  new AppError({
    status: 503,
    code: 'SERVICE_UNAVAILABLE',
    message: 'Service temporarily unavailable',
    headers: { 'retry-after': '1' },
    cause: new Error(`${dependency} is unavailable`, { cause }),
  });

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
