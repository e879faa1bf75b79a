import type { SyncEvent } from './sync-event.js';

/** A sync event as kafkajs sends it. */
export interface KafkaMessage {
  readonly key: string;
  readonly value: string;
  readonly headers: Record<string, string>;
}

/** Events of one key stay in order: those of one connector of one organisation. */
export const toKey = ({ payload }: SyncEvent): string => `${payload.orgId}:${payload.connector}`;

/**
 * The message of an event: its JSON as the value, and headers for consumers that route without parsing it;
 * those with `ce_` are the binary mode of the CloudEvents 1.0 Kafka protocol binding.
 */
export const toKafkaMessage = (event: SyncEvent): KafkaMessage => toMessage(event, JSON.stringify(event));

/**
 * @param value - the event's JSON as it is stored: it is sent byte for byte.
 * @param traceparent - W3C Trace Context, where the event belongs to a trace: one more header.
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
      ce_source: `/organisations/${encodeURIComponent(payload.orgId)}/connectors/${payload.connector}`,
      ce_time: new Date(timestamp).toISOString(),
      'content-type': 'application/json',
      ...(traceparent !== undefined && { traceparent }),
    },
  };
}
