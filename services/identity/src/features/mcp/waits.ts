import type { UserPrincipal } from '@platform/auth';
import { createPlaces } from '@platform/clients';
import { AppError } from '@platform/service-kit';

export interface WaitLimits {
  /** How long one takes at most. */
  readonly maxMs: number;
  /** At once, in this process; one organisation has a quarter of them. */
  readonly all: number;
  /** At once, of one credential. */
  readonly each: number;
}

type Holder = Pick<UserPrincipal, 'credentialId' | 'orgId'>;

/** The calls that wait for something to end: each holds a connection, and asks a service once a second. */
export interface Waits {
  readonly maxMs: number;
  /** Aborted when the process ends: nobody waits any longer. */
  readonly stopping: AbortSignal;
  /** @throws AppError 429 before anything is done, when there are as many as there may be. */
  hold<T>(holder: Holder, wait: () => Promise<T>): Promise<T>;
  stop(): void;
}

export function createWaits({ maxMs, all, each }: WaitLimits): Waits {
  const ofOrg = Math.max(1, Math.floor(all / 4));
  const places = createPlaces({ all, each: ofOrg });
  const placesOfCredentials = createPlaces({ all, each });
  const controller = new AbortController();
  const message = `Too many calls wait for a run to end: a credential may have ${each} at once, an organisation ${ofOrg}, all together ${all}; nothing was done. Call again without wait and follow the run with get_crawl, or when another wait has ended`;
  return {
    maxMs,
    stopping: controller.signal,
    async hold({ credentialId, orgId }, wait) {
      const tooMany = () => new AppError({ status: 429, code: 'TOO_MANY_WAITS', message });
      if (!places.take(orgId)) throw tooMany();
      try {
        if (!placesOfCredentials.take(credentialId)) throw tooMany();
        try {
          return await wait();
        } finally {
          placesOfCredentials.give(credentialId);
        }
      } finally {
        places.give(orgId);
      }
    },
    stop() {
      controller.abort();
    },
  };
}
