import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { VERSION } from '../version.js';

/**
 * Serves metrics at `/metrics` in Prometheus' text format: latency by route, method and status, what runs, and those of the
 * process (event-loop lag, memory, garbage collection). The platform's own begin with `platform_`; `process_…` and
 * `nodejs_…` have the names that every Node program has.
 *
 * @returns the registry, for a service's own metrics.
 */
export function registerMetrics(app: FastifyInstance, service: string, commit: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'platform_build_info',
    help: 'Always 1; the labels say which program runs.',
    labelNames: ['version', 'commit'],
    registers: [registry],
  }).set({ version: VERSION, commit }, 1);
  const durations = new Histogram({
    name: 'platform_http_request_duration_seconds',
    help: 'Time from the request line to the end of the response.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  app.addHook('onResponse', (request, reply, done) => {
    // The label is the route's pattern rather than the path, so that labels do not grow with ids or guesses.
    const route = request.routeOptions.url ?? '(none)';
    durations.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1_000);
    done();
  });
  app.get('/metrics', { schema: { hide: true } }, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
  return registry;
}
