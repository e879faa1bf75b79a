import type { Logger } from '@platform/service-kit';
import type { KafkaConfig } from 'kafkajs';
import type { Registry } from 'prom-client';

/** The topic of sync events unless the configuration names another one. */
export const DEFAULT_TOPIC = 'sync-events';

/** The state of a relay; relay.ts describes the states. */
export type RelayState = 'stopped' | 'standby' | 'relaying' | 'waiting';

export interface EventRelayOptions {
  /** The URL of the outbox's database. The relay's own connection holds a session lock, so no pooler may be in between. */
  readonly connectionString: string;
  /** Brokers, and where needed `ssl` and `sasl`. */
  readonly kafka: Pick<KafkaConfig, 'brokers' | 'clientId' | 'ssl' | 'sasl'>;
  /** Default `sync-events`. */
  readonly topic?: string;
  /** The partitions of a topic that the relay creates; an existing topic is not changed. Default 12. */
  readonly partitions?: number;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
  /** Receives the relay's metrics, all named `sync_event_…`. */
  readonly registry?: Registry;
}

/** Moves events from the outbox to Kafka. Every replica runs one; one of them is at work at a time. */
export interface EventRelay {
  /** Returns at once; neither Kafka nor the database has to be there yet. */
  start(): void;
  /** Signals that events were committed. Cheap; never throws. Call it after every commit, on any replica. */
  wake(): void;
  /** Finishes the current batch, releases the lead to another replica, and closes the connections. */
  stop(): Promise<void>;
  readonly state: RelayState;
}
