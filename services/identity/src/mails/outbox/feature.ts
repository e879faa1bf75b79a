import { createInternalMailClient } from '@platform/clients';
import type { Clock, Logger, Shutdown } from '@platform/service-kit';
import type { Registry } from 'prom-client';
import type { Prisma } from '../../resources.js';
import type { SecretBox } from '../../base/secret-box.js';
import type { OneTimeSecrets } from '../one-time-secrets/service.js';
import { registerOutboxMetrics } from './metrics.js';
import { createOutbox, type Outbox } from './outbox.js';
import { createPrepare, type PrepareDeps } from './prepare.js';
import { createSendMail, SEND_TIMEOUT_MS } from './send-mail.js';
import { createSendingJob } from './sending.job.js';

/** Opens the outbox, and starts the job that sends its mails. Without a mail service, no mail is stored. */
export function startOutbox(deps: {
  readonly mailUrl: string | undefined;
  /** Returns identity's own credential for the mail service. */
  readonly serviceToken: () => Promise<string>;
  readonly secrets: OneTimeSecrets;
  /** The base URL of mailed links. */
  readonly links: PrepareDeps['links'];
  readonly prisma: Prisma;
  readonly box: SecretBox;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly shutdown: Shutdown;
}): Outbox {
  const { mailUrl, serviceToken, box, log, shutdown } = deps;
  registerOutboxMetrics(deps.metrics, deps);
  if (mailUrl === undefined) {
    log.warn('MAIL_URL is not set: invitations, codes and password links cannot be sent');
    return createOutbox(undefined, box);
  }
  const mail = createInternalMailClient({ baseUrl: mailUrl, timeoutMs: SEND_TIMEOUT_MS });
  const send = createSendMail({ mail, serviceToken });
  const job = createSendingJob({ ...deps, prepare: createPrepare(deps), send });
  job.start();
  shutdown.on('workers', 'outgoing mails', job.stop);
  shutdown.on('close', 'mail client', mail.close);
  return createOutbox(job.wake, box);
}
