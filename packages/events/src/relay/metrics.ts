import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { OutboxDepth } from './queries.js';

/** The values that are read when the metrics are scraped. */
interface RelayFigures {
  depth(): Promise<OutboxDepth | undefined>;
  isLeading(): boolean;
  heldPartitions(): number;
}

const DELAY_BUCKETS_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 300];

/** @param prefix - what the names begin with. */
export function registerRelayMetrics(registry: Registry, prefix: string, figures: RelayFigures) {
  const registers = [registry];
  const published = new Counter({
    name: `${prefix}_published_total`,
    help: 'Events acknowledged by Kafka.',
    registers,
  });
  const failures = new Counter({
    name: `${prefix}_publish_failures_total`,
    help: 'Attempts that failed: Kafka or the database is unavailable, or a partition does not accept its next event.',
    labelNames: ['reason'],
    registers,
  });
  const delay = new Histogram({
    name: `${prefix}_publish_delay_seconds`,
    help: 'From the insert into the outbox to the acknowledgement by Kafka.',
    buckets: DELAY_BUCKETS_SECONDS,
    registers,
  });
  let reading: Promise<OutboxDepth | undefined> | undefined;
  const readDepth = () => (reading ??= figures.depth().finally(() => (reading = undefined)));
  const gauge = (name: string, help: string, read: () => Promise<number | undefined> | number) => {
    const made: Gauge = new Gauge({
      name,
      help,
      registers,
      async collect() {
        const value = await read();
        if (value !== undefined) made.set(value);
      },
    });
  };
  gauge(
    `${prefix}_outbox_pending`,
    'Events that are not published, counted up to 10,000. The same on every replica.',
    async () => (await readDepth())?.pending,
  );
  gauge(
    `${prefix}_outbox_oldest_age_seconds`,
    'Age of the oldest event that is not published.',
    async () => (await readDepth())?.oldestAgeSeconds,
  );
  gauge(`${prefix}_relay_leading`, 'Whether this replica publishes.', () => Number(figures.isLeading()));
  gauge(
    `${prefix}_held_partitions`,
    'Partitions whose next event Kafka does not accept; their events wait.',
    figures.heldPartitions,
  );
  return {
    published(delaysSeconds: readonly number[]): void {
      published.inc(delaysSeconds.length);
      for (const seconds of delaysSeconds) delay.observe(seconds);
    },
    failed: (reason: 'kafka' | 'database' | 'partition') => failures.inc({ reason }),
  };
}

/** The metrics of a relay. */
export type RelayMetrics = ReturnType<typeof registerRelayMetrics>;
