import type { Logger } from '@platform/service-kit';
import type { KafkaConfig } from 'kafkajs';
import type { Registry } from 'prom-client';
import { type KafkaMessage, toFactMessage, toSyncMessage } from '../kafka-message.js';

/** A kind of events, as a relay publishes them. */
export interface RelayedEvents {
  /** The topic unless the configuration names another one. */
  readonly topic: string;
  /** The prefix of the names of the relay's metrics. */
  readonly metricPrefix: string;
  /**
   * @param value - the event's JSON as it is stored.
   * @param traceparent - the W3C Trace Context of an event that belongs to a trace; it becomes one more header.
   */
  readonly toMessage: (value: string, traceparent?: string) => KafkaMessage;
}

/** Sync events, in order per key. */
export const syncEvents: RelayedEvents = {
  topic: 'sync-events',
  metricPrefix: 'platform_sync_event',
  toMessage: toSyncMessage,
};

/** Facts, in order per organisation. */
export const facts: RelayedEvents = {
  topic: 'platform-events',
  metricPrefix: 'platform_fact',
  toMessage: toFactMessage,
};

/** The state of a relay; relay.ts describes the states. */
export type RelayState = 'stopped' | 'standby' | 'relaying' | 'waiting';

export interface EventRelayOptions {
  /** The kind of events in the outbox. Default: {@link syncEvents}. */
  readonly events?: RelayedEvents;
  /** The URL of the outbox's database. The relay's own connection holds a session lock, so no pooler may be in between. */
  readonly connectionString: string;
  /** Brokers, and where needed `ssl` and `sasl`. */
  readonly kafka: Pick<KafkaConfig, 'brokers' | 'clientId' | 'ssl' | 'sasl'>;
  /** Default: the topic of the events. */
  readonly topic?: string;
  /** The partitions of a topic that the relay creates; an existing topic is not changed. Default 12. */
  readonly partitions?: number;
  /** How often the leader looks whether the topic has more partitions. Default 5 minutes. */
  readonly topicCheckMs?: number;
  /** For so long after the start, a Kafka that does not answer may be starting, too, which is no warning. Default 30 seconds. */
  readonly startGraceMs?: number;
  readonly log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;
  /** Receives the relay's metrics. */
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
