const TICK_MS = 5;
const MAX_COUNTED_MS = 2 * TICK_MS;

/**
 * Starts a clock that runs only while the machine lets this process run, for tests of a promised time: on an idle
 * machine it counts like any other clock; when the process has to wait for a processor, it counts at most two ticks
 * per wait, however long the wait is.
 */
export function startStopwatch() {
  let countedMs = 0;
  let lastAt = performance.now();
  const count = (): void => {
    const now = performance.now();
    countedMs += Math.min(now - lastAt, MAX_COUNTED_MS);
    lastAt = now;
  };
  const timer = setInterval(count, TICK_MS);
  return {
    /** Stops it, and returns the milliseconds that it has counted. */
    stop(): number {
      clearInterval(timer);
      count();
      return countedMs;
    },
  };
}

/** Measures a promised time; see {@link startStopwatch}. */
export type Stopwatch = ReturnType<typeof startStopwatch>;
