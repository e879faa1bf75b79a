import { systemClock } from '../clock.js';

/** The one date format of RFC 9110 §5.6.7 that senders still use. */
const HTTP_DATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Parses `Retry-After` (RFC 9110 §10.2.3): seconds, or a date that may have passed. The result is not limited.
 *
 * @param now - epoch ms; that of the machine unless a clock is injected.
 * @returns undefined when the header is missing or invalid.
 */
export function readRetryAfter(header: string | undefined, now = systemClock()): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000;
  const at = HTTP_DATE.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}
