import { createInternalMailClient } from '@platform/clients';
import type { Clock, Logger, SecretBox, Shutdown } from '@platform/service-kit';
import { Gauge, type Registry } from 'prom-client';
import type { StartJob } from '../../base/start-job.js';
import type { OneTimeSecretContext } from '../one-time-secrets/service.js';
import { createOutbox, type Outbox } from './outbox.js';
import type { PrepareContext } from './prepare.js';
import { countWaiting, findOldestWaiting } from './queries.js';
import { SEND_TIMEOUT_MS } from './send-mail.js';
import { createSendingJob } from './sending.job.js';
import type { Prisma } from '../../prisma.js';

/** Counting stops here; a larger outbox is reported as this many mails. */
const MAX_COUNT = 1_000;

/** Registers the outbox's size and the age of its oldest mail, which are measured when the metrics are scraped. */
function registerOutboxMetrics(
  registry: Registry,
  deps: { readonly prisma: Prisma; readonly clock: Clock; readonly log: Pick<Logger, 'warn'> },
): void {
  const { prisma, clock, log } = deps;
  /** Reports NaN when the database fails, so that a scrape still returns the other metrics. */
  const register = (name: string, help: string, look: () => Promise<number>): void => {
    const gauge = new Gauge({
      name,
      help,
      registers: [],
      async collect() {
        gauge.set(
          await look().catch((error: unknown) => {
            log.warn({ err: error }, 'failed to measure the outbox; its metrics are NaN');
            return Number.NaN;
          }),
        );
      },
    });
    registry.registerMetric(gauge);
  };
  register(
    'platform_outgoing_mails_waiting',
    `Mails that wait to be sent; ${MAX_COUNT} stands for that many or more.`,
    () => countWaiting(prisma, MAX_COUNT),
  );
  register(
    'platform_outgoing_mails_oldest_age_seconds',
    'Age of the oldest mail that waits to be sent; 0 when none does.',
    async () => {
      const oldest = await findOldestWaiting(prisma);
      return oldest ? Math.max(0, clock() - oldest.createdAt.getTime()) / 1_000 : 0;
    },
  );
}

/** Opens the outbox, and starts the job that sends its mails. Without a mail service, no mail is stored. */
export function startOutbox(deps: {
  readonly mailUrl: string | undefined;
  /** Returns identity's own credential for the mail service. */
  readonly serviceToken: () => Promise<string>;
  readonly secrets: OneTimeSecretContext;
  /** The base URL of mailed links. */
  readonly links: PrepareContext['links'];
  readonly prisma: Prisma;
  readonly box: SecretBox;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Registry;
  readonly startJob: StartJob;
  readonly shutdown: Shutdown;
}): Outbox {
  const { mailUrl, box, log, shutdown } = deps;
  registerOutboxMetrics(deps.metrics, deps);
  if (mailUrl === undefined) {
    log.warn('MAIL_URL is not set: invitations, codes and password links cannot be sent');
    return createOutbox(undefined, box);
  }
  const mail = createInternalMailClient({ baseUrl: mailUrl, timeoutMs: SEND_TIMEOUT_MS });
  const job = createSendingJob({ ...deps, mail });
  deps.startJob('outgoing mails', job);
  shutdown.on('close', 'mail client', mail.close);
  return createOutbox(job.wake, box);
}
