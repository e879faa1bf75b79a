import { DEFAULT_INSTANCE } from './connectors.js';
import type { FactEvent } from './facts/event.js';
import type { SyncEvent } from './sync-event.js';

/** An event as kafkajs sends it. */
export interface KafkaMessage {
  readonly key: string;
  readonly value: string;
  readonly headers: Record<string, string>;
}

/** Returns the key of an event. Order is kept within a key, that is, for one instance of an organisation's connector. */
export const toKey = ({ payload: { orgId, connector, connectorInstance } }: SyncEvent): string =>
  toInstanceEventKey(orgId, connector, connectorInstance);

export const toInstanceEventKey = (orgId: string, connector: string, instance = DEFAULT_INSTANCE): string =>
  `${orgId}:${connector}${instance === DEFAULT_INSTANCE ? '' : `:${instance}`}`;

/**
 * Builds the message of an event. Its value is the event's JSON. Consumers can route by the headers without parsing it;
 * those with `ce_` follow the binary mode of the CloudEvents 1.0 Kafka protocol binding, whose data the whole event is.
 */
export const toKafkaMessage = (event: SyncEvent): KafkaMessage => toSyncMessage(JSON.stringify(event));

/** Builds the message of a sync event from its JSON. */
export function toSyncMessage(value: string, traceparent?: string): KafkaMessage {
  const event = JSON.parse(value) as SyncEvent;
  const { eventId, eventType, timestamp, payload } = event;
  return {
    key: toKey(event),
    value,
    headers: {
      eventType,
      timestamp: String(timestamp),
      eventId,
      ce_specversion: '1.0',
      ce_id: eventId,
      ce_type: eventType,
      ce_source: `/organisations/${encodeURIComponent(payload.orgId)}/connectors/${payload.connector}${payload.connectorInstance === undefined ? '' : `/instances/${payload.connectorInstance}`}`,
      ce_time: new Date(timestamp).toISOString(),
      'content-type': 'application/json',
      ...(traceparent !== undefined && { traceparent }),
    },
  };
}

/**
 * Builds the message of a fact from its JSON, in the binary mode of the CloudEvents 1.0 Kafka protocol binding: the value is its
 * `data`, and the headers are its attributes. A library that sees any header `ce_…` reads a message in this mode.
 */
export function toFactMessage(value: string, traceparent?: string): KafkaMessage {
  const { specversion, id, source, type, time, datacontenttype, data } = JSON.parse(value) as FactEvent;
  return {
    key: source.slice(source.lastIndexOf('/') + 1),
    value: JSON.stringify(data),
    headers: {
      ce_specversion: specversion,
      ce_id: id,
      ce_type: type,
      ce_source: source,
      ce_time: time,
      'content-type': datacontenttype,
      ...(traceparent !== undefined && { traceparent }),
    },
  };
}
