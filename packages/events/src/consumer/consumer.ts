import type { KafkaConfig, KafkaMessage } from 'kafkajs';
import type { SyncEvent } from '../sync-event.js';
import type { Dedupe } from './dedupe.js';

/** A message that is no sync event; it is handed over once and not read again. */
export interface InvalidMessage {
  readonly reason: string;
  readonly partition: number;
  readonly message: KafkaMessage;
}

export interface SyncEventConsumerOptions {
  readonly kafka: Pick<KafkaConfig, 'brokers' | 'clientId' | 'ssl' | 'sasl'>;
  /** Consumers of one group share the partitions. */
  readonly groupId: string;
  /** Default `sync-events`. */
  readonly topic?: string;
  /** Where a group that has never read begins. Default true: with the oldest event that Kafka keeps. */
  readonly isFromBeginning?: boolean;
  /** Called in order per key, once per event id as far as `dedupe` remembers. A rejection has it called again. */
  readonly handle: (event: SyncEvent) => Promise<void>;
  /** Store or count it; a rejection has it called again. */
  readonly onInvalid: (invalid: InvalidMessage) => void | Promise<void>;
  readonly dedupe?: Dedupe;
}

export interface SyncEventConsumer {
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function createSyncEventConsumer(_options: SyncEventConsumerOptions): SyncEventConsumer {
  throw new Error('not yet');
}
