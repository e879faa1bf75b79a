/** Lets one loop sleep until a time, or until somebody has something for it to do. */
export interface Alarm {
  /** Ends the present sleep, or else the next one at once. */
  ring(): void;
  /** Returns after `ms`, or earlier when it rings. */
  sleep(ms: number): Promise<void>;
}

export function createAlarm(): Alarm {
  let hasRung = false;
  let end: (() => void) | undefined;
  return {
    ring() {
      hasRung = true;
      end?.();
    },
    async sleep(ms) {
      if (!hasRung)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      end = undefined;
      hasRung = false;
    },
  };
}
