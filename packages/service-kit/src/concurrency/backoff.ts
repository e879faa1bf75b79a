const DEFAULT_FIRST_MS = 100;
const DEFAULT_MAX_MS = 2_000;
const MAX_DOUBLINGS = 20;

export interface BackoffOptions {
  readonly firstMs?: number;
  readonly maxMs?: number;
  readonly random?: () => number;
}

/**
 * Returns how long to wait after so many consecutive failures, at least 1. The pauses double up to `maxMs`; by default from
 * 100 ms to 2 s, so that a recovery is noticed soon and retries stay cheap. The upper half is random, so that replicas
 * which saw the same fault do not retry at the same moment.
 */
export function backoffMs(failures: number, options: BackoffOptions = {}): number {
  const { firstMs = DEFAULT_FIRST_MS, maxMs = DEFAULT_MAX_MS, random = Math.random } = options;
  const full = Math.min(maxMs, firstMs * 2 ** Math.min(failures - 1, MAX_DOUBLINGS));
  return full * (0.5 + random() / 2);
}
