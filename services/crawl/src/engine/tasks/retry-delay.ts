const MIN_DELAY_MS = 1_000;
const MAX_DELAY_MS = 15_000;

/**
 * Returns how long to wait before an unavailable endpoint is called again: as long as it asks for, otherwise half the
 * time for which it has been unavailable, within limits. What it asks for is not limited here: the caller does that.
 */
export function getRetryDelayMs(unavailableForMs: number, retryAfterMs: number | undefined): number {
  if (retryAfterMs !== undefined) return Math.max(MIN_DELAY_MS, retryAfterMs);
  return Math.min(MAX_DELAY_MS, Math.max(MIN_DELAY_MS, unavailableForMs / 2));
}
