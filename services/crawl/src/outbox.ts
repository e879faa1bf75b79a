import { createEventRelay, createOutboxRetention, createPositionAssigner } from '@platform/events';
import type { ServiceDeps } from '@platform/service-kit';
import type pg from 'pg';
import type { Registry } from 'prom-client';
import type { CrawlConfig } from './config.js';
import { toKafkaOptions } from './kafka.js';
import type { Resources } from './resources.js';

interface OutboxDeps extends ServiceDeps<CrawlConfig, Pick<Resources, 'log'>> {
  readonly registry: Registry;
}

/**
 * Assigns positions to events, publishes them to Kafka if it is configured, and deletes old ones.
 *
 * @returns the function to call after each commit.
 */
export function startOutbox(deps: OutboxDeps, pool: pg.Pool): () => void {
  const { config, registry, shutdown, clock } = deps;
  const { log } = deps.resources;
  const hasKafka = config.KAFKA_BROKERS.length > 0;
  const retention = createOutboxRetention({ pool, log, clock, isPublishedOnly: hasKafka });
  retention.start();
  shutdown.on('flush', 'outbox retention', () => retention.stop());
  const positions = createPositionAssigner({ pool, log });
  positions.start();
  shutdown.on('flush', 'positions of events', () => positions.stop());
  if (!hasKafka) return positions.wake;
  const relay = createEventRelay({
    connectionString: config.DATABASE_URL,
    kafka: toKafkaOptions(config),
    topic: config.KAFKA_TOPIC,
    partitions: config.KAFKA_PARTITIONS,
    log,
    registry,
  });
  relay.start();
  // The relay stops after the workers, so that what they complete while they stop is still published.
  shutdown.on('flush', 'event relay', () => relay.stop());
  return () => {
    relay.wake();
  };
}
