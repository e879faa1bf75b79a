import { connectors, toEventType, type SyncEventType } from './connectors.js';
import { factContracts, factExamples } from './facts/contracts.js';
import { type FactType, factTypes } from './facts/event.js';
import { toFactMessage, toKafkaMessage } from './kafka-message.js';
import { facts, syncEvents } from './relay/options.js';
import { createSyncEvent, syncEventContracts } from './sync-event.js';

/** A file in docs/ and its content. */
export type Documents = Readonly<Record<string, object>>;

const DRAFT = 'http://json-schema.org/draft-07/schema#';
const eventTypes = Object.keys(syncEventContracts) as SyncEventType[];
const typesOfFacts = Object.keys(factTypes) as FactType[];

/** Headers are the same for every event; consumers route by them without reading the value. */
const cloudEventHeaders = {
  ce_specversion: { type: 'string', const: '1.0' },
  ce_source: { type: 'string', format: 'uri-reference' },
  ce_time: { type: 'string', format: 'date-time' },
};

const syncHeaders = {
  type: 'object',
  required: Object.keys(sampleMessage(eventTypes[0]).headers),
  properties: {
    eventType: { type: 'string' },
    timestamp: { type: 'string', description: 'Milliseconds since the epoch, as text.' },
    eventId: { type: 'string', format: 'uuid' },
    ...cloudEventHeaders,
    ce_id: { type: 'string', description: 'The same as eventId.' },
    ce_type: { type: 'string', description: 'The same as eventType.' },
    'content-type': { type: 'string', const: 'application/json' },
  },
};

const factHeaders = {
  type: 'object',
  required: [...Object.keys(cloudEventHeaders), 'ce_id', 'ce_type', 'content-type'],
  properties: {
    ...cloudEventHeaders,
    ce_id: { type: 'string', format: 'uuid' },
    ce_type: { type: 'string' },
    'content-type': { type: 'string', const: 'application/json' },
  },
};

const contracts: Readonly<Record<string, object>> = { ...syncEventContracts, ...factContracts };

/** The types of facts in Markdown, for docs/connect/events.md. */
export const buildFactList = (): string =>
  typesOfFacts
    .map(
      (type) =>
        `- [\`${type}\`](../../packages/events/docs/schemas/${type}.schema.json): ${factTypes[type]}\n`,
    )
    .join('');

/** The contracts for other languages than TypeScript: JSON Schemas, and an AsyncAPI document that contains them. */
export function buildDocuments(): Documents {
  const schemas = Object.entries(contracts).map(([type, contract]) => [
    `schemas/${type}.schema.json`,
    { $schema: DRAFT, ...contract },
  ]);
  return { ...(Object.fromEntries(schemas) as Documents), 'asyncapi.json': buildAsyncApi() };
}

function buildAsyncApi(): object {
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Events of the platform',
      version: '1.0.0',
      description:
        'Sync events are published when a crawl has completed, facts when anything else happens that others may want to know. ' +
        'Delivery is at least once: drop an id that was handled. Events of one key are in order. ' +
        'Messages have the binary mode of the CloudEvents 1.0 Kafka binding: headers `ce_…` are the attributes, the value is the data.',
    },
    defaultContentType: 'application/json',
    channels: {
      syncEvents: toChannel(syncEvents.topic, eventTypes),
      platformEvents: toChannel(facts.topic, typesOfFacts),
    },
    operations: {
      publishSyncEvent: toOperation('syncEvents', eventTypes),
      publishFact: toOperation('platformEvents', typesOfFacts),
    },
    components: {
      messages: Object.fromEntries([
        ...eventTypes.map((type) => [type, describeSyncEvent(type)]),
        ...typesOfFacts.map((type) => [type, describeFact(type)]),
      ]),
    },
  };
}

const toChannel = (address: string, types: readonly string[]) => ({
  address,
  messages: Object.fromEntries(types.map((type) => [type, { $ref: `#/components/messages/${type}` }])),
  bindings: { kafka: { bindingVersion: '0.5.0' } },
});

const toOperation = (channel: string, types: readonly string[]) => ({
  action: 'send',
  channel: { $ref: `#/channels/${channel}` },
  messages: types.map((type) => ({ $ref: `#/channels/${channel}/messages/${type}` })),
});

function describeMessage(
  type: string,
  given: {
    readonly headers: object;
    /** The schema of the value. */
    readonly schema: object;
    readonly key: string;
    readonly sample: ReturnType<typeof toKafkaMessage>;
  },
): object {
  const { headers, schema, key: description, sample } = given;
  const { description: summary } = contracts[type] as { description?: string };
  return {
    name: type,
    title: type,
    summary,
    contentType: 'application/json',
    headers,
    payload: { schemaFormat: 'application/schema+json;version=draft-07', schema },
    bindings: {
      kafka: { key: { type: 'string', description, examples: [sample.key] }, bindingVersion: '0.5.0' },
    },
    examples: [{ headers: sample.headers, payload: JSON.parse(sample.value) as object }],
  };
}

function omitId({ $id: _file, ...schema }: object & { readonly $id?: string }): object {
  return schema;
}

const describeSyncEvent = (type: SyncEventType): object =>
  describeMessage(type, {
    headers: syncHeaders,
    schema: omitId(syncEventContracts[type]),
    key: '{orgId}:{connector}, and :{connectorInstance} if the payload has it',
    sample: sampleMessage(type),
  });

const describeFact = (type: FactType): object =>
  describeMessage(type, {
    headers: {
      ...factHeaders,
      properties: { ...factHeaders.properties, ce_type: { type: 'string', const: type } },
    },
    // The message has the other fields of the contract as headers.
    schema: factContracts[type].properties.data,
    key: '{orgId}',
    sample: toFactMessage(JSON.stringify(factExamples[type])),
  });

function sampleMessage(type: SyncEventType | undefined) {
  const connector = connectors.find((name) => toEventType(name) === type) ?? 'wiki_1';
  const eventId = '01890a5d-ac96-774b-bcce-b302099a8057';
  const orgId = '01890a5d-0000-7000-8000-000000000001';
  return toKafkaMessage(createSyncEvent({ orgId, connector, eventId, now: 1_750_000_000_000 }));
}
