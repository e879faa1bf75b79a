/** Doubles from 100 ms to 2 s: a dependency that comes back is noticed soon, and asking one that is away is cheap. */
const FIRST_MS = 100;
const LONGEST_MS = 2_000;

/**
 * How long to wait after so many failures in a row, from 1. The upper half is random, so that replicas which saw
 * the same fault don't come back together.
 */
export function backoffMs(
  failures: number,
  longestMs = LONGEST_MS,
  random: () => number = Math.random,
): number {
  const full = Math.min(longestMs, FIRST_MS * 2 ** Math.min(failures - 1, 20));
  return full * (0.5 + random() / 2);
}
