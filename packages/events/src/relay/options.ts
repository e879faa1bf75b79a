import type { Logger } from '@platform/service-kit';
import type { KafkaConfig } from 'kafkajs';
import type { Registry } from 'prom-client';

/** Where sync events go unless the configuration says otherwise. */
export const DEFAULT_TOPIC = 'sync-events';

/** What a relay is doing: see the states in relay.ts. */
export type RelayState = 'stopped' | 'standby' | 'relaying' | 'waiting';

export interface EventRelayOptions {
  /** Of the outbox's database. The relay holds one connection of its own, with a session lock: no pooler between. */
  readonly connectionString: string;
  /** Brokers, and where needed `ssl` and `sasl`. */
  readonly kafka: Pick<KafkaConfig, 'brokers' | 'clientId' | 'ssl' | 'sasl'>;
  /** Default `sync-events`. */
  readonly topic?: string;
  /** Of a topic that the relay creates; one that exists is left as it is. Default 12. */
  readonly partitions?: number;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
  /** Receives the relay's metrics, all named `sync_event_…`. */
  readonly registry?: Registry;
}

/** Moves events from the outbox to Kafka. Every replica runs one; one of them is at work at a time. */
export interface EventRelay {
  /** Returns at once; neither Kafka nor the database has to be there yet. */
  start(): void;
  /** Says that events were committed. Cheap and never throws: call it after every commit, on any replica. */
  wake(): void;
  /** Finishes the batch under way, hands the work to another replica, and closes its connections. */
  stop(): Promise<void>;
  readonly state: RelayState;
}
