import { Gauge, type Registry } from 'prom-client';
import type { Clock, Logger } from '@platform/service-kit';
import type { Prisma } from '../../resources.js';
import { lookAtOutbox } from './queries.js';

/** More than this are shown as this: what waits isn't counted further. */
const COUNT_MAX = 1_000;

/** The outbox, looked at when the metrics are: the oldest mail in it, and how many there are. */
export function registerOutboxMetrics(
  registry: Registry,
  deps: { readonly prisma: Prisma; readonly clock: Clock; readonly log: Pick<Logger, 'warn'> },
): void {
  const waiting = new Gauge({
    name: 'outgoing_mails_waiting',
    help: `Mails that wait to be sent; ${COUNT_MAX} stands for that many or more.`,
    registers: [],
  });
  const age = new Gauge({
    name: 'outgoing_mails_oldest_age_seconds',
    help: 'Age of the oldest mail that waits to be sent; 0 when none does.',
    registers: [registry],
    async collect() {
      try {
        const { count, oldest } = await lookAtOutbox(deps.prisma, COUNT_MAX);
        waiting.set(count);
        age.set(oldest ? Math.max(0, deps.clock() - oldest.getTime()) / 1_000 : 0);
      } catch (error) {
        deps.log.warn({ err: error }, 'outgoing mails not counted');
        waiting.set(Number.NaN);
        age.set(Number.NaN);
      }
    },
  });
  registry.registerMetric(waiting);
}
