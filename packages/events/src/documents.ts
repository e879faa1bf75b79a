import { connectors, toEventType, type SyncEventType } from './connectors.js';
import { toKafkaMessage } from './kafka-message.js';
import { DEFAULT_TOPIC } from './relay/options.js';
import { createSyncEvent, syncEventContracts } from './sync-event.js';

/** A file in docs/ and its content. */
export type Documents = Readonly<Record<string, object>>;

const DRAFT = 'http://json-schema.org/draft-07/schema#';
const eventTypes = Object.keys(syncEventContracts) as SyncEventType[];

/** Headers are the same for every event; consumers route by them without reading the value. */
const headers = {
  type: 'object',
  required: Object.keys(sampleMessage(eventTypes[0]).headers),
  properties: {
    eventType: { type: 'string' },
    timestamp: { type: 'string', description: 'Milliseconds since the epoch, as text.' },
    eventId: { type: 'string', format: 'uuid' },
    ce_specversion: { type: 'string', const: '1.0' },
    ce_id: { type: 'string', description: 'The same as eventId.' },
    ce_type: { type: 'string', description: 'The same as eventType.' },
    ce_source: { type: 'string', format: 'uri-reference' },
    ce_time: { type: 'string', format: 'date-time' },
    'content-type': { type: 'string', const: 'application/json' },
  },
};

/** The contracts for other languages than TypeScript: JSON Schemas, and an AsyncAPI document that contains them. */
export function buildDocuments(): Documents {
  const schemas = eventTypes.map((type) => [
    `schemas/${type}.schema.json`,
    { $schema: DRAFT, ...syncEventContracts[type] },
  ]);
  return { ...(Object.fromEntries(schemas) as Documents), 'asyncapi.json': buildAsyncApi() };
}

function buildAsyncApi(): object {
  const refs = (prefix: string) => eventTypes.map((type) => ({ $ref: `${prefix}${type}` }));
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Sync events',
      version: '1.0.0',
      description:
        'Published when a crawl has completed. Delivery is at least once: drop an eventId that was handled. ' +
        'Events of one key are in order.',
    },
    defaultContentType: 'application/json',
    channels: {
      syncEvents: {
        address: DEFAULT_TOPIC,
        messages: Object.fromEntries(
          eventTypes.map((type) => [type, { $ref: `#/components/messages/${type}` }]),
        ),
        bindings: { kafka: { bindingVersion: '0.5.0' } },
      },
    },
    operations: {
      publishSyncEvent: {
        action: 'send',
        channel: { $ref: '#/channels/syncEvents' },
        messages: refs('#/channels/syncEvents/messages/'),
      },
    },
    components: { messages: Object.fromEntries(eventTypes.map((type) => [type, describeMessage(type)])) },
  };
}

function describeMessage(type: SyncEventType): object {
  const { $id: _file, ...schema } = syncEventContracts[type] as { $id?: string; description?: string };
  const { key, value, headers: sampleHeaders } = sampleMessage(type);
  return {
    name: type,
    title: type,
    summary: schema.description,
    contentType: 'application/json',
    headers,
    payload: { schemaFormat: 'application/schema+json;version=draft-07', schema },
    bindings: {
      kafka: {
        key: {
          type: 'string',
          description: '{orgId}:{connector}, and :{connectorInstance} if the payload has it',
          examples: [key],
        },
        bindingVersion: '0.5.0',
      },
    },
    examples: [{ headers: sampleHeaders, payload: JSON.parse(value) as object }],
  };
}

function sampleMessage(type: SyncEventType | undefined) {
  const connector = connectors.find((name) => toEventType(name) === type) ?? 'wiki_1';
  const eventId = '01890a5d-ac96-774b-bcce-b302099a8057';
  const orgId = '01890a5d-0000-7000-8000-000000000001';
  return toKafkaMessage(createSyncEvent({ orgId, connector, eventId, now: 1_750_000_000_000 }));
}
