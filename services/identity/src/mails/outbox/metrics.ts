import type { Clock, Logger } from '@platform/service-kit';
import { Gauge, type Registry } from 'prom-client';
import type { Prisma } from '../../resources.js';
import { countWaiting, findOldestWaiting } from './queries.js';

/** Counting stops here; a larger outbox is reported as this many mails. */
const MAX_COUNT = 1_000;

/** Registers the outbox's size and the age of its oldest mail, which are measured when the metrics are scraped. */
export function registerOutboxMetrics(
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
    'outgoing_mails_waiting',
    `Mails that wait to be sent; ${MAX_COUNT} stands for that many or more.`,
    () => countWaiting(prisma, MAX_COUNT),
  );
  register(
    'outgoing_mails_oldest_age_seconds',
    'Age of the oldest mail that waits to be sent; 0 when none does.',
    async () => {
      const oldest = await findOldestWaiting(prisma);
      return oldest ? Math.max(0, clock() - oldest.createdAt.getTime()) / 1_000 : 0;
    },
  );
}
