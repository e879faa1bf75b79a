import type { AccountPrincipal } from '@platform/auth';
import { AppError, createPermits } from '@platform/service-kit';
import { toLimitKey } from './limit-key.js';

export interface WaitLimits {
  /** The longest duration of a wait. */
  readonly maxMs: number;
  /** Concurrent waits in this process; one organisation can have a quarter of them. */
  readonly maxTotal: number;
  /** Concurrent waits of one credential. */
  readonly maxPerCredential: number;
}

type Holder = Pick<AccountPrincipal, 'credentialId' | 'clientId' | 'userId' | 'orgId'>;

/** Limits the concurrent tool calls that wait for a run: each holds a connection and polls a service every second. */
export function createWaits({ maxMs, maxTotal, maxPerCredential }: WaitLimits) {
  const maxPerOrg = Math.max(1, Math.floor(maxTotal / 4));
  const orgPermits = createPermits({ total: maxTotal, perKey: maxPerOrg });
  const credentialPermits = createPermits({ total: maxTotal, perKey: maxPerCredential });
  const controller = new AbortController();
  const message = `Too many calls wait for a run to end: a credential may have ${maxPerCredential} at once, an organisation ${maxPerOrg}, all together ${maxTotal}; nothing was done. Call again without wait and follow the run with get_crawl, or when another wait has ended`;
  return {
    maxMs,
    /** Aborted when shutdown begins, which ends all waits. */
    stopping: controller.signal,

    /** Runs a wait within the limits. @throws AppError 429, before the wait begins, when a limit is reached. */
    run<T>(holder: Holder, wait: () => Promise<T>): Promise<T> {
      const refuse = () => new AppError({ status: 429, code: 'TOO_MANY_WAITS', message });
      return orgPermits.run(
        holder.orgId,
        () => credentialPermits.run(toLimitKey(holder), wait, refuse),
        refuse,
      );
    },

    stop() {
      controller.abort();
    },
  };
}

export type Waits = ReturnType<typeof createWaits>;
