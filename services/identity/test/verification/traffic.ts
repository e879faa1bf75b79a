import { performance } from 'node:perf_hooks';
import type { Answer } from '@platform/testing';

export interface Exchange {
  readonly startedAt: number;
  readonly endedAt: number;
  readonly status: number;
}

export interface Traffic {
  /** What has been answered so far. */
  readonly exchanges: readonly Exchange[];
  /** Sends no more, waits for what is under way. */
  stop(): Promise<readonly Exchange[]>;
}

/** Keeps so many requests in flight until it is stopped. */
export function startTraffic(inFlight: number, send: () => Promise<Answer>): Traffic {
  const exchanges: Exchange[] = [];
  const stopping = new AbortController();
  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      const { status } = await send();
      exchanges.push({ startedAt, endedAt: performance.now(), status });
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
