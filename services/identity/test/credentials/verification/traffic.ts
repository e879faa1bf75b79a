import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Answer } from '@platform/testing';

export interface Exchange {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly status: number;
}

export interface Traffic {
  /** The responses so far. */
  readonly exchanges: readonly Exchange[];
  /** Stops sending, and waits for the requests in flight. */
  stop(): Promise<readonly Exchange[]>;
}

/** Keeps a number of requests in flight until it is stopped, each followed by the next one after the pause. */
export function startTraffic(inFlight: number, send: () => Promise<Answer>, pauseMs = 0): Traffic {
  const exchanges: Exchange[] = [];
  const stopping = new AbortController();
  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      const { status } = await send();
      exchanges.push({ startedAt, endedAt: performance.now(), status });
      if (pauseMs > 0) await delay(pauseMs);
    }
  }
  const loops = Array.from({ length: inFlight }, loop);
  return {
    exchanges,
    async stop() {
      stopping.abort();
      await Promise.all(loops);
      return exchanges;
    },
  };
}
