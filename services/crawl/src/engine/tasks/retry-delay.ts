const MIN_DELAY_MS = 1_000;
const MAX_DELAY_MS = 15_000;

/**
 * How long to leave alone what is away: as long as it asks for, else half as long again as it has been away, within
 * limits. What it asks for is no limit of ours: the caller bounds it.
 */
export function getRetryDelayMs(unavailableForMs: number, retryAfterMs: number | undefined): number {
  if (retryAfterMs !== undefined) return Math.max(MIN_DELAY_MS, retryAfterMs);
  return Math.min(MAX_DELAY_MS, Math.max(MIN_DELAY_MS, unavailableForMs / 2));
}
