import { Compile } from 'typebox/compile';
import { factExamples } from '../src/facts/contracts.js';
import {
  connectors,
  createSyncEvent,
  factContracts,
  type FactType,
  factTypes,
  isConnector,
  syncEventContracts,
  type SyncEventType,
  toEventType,
  toKafkaMessage,
} from '../src/index.js';

const sample = createSyncEvent({ orgId: 'org-1', connector: 'db_1', now: 1_700_000_000_123 });

test('builds an event exactly as specified', () => {
  expect(sample).toEqual({
    eventId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
    eventType: 'SyncDb1Event',
    timestamp: 1_700_000_000_123,
    payload: {
      orgId: 'org-1',
      connector: 'db_1',
      origin: 'CONNECTOR',
      createdAtTimestamp: '1700000000123',
      updatedAtTimestamp: '1700000000123',
      sourceCreatedAtTimestamp: '1700000000123',
    },
  });
});

test('every connector has an event; connectors without a specific one request a new index', () => {
  expect(connectors).toHaveLength(18);
  expect(connectors.filter((name) => toEventType(name) === 'ReindexAllRecordEvent')).toEqual([
    'wiki_1',
    'chat_1',
  ]);
  expect(new Set(connectors.map(toEventType)).size).toBe(17);
  const withEvent = connectors.filter((name) => !/wiki|chat/.test(name));
  const named = (name: string) =>
    `Sync${name.replace('_', '').replace(/^./, (letter) => letter.toUpperCase())}Event`;
  expect(withEvent.map(toEventType)).toEqual(withEvent.map(named));
  expect(isConnector('toString')).toBe(false);
});

/** Returns why the event does not fit the contract of its type; an empty list when it does. */
function findFaults(
  event: Readonly<Record<string, unknown>> & { readonly eventType: SyncEventType },
): string[] {
  const faults = Compile(syncEventContracts[event.eventType]).Errors(event);
  return faults.map(({ instancePath, message }) => `${instancePath} ${message}`);
}

test('the event that is built for each connector fits the contract of its type', () => {
  for (const connector of connectors) {
    const event = createSyncEvent({ orgId: 'org-1', connector, now: Date.now() });
    expect([connector, findFaults({ ...event })]).toEqual([connector, []]);
    expect(JSON.parse(toKafkaMessage(event).value)).toEqual(event);
  }
});

test('the contract accepts unknown fields', () => {
  expect(findFaults({ ...sample, more: 1, payload: { ...sample.payload, more: 2 } })).toEqual([]);
});

test.each([
  [
    'a connector of another type',
    '/payload/connector',
    { payload: { ...sample.payload, connector: 'db_2' } },
  ],
  ['no id', 'eventId', { eventId: undefined }],
  ['an id that is none', '/eventId', { eventId: '1' }],
  ['a time as text', '/timestamp', { timestamp: '1' }],
])('the contract rejects %s', (_title, place, fields) => {
  expect(findFaults({ ...sample, ...fields }).join()).toContain(place);
});

test.each(Object.keys(factTypes) as FactType[])('the example of the fact %s fits its contract', (type) => {
  const example = factExamples[type];
  const contract = Compile(factContracts[type]);
  expect(contract.Errors(example)).toEqual([]);
  expect(contract.Check({ ...example, more: 1, data: { ...example.data, more: 2 } })).toBe(true);
  expect(contract.Check({ ...example, data: {} })).toBe(false);
  expect(contract.Check({ ...example, type: 'other' })).toBe(false);
});
