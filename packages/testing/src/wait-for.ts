import { setTimeout as delay } from 'node:timers/promises';

/** Options of {@link waitFor}. */
export interface WaitOptions {
  /** What is waited for; completes the sentence "… did not happen". */
  readonly what: string;
  /** Default 5,000. */
  readonly timeoutMs?: number;
  /** Pause between two questions. Default 20. */
  readonly intervalMs?: number;
}

/**
 * Asks until the answer is truthy, and returns it. A question that throws counts as "not yet"; the last error
 * is the cause of the failure in the end.
 */
export async function waitFor<Answer>(
  condition: () => Answer | Promise<Answer>,
  { what, timeoutMs = 5_000, intervalMs = 20 }: WaitOptions,
): Promise<Exclude<Answer, false | null | undefined | 0 | ''>> {
  const deadline = performance.now() + timeoutMs;
  let cause: unknown;
  do {
    try {
      const answer = await condition();
      if (answer) return answer as Exclude<Answer, false | null | undefined | 0 | ''>;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await delay(intervalMs);
  } while (performance.now() < deadline);
  throw new Error(`${what} did not happen within ${timeoutMs} ms`, { cause });
}
