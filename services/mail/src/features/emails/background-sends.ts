import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** Mails whose clients have been answered 202: nobody waits for them, so the shutdown does. */
export interface BackgroundSends {
  /** Aborted when the process can wait no longer: what is under way then is unknown, or failed. */
  readonly signal: AbortSignal;
  add(sending: Promise<unknown>): void;
  /** Gives them as long as the requests that wait. */
  stop(): Promise<void>;
}

export function createBackgroundSends(deadlineMs: number): BackgroundSends {
  const sendings = new Set<Promise<unknown>>();
  const ending = new AbortController();
  // One for each mail under way.
  setMaxListeners(0, ending.signal);
  return {
    signal: ending.signal,
    add(sending) {
      const followed = sending.finally(() => sendings.delete(followed));
      sendings.add(followed);
    },
    async stop() {
      const timer = new AbortController();
      const late = delay(deadlineMs, undefined, { signal: timer.signal }).catch(() => undefined);
      await Promise.race([Promise.allSettled(sendings), late]);
      timer.abort();
      ending.abort();
      await Promise.allSettled(sendings);
    },
  };
}
