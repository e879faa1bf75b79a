export type WakeSignal = ReturnType<typeof createWakeSignal>;

/** Lets one loop sleep for a time, or until it is woken because there is work. */
export function createWakeSignal() {
  let isWoken = false;
  let end: (() => void) | undefined;
  return {
    /** Ends the current sleep, or the next one as soon as it begins. */
    wake(): void {
      isWoken = true;
      end?.();
    },
    /** Returns after `ms`, or earlier when woken. */
    async sleep(ms: number): Promise<void> {
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
