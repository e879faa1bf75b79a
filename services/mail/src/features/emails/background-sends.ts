import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

export function createBackgroundSends(deadlineMs: number) {
  const sendings = new Set<Promise<unknown>>();
  const ending = new AbortController();
  // Each mail in progress adds one listener, so Node's default limit of ten would warn.
  setMaxListeners(0, ending.signal);
  return {
    /** Aborted when the shutdown can wait no longer. The remaining mails then fail or become unknown. */
    signal: ending.signal,
    add(sending: Promise<unknown>): void {
      const tracked = sending.finally(() => sendings.delete(tracked));
      sendings.add(tracked);
    },

    /** Waits as long as a waiting request may take, then aborts the remaining mails. */
    async stop(): Promise<void> {
      const timer = new AbortController();
      const timeout = delay(deadlineMs, undefined, { signal: timer.signal }).catch(() => undefined);
      await Promise.race([Promise.allSettled(sendings), timeout]);
      timer.abort();
      ending.abort();
      await Promise.allSettled(sendings);
    },
  };
}

/** Tracks mails that were answered with 202. No client waits for them, so the shutdown has to. */
export type BackgroundSends = ReturnType<typeof createBackgroundSends>;
