/** Lets one loop sleep for a time, or until it is woken because there is work. */
export interface WakeSignal {
  /** Ends the current sleep, or the next one as soon as it begins. */
  wake(): void;
  /** Returns after `ms`, or earlier when woken. */
  sleep(ms: number): Promise<void>;
}

export function createWakeSignal(): WakeSignal {
  let isWoken = false;
  let end: (() => void) | undefined;
  return {
    wake() {
      isWoken = true;
      end?.();
    },
    async sleep(ms) {
      if (!isWoken)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      end = undefined;
      isWoken = false;
    },
  };
}
