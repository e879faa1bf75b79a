import type { Clock, Logger } from '@platform/service-kit';
import { Gauge, type Registry } from 'prom-client';
import type { Prisma } from '../../resources.js';
import { countWaiting, findOldestWaiting } from './queries.js';

/** More than this are shown as this: what waits isn't counted further. */
const MAX_COUNT = 1_000;

/** The outbox, looked at when the metrics are: how many mails are in it, and how old the oldest is. */
export function registerOutboxMetrics(
  registry: Registry,
  deps: { readonly prisma: Prisma; readonly clock: Clock; readonly log: Pick<Logger, 'warn'> },
): void {
  const { prisma, clock, log } = deps;
  /** The other metrics are shown, too, while the database is away. */
  const register = (name: string, help: string, look: () => Promise<number>): void => {
    const gauge = new Gauge({
      name,
      help,
      registers: [],
      async collect() {
        gauge.set(
          await look().catch((error: unknown) => {
            log.warn({ err: error }, 'outgoing mails not looked at');
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
