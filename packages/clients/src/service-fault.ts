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

/** A problem with one field of a request. */
export interface FaultDetail {
  /** Its path, such as `scheduleConfig.hour`; empty when it is none of one field. */
  readonly field: string;
  readonly message: string;
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

interface FaultBody {
  readonly message?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly details?: unknown };
}

const toText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Reads a fault such as `scheduleConfig.timezone: is not an IANA time zone`. */
function readTextDetail(text: string): FaultDetail {
  const [, field = '', message = text] = /^([\w.]+): (.+)$/s.exec(text) ?? [];
  return { field, message };
}

/** Reads the details of an error: identity and mail send a list, crawl sends one text. */
function readDetails(details: unknown): FaultDetail[] {
  if (typeof details === 'string') return details.split(/; (?=[\w.]+: )/).map(readTextDetail);
  if (!Array.isArray(details)) return [];
  return (details as ({ readonly field?: unknown; readonly message?: unknown } | null)[]).flatMap(
    (detail) => {
      const message = toText(detail?.message);
      return message === undefined ? [] : { field: toText(detail?.field) ?? '', message };
    },
  );
}

/** The codes of server errors which guarantee that nothing was done, each with a text that says so. */
const CERTAIN_CODES: ReadonlyMap<string | undefined, string> = new Map([
  ['SMTP_ERROR', 'it was not sent'],
  ['NOTHING_DONE', 'nothing was done'],
]);

/**
 * Returns whether nothing was done. That holds for client errors. A server error, a 503 included, may follow a change: a
 * database that is lost during a commit does not report whether the commit succeeded.
 */
const isCertain = (status: number, isRead: boolean): boolean => status < 500 || (isRead && status === 503);

/**
 * Reads a refusal or failure in either shape of the platform: `{error: {code, message, details?}}`, or
 * `{success: false, message, error?: {code, details?}}`.
 *
 * @param isRead - whether the operation changes nothing.
 * @returns undefined when the body is neither.
 */
export function readFault(
  service: string,
  { status, body, isRead }: { readonly status: number; readonly body: unknown; readonly isRead: boolean },
): ServiceFault | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { message: ownMessage, error } = body as FaultBody;
  const message = toText(error?.message) ?? toText(ownMessage);
  if (message === undefined) return undefined;
  const code = toText(error?.code);
  const certain = CERTAIN_CODES.get(code);
  const isRefused = certain !== undefined || isCertain(status, isRead);
  const outcome = certain ?? (isRefused || isRead ? undefined : 'whether it was done is unknown');
  return new ServiceFault({
    kind: isRefused ? 'refused' : 'failed',
    service,
    status,
    message: outcome === undefined ? message : `${message}; ${outcome}`,
    ...(code !== undefined && { code }),
    details: readDetails(error?.details),
  });
}
