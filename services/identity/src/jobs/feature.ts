import type { Shutdown } from '@platform/service-kit';
import { createExpiryJob } from './expiry.job.js';

/** Starts the job that deletes what has expired. */
export function startExpiry(
  deps: Parameters<typeof createExpiryJob>[0] & { readonly shutdown: Shutdown },
): void {
  const job = createExpiryJob(deps);
  job.start();
  deps.shutdown.on('workers', 'expiry', job.stop);
}
