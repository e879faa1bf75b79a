import { Counter, Gauge, type Registry } from 'prom-client';

/**
 * Registers the metrics of this service.
 *
 * @returns a callback that counts one mail by its outcome.
 */
export function registerMailMetrics(
  registry: Registry,
  sources: { readonly pools: { readonly size: number }; readonly journal: { readonly backlog: number } },
): (state: string) => void {
  const settled = new Counter({
    name: 'mails_settled_total',
    help: 'Mails by what became of them: sent, failed, unknown.',
    labelNames: ['state'],
    registers: [registry],
  });
  // Prometheus computes no rate from a series that first appears with its first mail, so each one starts at 0.
  for (const state of ['sent', 'failed', 'unknown']) settled.inc({ state }, 0);
  const pools = new Gauge({
    name: 'smtp_pools',
    help: 'Organisations with a pool of SMTP connections.',
    registers: [],
    collect: () => {
      pools.set(sources.pools.size);
    },
  });
  const backlog = new Gauge({
    name: 'mail_outcomes_waiting',
    help: 'Outcomes of mails that the database has not taken yet.',
    registers: [],
    collect: () => {
      backlog.set(sources.journal.backlog);
    },
  });
  registry.registerMetric(pools);
  registry.registerMetric(backlog);
  return (state) => {
    settled.inc({ state });
  };
}
