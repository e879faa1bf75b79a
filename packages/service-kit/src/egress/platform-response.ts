// The sub-path `platform-response`: how programs outside of the services read what the platform responds. It loads nothing
// of Node, since browsers load it, too.
import { backoffMs } from '../concurrency/backoff.js';
import type { FaultDetail } from '../errors.js';
import { readRetryAfter } from './retry-after.js';

export type { FaultDetail };
export { readRetryAfter };

/** What an error response says. */
export interface ErrorBody {
  readonly message: string;
  readonly code: string | undefined;
  readonly details: readonly FaultDetail[];
}

const toText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

/** Reads a fault such as `scheduleConfig.timezone: is not an IANA time zone`. */
function readTextDetail(text: string): FaultDetail {
  const [, field = '', message = text] = /^([\w.]+): (.+)$/s.exec(text) ?? [];
  return { field, message };
}

/** Reads the details of an error: identity and mail send a list, crawl sends one text. */
function readDetails(details: unknown): FaultDetail[] {
  if (typeof details === 'string') return details.split(/; (?=[\w.]+: )/).map(readTextDetail);
  if (!Array.isArray(details)) return [];
  return details.flatMap((detail: unknown) => {
    if (!isRecord(detail)) return [];
    const message = toText(detail['message']);
    return message === undefined ? [] : { field: toText(detail['field']) ?? '', message };
  });
}

/**
 * Reads the body of an error in any form of the platform: `{error: {code, message, details?}}`, or `{success: false, message,
 * error?: {code, details?}}`, or OAuth's `{error, error_description?}`.
 *
 * @returns undefined when it is none of them, as when a proxy has responded.
 */
export function readErrorBody(body: unknown): ErrorBody | undefined {
  if (!isRecord(body)) return undefined;
  const { error } = body;
  if (typeof error === 'string')
    return { message: toText(body['error_description']) ?? error, code: error, details: [] };
  const inner = isRecord(error) ? error : {};
  const message = toText(inner['message']) ?? toText(body['message']);
  if (message === undefined) return undefined;
  return { message, code: toText(inner['code']), details: readDetails(inner['details']) };
}

/** Says all that an error body does, in one line. */
function describeErrorBody({ message, details }: ErrorBody): string {
  const faults = details.map(({ field, message: fault }) => (field === '' ? fault : `${field} ${fault}`));
  return faults.length === 0 ? message : `${message} (${faults.join('; ')})`;
}

/** Parses JSON. @returns undefined for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** An error response of the platform, or of a proxy before it. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly status: number;
  /** How long to wait before the request is repeated; undefined when the response doesn't say. */
  readonly retryAfterMs: number | undefined;

  constructor({ status, statusText, headers }: Omit<Response, 'text'>, text: string) {
    const body = readErrorBody(parseJson(text));
    const reason = body ? describeErrorBody(body) : statusText;
    super(`The platform answered ${status}${reason === '' ? '' : `: ${reason}`}`);
    this.status = status;
    this.retryAfterMs = readRetryAfter(headers.get('retry-after') ?? undefined);
  }
}

/** Returns whether the same request may succeed later: the platform was unreachable, busy or faulty. */
export const isTransient = (error: unknown): boolean =>
  !(error instanceof RequestError) || error.status === 408 || error.status === 429 || error.status >= 500;

const BACK_OFF = { firstMs: 500, maxMs: 30_000 };
const MAX_RETRY_AFTER_MS = 60_000;

/** Returns how long to wait before a retry: as `Retry-After` says, up to a minute, and otherwise a back-off with jitter. */
export function toPauseMs(failures: number, retryAfterMs?: number): number {
  const backOff = backoffMs(failures, BACK_OFF);
  return retryAfterMs === undefined ? backOff : Math.min(MAX_RETRY_AFTER_MS, Math.max(retryAfterMs, backOff));
}
