/** The two phases of an attempt: its task works, or its endpoint is unavailable. */
export type Budget = 'work' | 'unavailable';

/**
 * Limits the time of an attempt. Work and unavailability have a budget each, and one of the two is being spent at any
 * time, so the attempt ends after both together at the latest, however often its endpoint comes and goes.
 */
export function createAttemptTimer(
  budgetsMs: Readonly<Record<Budget, number>>,
  onExhausted: (budget: Budget) => void,
) {
  const leftMs = { ...budgetsMs };
  let current:
    | { readonly budget: Budget; readonly since: number; readonly timer: NodeJS.Timeout }
    | undefined;
  let isStopped = false;

  function halt(): void {
    if (!current) return;
    clearTimeout(current.timer);
    leftMs[current.budget] -= performance.now() - current.since;
    current = undefined;
  }

  /** Spends this budget from now on. @returns how much of it is left, in ms. */
  function spend(budget: Budget): number {
    if (!isStopped && current?.budget !== budget) {
      halt();
      const timer = setTimeout(onExhausted, Math.max(0, leftMs[budget]), budget);
      current = { budget, since: performance.now(), timer };
    }
    return Math.max(0, leftMs[budget]);
  }

  spend('work');
  return {
    spend,
    /** Stops the timer for good. */
    stop(): void {
      isStopped = true;
      halt();
    },
  };
}
