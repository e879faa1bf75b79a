export interface PeriodicTaskOptions {
  readonly intervalMs: number;
  /** The work. Two runs never overlap. The signal is aborted by `stop`, so that a long run can end early. */
  readonly run: (stopping: AbortSignal) => Promise<unknown>;
  /** Receives the errors of runs that nobody waits for. */
  readonly onError: (error: unknown) => void;
}

/** Runs background work at an interval and when it is woken. Its timer keeps no process alive. */
export function createPeriodicTask(options: PeriodicTaskOptions) {
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isWoken = false;

  const run = (): Promise<void> =>
    (running ??= Promise.resolve(options.run(stopping.signal))
      .then(() => undefined)
      .finally(() => {
        running = undefined;
      }));

  function wake(): void {
    if (stopping.signal.aborted) return;
    if (running) {
      isWoken = true;
      return;
    }
    isWoken = false;
    run()
      .catch(options.onError)
      .finally(() => {
        if (isWoken) wake();
      });
  }

  return {
    /** Runs the task now, or waits for the run in progress. @throws what the run throws. */
    run,

    /** Runs the task now, or once more after the run in progress. Never throws. */
    wake,

    /** Runs the task once per interval from now on. */
    start(): void {
      // A run in progress makes this one unnecessary.
      timer = setInterval(() => {
        if (!running) wake();
      }, options.intervalMs).unref();
    },

    /** Ends the timer, and resolves when no run is in progress. Only `run` can start one afterwards. */
    async stop(): Promise<void> {
      clearInterval(timer);
      stopping.abort();
      await running?.catch(() => undefined);
    },
  };
}

export type PeriodicTask = ReturnType<typeof createPeriodicTask>;
