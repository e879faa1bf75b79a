import type { Shutdown } from '@platform/service-kit';
import type { RefusedUses } from '../../../credentials/liveness/refused-uses.js';
import { createReuseJob } from './reuse.job.js';

/** Starts the reactions to rotated tokens that are used after their end. */
export function startTokenReuses(
  deps: Parameters<typeof createReuseJob>[0] & {
    readonly refusedUses: Pick<RefusedUses, 'onReuse'>;
    readonly shutdown: Shutdown;
  },
): void {
  const job = createReuseJob(deps);
  job.start();
  deps.shutdown.on('workers', 'reused tokens', job.stop);
  deps.refusedUses.onReuse(job.wake);
}
