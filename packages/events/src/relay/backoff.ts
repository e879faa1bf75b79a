/** Pauses double from 100 ms to 2 s, so that a recovery is noticed soon and retries stay cheap. */
const FIRST_MS = 100;
const LONGEST_MS = 2_000;

/**
 * Returns how long to wait after so many consecutive failures, at least 1. The upper half is random, so that replicas
 * which saw the same fault do not retry at the same moment.
 */
export function backoffMs(
  failures: number,
  longestMs = LONGEST_MS,
  random: () => number = Math.random,
): number {
  const full = Math.min(longestMs, FIRST_MS * 2 ** Math.min(failures - 1, 20));
  return full * (0.5 + random() / 2);
}
