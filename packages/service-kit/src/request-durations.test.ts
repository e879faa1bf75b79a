import { Histogram, Registry } from 'prom-client';
import { createRequestDurations } from './request-durations.js';

test("what is scraped is what prom-client's own histogram would tell", async () => {
  const about = { name: 'duration_seconds', help: 'Of a test.', buckets: [0.001, 0.0025, 0.5, 10] };
  const registry = new Registry();
  const durations = createRequestDurations(registry, about);
  const expected = new Registry();
  const labelNames = ['method', 'route', 'status'];
  const histogram = new Histogram({ ...about, labelNames, registers: [expected] });
  const observed = [
    ['GET', '/a/:id', 200, [0, 0.001, 0.00100001, 0.3, 10, 11]],
    ['GET', '/a/:id', 404, [0.002]],
    ['POST', '/a/:id', 200, [0.7]],
    ['GET', '(none)', 404, [0.0001]],
  ] as const;
  for (const [method, route, status, allSeconds] of observed)
    for (const seconds of allSeconds) {
      durations.observe(route, method, status, seconds);
      histogram.observe({ method, route, status }, seconds);
    }
  const lines = (text: string) => text.split('\n').map((line) => line.replace(/\{.*\}/, sortLabels));
  for (const one of [registry, expected]) one.setDefaultLabels({ service: 'test' });
  expect(lines(await registry.metrics())).toEqual(lines(await expected.metrics()));
});

const sortLabels = (labels: string): string => labels.slice(1, -1).split(',').toSorted().join(',');
