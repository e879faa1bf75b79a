import { DEFAULT_INSTANCE } from './connectors.js';
import type { SyncEvent } from './sync-event.js';

/** A sync event as kafkajs sends it. */
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
 * those with `ce_` follow the binary mode of the CloudEvents 1.0 Kafka protocol binding.
 */
export const toKafkaMessage = (event: SyncEvent): KafkaMessage => toMessage(event, JSON.stringify(event));

/**
 * @param value - the event's JSON as it is stored; it is sent byte for byte.
 * @param traceparent - the W3C Trace Context of an event that belongs to a trace; it becomes one more header.
 */
export function toMessage(event: SyncEvent, value: string, traceparent?: string): KafkaMessage {
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
