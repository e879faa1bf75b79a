import type { Logger, Shutdown, Values } from '@platform/service-kit';
import type pg from 'pg';
import type { Registry } from 'prom-client';
import { type kafkaVariables, toKafkaOptions } from './kafka-config.js';
import { createPositionAssigner } from './positions.js';
import type { RelayedEvents } from './relay/options.js';
import { createEventRelay } from './relay/relay.js';

interface OutboxDeps {
  readonly events: RelayedEvents;
  /** The name of the service, as Kafka knows it. */
  readonly service: string;
  readonly topic: string;
  readonly config: Values<typeof kafkaVariables> & { readonly DATABASE_URL: string };
  readonly pool: pg.Pool;
  readonly registry: Registry;
  readonly log: Logger;
  readonly shutdown: Pick<Shutdown, 'on'>;
}

/**
 * Assigns positions to the events of an outbox, and publishes them to Kafka if it is configured.
 *
 * @returns the function to call after each commit, so that nothing waits for the next round.
 */
export function startOutbox(deps: OutboxDeps): () => void {
  const { events, topic, service, config, pool, registry, log, shutdown } = deps;
  const positions = createPositionAssigner({ pool, log });
  positions.start();
  shutdown.on('flush', 'positions of events', () => positions.stop());
  if (config.KAFKA_BROKERS.length === 0) return positions.wake;
  const relay = createEventRelay({
    events,
    connectionString: config.DATABASE_URL,
    kafka: toKafkaOptions(service, config),
    topic,
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
