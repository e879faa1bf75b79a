const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 15_000;

/**
 * How long to leave alone what is away: as long as it asks for, else half as long again as it has been away, within
 * limits. What it asks for is no limit of ours: the caller bounds it.
 */
export function pauseMs(awayForMs: number, retryAfterMs: number | undefined): number {
  if (retryAfterMs !== undefined) return Math.max(FIRST_PAUSE_MS, retryAfterMs);
  return Math.min(MAX_PAUSE_MS, Math.max(FIRST_PAUSE_MS, awayForMs / 2));
}
