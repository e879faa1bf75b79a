export type ServiceFaultKind =
  /** The service answered, and refused: nothing was done. */
  | 'refused'
  /** The service answered that it failed: what it did is unknown. */
  | 'failed'
  /** Too many calls are under way: it was not asked. */
  | 'busy'
  /** It can't be reached: it was not asked. */
  | 'unreachable'
  /** It was asked and did not answer in time, or broke off: what it did is unknown. */
  | 'timeout'
  /** What it answered can't be understood: what it did is unknown. */
  | 'invalid_response'
  /** The caller gave the call up. */
  | 'aborted';

export interface ServiceFaultOptions {
  readonly kind: ServiceFaultKind;
  /** Name of the service. */
  readonly service: string;
  /** Public text: the service's own when it gave one. */
  readonly message: string;
  /** HTTP status of a refusal or failure. */
  readonly status?: number;
  /** Machine-readable code of a refusal or failure. */
  readonly code?: string;
  /** Which fields are wrong, in words. */
  readonly details?: string;
  readonly cause?: unknown;
}

/** A call that did not succeed. Its message can be shown to the caller. */
export class ServiceFault extends Error {
  override readonly name = 'ServiceFault';
  readonly kind: ServiceFaultKind;
  readonly service: string;
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly details: string | undefined;

  constructor(options: ServiceFaultOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.kind = options.kind;
    this.service = options.service;
    this.status = options.status;
    this.code = options.code;
    this.details = options.details;
  }
}

interface FaultBody {
  readonly message?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly details?: unknown };
}

const toText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Identity and mail list their faults, crawl writes them out. */
function toDetails(details: unknown): string | undefined {
  if (!Array.isArray(details)) return toText(details);
  const described = details
    .map((detail: { field?: unknown; message?: unknown } | null) =>
      [toText(detail?.field), toText(detail?.message)].filter(Boolean).join(' '),
    )
    .filter(Boolean)
    .join('; ');
  return described === '' ? undefined : described;
}

/** Server errors of which the services know that nothing was done, and what to say of them. */
const CERTAIN_CODES: ReadonlyMap<string | undefined, string> = new Map([
  ['SMTP_ERROR', 'it was not sent'],
  ['NOTHING_DONE', 'nothing was done'],
]);

/**
 * Nothing was done for a client's error. A server error may come after the change, 503 too: a database that is lost in
 * a commit doesn't tell whether it was made.
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
  const details = toDetails(error?.details);
  const certain = CERTAIN_CODES.get(code);
  const isRefused = certain !== undefined || isCertain(status, isRead);
  const outcome = certain ?? (isRefused || isRead ? undefined : 'whether it was done is unknown');
  return new ServiceFault({
    kind: isRefused ? 'refused' : 'failed',
    service,
    status,
    message: outcome === undefined ? message : `${message}; ${outcome}`,
    ...(code !== undefined && { code }),
    ...(details !== undefined && { details }),
  });
}
