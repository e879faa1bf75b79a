import {
  type ErrorBody,
  type FaultDetail,
  parseJson,
  readErrorBody,
  readRetryAfter,
} from '@platform/service-kit/platform-response';
import { classifyError, isTimeout } from './call-faults.js';
import { readOutcome } from './service-fault.js';

export type PlatformErrorKind =
  /** The platform refused the request (4xx): another one like it will be refused, too. */
  | 'refused'
  /** The platform asks to wait (429, 503); `retryAfterMs` says how long. */
  | 'busy'
  /** The platform, or a proxy before it, failed (5xx). */
  | 'failed'
  /** The platform can't be reached; the request was not sent. */
  | 'unreachable'
  /** The connection broke before the response was complete. */
  | 'disconnected'
  /** There was no complete response within `timeoutMs`. */
  | 'timeout'
  /** The response can't be understood. */
  | 'invalid_response'
  /** The caller aborted the call. */
  | 'aborted';

/** A response as it came. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** The call that an error is about. */
export interface FailedCall {
  readonly service: string;
  readonly operation: string;
  /** Whether it changes nothing. */
  readonly isRead: boolean;
}

interface PlatformErrorOptions extends Partial<ErrorBody> {
  readonly kind: PlatformErrorKind;
  readonly message: string;
  readonly isNothingDone: boolean;
  readonly response?: RawResponse;
  readonly cause?: unknown;
}

/** A call that did not succeed. Its message can be shown to the caller. */
export class PlatformError extends Error {
  override readonly name = 'PlatformError';
  readonly kind: PlatformErrorKind;
  /** `not_done`: the call changed nothing. `unknown`: it may have done what it was for. */
  readonly outcome: 'not_done' | 'unknown';
  /** Which service was called, and which of its operations. */
  readonly service: string;
  readonly operation: string;
  /** The status of the response, if there was one, whoever sent it. */
  readonly status: number | undefined;
  /** The platform's code of the error, such as `VALIDATION_ERROR`. */
  readonly code: string | undefined;
  /** What is wrong with each field of the request. */
  readonly details: readonly FaultDetail[];
  /** Names the request in the logs of the platform. */
  readonly requestId: string | undefined;
  /** How long the platform asks to wait before the call is repeated. */
  readonly retryAfterMs: number | undefined;
  readonly response: RawResponse | undefined;

  constructor({ service, operation }: FailedCall, options: PlatformErrorOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    const { response } = options;
    this.kind = options.kind;
    this.outcome = options.isNothingDone ? 'not_done' : 'unknown';
    this.service = service;
    this.operation = operation;
    this.status = response?.status;
    this.code = options.code;
    this.details = options.details ?? [];
    this.requestId = response?.headers.get('x-request-id') ?? undefined;
    this.retryAfterMs = readRetryAfter(response?.headers.get('retry-after') ?? undefined);
    this.response = response;
  }
}

const UNKNOWN = 'whether it was done is unknown';

/** Creates the error for a call without a complete response. */
export function toConnectionError(
  call: FailedCall,
  error: unknown,
  signal: AbortSignal | undefined,
): PlatformError {
  // Node's `fetch` wraps what the connection failed with.
  const cause = (error as Error).cause ?? error;
  const found = classifyError(cause, signal);
  const kind = found === 'timeout' && !isTimeout(cause) ? 'disconnected' : found;
  const isNothingDone = call.isRead || kind === 'unreachable';
  const texts: Readonly<Record<string, string>> = {
    unreachable: "can't be reached",
    disconnected: 'broke the connection before it answered',
    timeout: 'gave no answer in time',
    aborted: 'was not waited for',
  };
  const text = texts[kind] ?? "gave an answer that can't be understood";
  const message = `The ${call.service} service ${text}${isNothingDone ? '' : `; ${UNKNOWN}`}`;
  return new PlatformError(call, { kind, message, isNothingDone, cause });
}

/** Creates the error for a response that is no success of the operation. */
export function toResponseError(call: FailedCall, response: RawResponse): PlatformError {
  const { status } = response;
  const { isRead, service } = call;
  if (status < 400) {
    const message = `The ${service} service gave an answer that can't be understood (status ${status})`;
    return new PlatformError(call, { kind: 'invalid_response', message, isNothingDone: isRead, response });
  }
  const body = readErrorBody(parseJson(response.text));
  const { isNothingDone, text } = readOutcome({ status, code: body?.code, isRead });
  const message = body?.message ?? `The ${service} service, or a proxy before it, answered ${status}`;
  const isBusy = status === 429 || status === 503;
  return new PlatformError(call, {
    ...body,
    kind: isBusy ? 'busy' : status < 500 ? 'refused' : 'failed',
    message: text === undefined ? message : `${message}; ${text}`,
    isNothingDone: isNothingDone || isRead,
    response,
  });
}
