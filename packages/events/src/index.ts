// Anything exported here is public: services and packages import from this file alone.
export {
  type Connector,
  connectors,
  DEFAULT_INSTANCE,
  toEventType,
  isConnector,
  type SyncEventType,
} from './connectors.js';
export { createMessageHandler } from './consumer.js';
export { CursorGoneError, encodeCursor, type FeedCursor, InvalidCursorError } from './cursor.js';
export {
  type EventFeedPage,
  type EventFeedQuery,
  type FactFeedQuery,
  type FeedPage,
  findEvent,
  findFeedPlace,
  readEvents,
  readFacts,
  startFeedEpoch,
} from './event-feed.js';
export * from './facts/index.js';
export { type KafkaMessage, toKey, toKafkaMessage } from './kafka-message.js';
export {
  insertOutboxEvent,
  insertOutboxEventsOf,
  type OutboxInsert,
  type RunEvent,
  toOutboxRows,
} from './outbox.js';
export { outboxSql } from './outbox-sql.js';
export {
  type EventRelay,
  type EventRelayOptions,
  facts,
  type RelayedEvents,
  type RelayState,
  syncEvents,
} from './relay/options.js';
export { findKafkaContradictions, kafkaVariables } from './kafka-config.js';
export { createEventRelay } from './relay/relay.js';
export { createOutboxRetention, type OutboxRetention, type OutboxRetentionOptions } from './retention.js';
export { assignPositions, createPositionAssigner, type PositionAssigner } from './positions.js';
export { startOutbox } from './start-outbox.js';
export { createSyncEvent, type SyncEvent, syncEventContracts, type SyncEventInput } from './sync-event.js';
