/** A running part of the platform that has to be stopped with it. */
export interface Stoppable {
  readonly name: string;
  /** Shuts it down in order; does not reject if it has ended already. */
  stop(): Promise<void>;
  /** Stops it at once, even if data is lost; for a second signal. */
  kill(): Promise<void> | void;
}

export function createTeardown() {
  const open: Stoppable[] = [];
  return {
    add: (stoppable: Stoppable) => open.push(stoppable),
    get isEmpty(): boolean {
      return open.length === 0;
    },

    /** Stops everything. A step that fails is reported and does not prevent the others. */
    run: async (onStep: (name: string) => void): Promise<void> => {
      for (const stoppable of open.toReversed()) {
        onStep(stoppable.name);
        await stoppable.stop().catch((error: unknown) => {
          process.stderr.write(`${stoppable.name} did not stop in order: ${String(error)}\n`);
        });
      }
    },
    killAll: async (): Promise<void> => {
      await Promise.allSettled(open.toReversed().map(async (stoppable) => stoppable.kill()));
    },
  };
}

/** The parts that were opened so far. They are closed in reverse order, so each outlives everything opened after it. */
export type Teardown = ReturnType<typeof createTeardown>;
