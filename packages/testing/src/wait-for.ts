import { setTimeout as delay } from 'node:timers/promises';

/** Options of {@link waitFor}. */
export interface WaitOptions {
  /** What is waited for; completes the sentence "… did not happen". */
  readonly what: string;
  /** Ends a hang, and measures nothing: a busy machine has {@link PATIENCE_MS} in any case. */
  readonly timeoutMs?: number;
  /** Pause between two questions. Default: 20 at first, and up to 100 in a long wait. */
  readonly intervalMs?: number;
}

/** Questions cost the machine that is waited for, so the pause is a part of what has been waited so far. */
const pauseAfter = (waitedMs: number): number => Math.min(Math.max(waitedMs / 10, 20), 100);

/** No state takes this long on a machine that does anything at all. */
const PATIENCE_MS = 60_000;

/**
 * Asks until the answer is truthy, and returns it. A question that throws counts as "not yet"; the last error
 * is the cause of the failure in the end. A test of a promised time measures it with a clock of its own.
 */
export async function waitFor<Answer>(
  condition: () => Answer | Promise<Answer>,
  { what, timeoutMs = PATIENCE_MS, intervalMs }: WaitOptions,
): Promise<Exclude<Answer, false | null | undefined | 0 | ''>> {
  const limitMs = Math.max(timeoutMs, PATIENCE_MS);
  const startedAt = performance.now();
  let cause: unknown;
  do {
    try {
      const answer = await condition();
      if (answer) return answer as Exclude<Answer, false | null | undefined | 0 | ''>;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await delay(intervalMs ?? pauseAfter(performance.now() - startedAt));
  } while (performance.now() - startedAt < limitMs);
  throw new Error(`${what} did not happen within ${limitMs} ms`, { cause });
}
