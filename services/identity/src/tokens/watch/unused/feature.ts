import type { Shutdown } from '@platform/service-kit';
import { createUnusedJob } from './unused.job.js';

/** Starts the job that revokes unused tokens. Without a mail service, nobody could be warned, and nothing is revoked. */
export function startUnusedTokens(
  deps: Parameters<typeof createUnusedJob>[0] & { readonly shutdown: Shutdown },
): void {
  if (!deps.outbox.isEnabled) return;
  const job = createUnusedJob(deps);
  job.start();
  job.wake();
  deps.shutdown.on('workers', 'unused tokens', job.stop);
}
