import { performance } from 'node:perf_hooks';
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

/** Keeps a number of requests in flight until it is stopped. */
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
