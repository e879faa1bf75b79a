import { setTimeout as delay } from 'node:timers/promises';

/** Options of {@link waitFor}. */
export interface WaitOptions {
  /** The event to wait for; completes the sentence "… did not happen". */
  readonly what: string;
  /** Ends a hang, and measures nothing, in ms. Default: 60,000, which no state takes on a machine that does anything at all. */
  readonly patienceMs?: number;
  /** Pause between two checks, in ms. Default: 20 at first, and up to 100 in a long wait. */
  readonly intervalMs?: number;
}

/** Checks slow down the machine that is waited for, so the pause grows with the time waited so far. */
const pauseAfter = (waitedMs: number): number => Math.min(Math.max(waitedMs / 10, 20), 100);

/**
 * Repeats a check until its result is truthy, and returns that. A check that throws counts as "not yet"; its last error
 * becomes the cause of the failure. A test of a time limit measures it with a stopwatch.
 */
export async function waitFor<Answer>(
  condition: () => Answer | Promise<Answer>,
  { what, patienceMs = 60_000, intervalMs }: WaitOptions,
): Promise<Exclude<Answer, false | null | undefined | 0 | ''>> {
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
  } while (performance.now() - startedAt < patienceMs);
  throw new Error(`${what} did not happen within ${patienceMs} ms`, { cause });
}
