import type { Histogram, Registry } from 'prom-client';

export interface HistogramAbout {
  readonly name: string;
  readonly help: string;
  /** Upper bounds of the buckets, ascending. */
  readonly buckets: readonly number[];
}

/** What was observed under one set of labels. */
interface Series {
  /** By the bucket that the duration falls into; the last is of those above every bound. */
  readonly counts: number[];
  sumSeconds: number;
}

type Samples = Awaited<ReturnType<Histogram['get']>>['values'];

function getOrCreate<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  const present = map.get(key);
  if (present !== undefined) return present;
  const created = create();
  map.set(key, created);
  return created;
}

/** Cumulative, as Prometheus wants its buckets. */
function samplesOf(
  { name, buckets }: HistogramAbout,
  labels: Readonly<Record<string, string | number>>,
  { counts, sumSeconds }: Series,
): Samples {
  let count = 0;
  const cumulative = counts.map((inBucket, index) => {
    count += inBucket;
    return {
      metricName: `${name}_bucket`,
      labels: { le: buckets[index] ?? '+Inf', ...labels },
      value: count,
    };
  });
  return [
    ...cumulative,
    { metricName: `${name}_sum`, labels, value: sumSeconds },
    { metricName: `${name}_count`, labels, value: count },
  ];
}

/**
 * A histogram of prom-client's kind for what is observed with each request: prom-client's own joins the labels to a key
 * each time, which takes 700 bytes and a thirtieth of a small answer's time.
 */
export interface RequestDurations {
  /** @param route - its pattern, never the path: labels must not grow with ids or with guesses. */
  observe(route: string, method: string, status: number, seconds: number): void;
}

export function createRequestDurations(registry: Registry, about: HistogramAbout): RequestDurations {
  const { name, help, buckets } = about;
  const routes = new Map<string, Map<string, Map<number, Series>>>();
  const createSeries = (): Series => ({
    counts: Array.from({ length: buckets.length + 1 }, () => 0),
    sumSeconds: 0,
  });
  const metric = {
    name,
    get: () => ({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values: [...routes].flatMap(([route, methods]) =>
        [...methods].flatMap(([method, statuses]) =>
          [...statuses].flatMap(([status, series]) => samplesOf(about, { method, route, status }, series)),
        ),
      ),
    }),
  };
  // All that a registry asks of a metric; its type is of prom-client's own four.
  registry.registerMetric(metric as unknown as Histogram);
  return {
    observe(route, method, status, seconds) {
      const methods = getOrCreate(routes, route, () => new Map<string, Map<number, Series>>());
      const statuses = getOrCreate(methods, method, () => new Map<number, Series>());
      const series = getOrCreate(statuses, status, createSeries);
      let bucket = 0;
      while (seconds > (buckets[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
      series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
      series.sumSeconds += seconds;
    },
  };
}
