import type { Shutdown } from '@platform/service-kit';
import { createNoticesJob } from './notices.job.js';

/** Starts the job that mails about tokens that expire. Without a mail service, none of these notices counts as done. */
export function startTokenNotices(
  deps: Parameters<typeof createNoticesJob>[0] & { readonly shutdown: Shutdown },
): void {
  if (!deps.outbox.isEnabled) return;
  const job = createNoticesJob(deps);
  job.start();
  job.wake();
  deps.shutdown.on('workers', 'token notices', job.stop);
}
