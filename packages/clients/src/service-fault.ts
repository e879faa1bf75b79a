import { type FaultDetail, readErrorBody } from '@platform/service-kit/platform-response';

export type ServiceFaultKind =
  /** The service refused the request; nothing was done. */
  | 'refused'
  /** The service reported a failure; what it did is unknown. */
  | 'failed'
  /** Too many calls are in progress; the request was not sent. */
  | 'busy'
  /** The service cannot be reached; the request was not sent. */
  | 'unreachable'
  /** The service did not answer in time, or broke the connection; what it did is unknown. */
  | 'timeout'
  /** The service sent a response that cannot be understood; what it did is unknown. */
  | 'invalid_response'
  /** The caller aborted the call. */
  | 'aborted';

export interface ServiceFaultOptions {
  readonly kind: ServiceFaultKind;
  /** Name of the service. */
  readonly service: string;
  /** Public text; the service's own message when it sent one. */
  readonly message: string;
  /** HTTP status of a refusal or failure. */
  readonly status?: number;
  /** Machine-readable code of a refusal or failure. */
  readonly code?: string;
  /** What is wrong with each field. */
  readonly details?: readonly FaultDetail[];
  readonly cause?: unknown;
}

/** A call that did not succeed. Its message can be shown to the caller. */
export class ServiceFault extends Error {
  override readonly name = 'ServiceFault';
  readonly kind: ServiceFaultKind;
  readonly service: string;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly details: readonly FaultDetail[];

  constructor(options: ServiceFaultOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = options.kind;
    this.service = options.service;
    this.status = options.status;
    this.code = options.code;
    this.details = options.details ?? [];
  }
}

/** The codes of server errors which guarantee that nothing was done, each with a text that says so. */
const CERTAIN_CODES: ReadonlyMap<string | undefined, string> = new Map([
  ['SMTP_ERROR', 'it was not sent'],
  ['NOTHING_DONE', 'nothing was done'],
]);

/**
 * Returns what is known to be true of the outcome. Nothing was done after a client error. A server error, a 503 included, may
 * follow a change: a database that is lost during a commit does not report whether the commit succeeded.
 *
 * @param isRead - whether the operation changes nothing.
 * @returns a text to add to the message, when there is something to say.
 */
export function readOutcome(response: {
  readonly status: number;
  readonly code: string | undefined;
  readonly isRead: boolean;
}): { readonly isNothingDone: boolean; readonly text: string | undefined } {
  const { status, code, isRead } = response;
  const certain = CERTAIN_CODES.get(code);
  const isNothingDone = certain !== undefined || status < 500 || (isRead && status === 503);
  return {
    isNothingDone,
    text: certain ?? (isNothingDone || isRead ? undefined : 'whether it was done is unknown'),
  };
}

/**
 * Reads a refusal or failure in either form of the platform.
 *
 * @returns undefined when the body is neither.
 */
export function readFault(
  service: string,
  { status, body, isRead }: { readonly status: number; readonly body: unknown; readonly isRead: boolean },
): ServiceFault | undefined {
  const error = readErrorBody(body);
  if (!error) return undefined;
  const { message, code, details } = error;
  const { isNothingDone, text } = readOutcome({ status, code, isRead });
  return new ServiceFault({
    kind: isNothingDone ? 'refused' : 'failed',
    service,
    status,
    message: text === undefined ? message : `${message}; ${text}`,
    ...(code !== undefined && { code }),
    details,
  });
}
