/** A running thing that has to be stopped with the platform. */
export interface Stoppable {
  readonly name: string;
  /** Stops it in order; never rejects for a thing that has ended already. */
  stop(): Promise<void>;
  /** Stops it at once, even if data is lost; for a second signal. */
  kill(): Promise<void> | void;
}

/** The things that were opened so far. They are closed in reverse, so each outlives everything opened after it. */
export interface Teardown {
  add(stoppable: Stoppable): void;
  readonly isEmpty: boolean;
  /** Stops everything; a step that fails is reported and doesn't keep the others from being stopped. */
  run(onStep: (name: string) => void): Promise<void>;
  killAll(): Promise<void>;
}

export function createTeardown(): Teardown {
  const open: Stoppable[] = [];
  return {
    add: (stoppable) => open.push(stoppable),
    get isEmpty() {
      return open.length === 0;
    },
    run: async (onStep) => {
      for (const stoppable of open.toReversed()) {
        onStep(stoppable.name);
        await stoppable.stop().catch((error: unknown) => {
          process.stderr.write(`${stoppable.name} did not stop in order: ${String(error)}\n`);
        });
      }
    },
    killAll: async () => {
      await Promise.allSettled(open.toReversed().map(async (stoppable) => stoppable.kill()));
    },
  };
}
