import { createPlaces } from '@platform/clients';
import { AppError } from '@platform/service-kit';

export interface WaitLimits {
  /** How long one takes at most. */
  readonly maxMs: number;
  /** At once, in this process. */
  readonly all: number;
  /** At once, of one credential. */
  readonly each: number;
}

/** The calls that wait for something to end: each holds a connection, and asks a service once a second. */
export interface Waits {
  readonly maxMs: number;
  /** Whether the process ends: nobody waits any longer. */
  isStopping(): boolean;
  /** @throws AppError 429 before anything is done, when there are as many as there may be. */
  hold<T>(credentialId: string, wait: () => Promise<T>): Promise<T>;
  stop(): void;
}

export function createWaits({ maxMs, all, each }: WaitLimits): Waits {
  const places = createPlaces({ all, each });
  let isStopping = false;
  const message = `Too many calls wait for a run to end: a credential may have ${each} at once, all together ${all}; nothing was done. Call again without wait and follow the run with get_crawl, or when another wait has ended`;
  return {
    maxMs,
    isStopping: () => isStopping,
    async hold(credentialId, wait) {
      if (!places.take(credentialId)) throw new AppError({ status: 429, code: 'TOO_MANY_WAITS', message });
      try {
        return await wait();
      } finally {
        places.give(credentialId);
      }
    },
    stop() {
      isStopping = true;
    },
  };
}
