import {
  connectors,
  createSyncEvent,
  toEventType,
  InvalidEventError,
  isConnector,
  parseSyncEvent,
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

test('every connector has an event; those without one of their own request a new index', () => {
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

test.each(connectors)('a consumer accepts the event that is built for %s', (connector) => {
  const event = createSyncEvent({ orgId: 'org-1', connector, now: Date.now() });
  expect(parseSyncEvent(toKafkaMessage(event).value)).toEqual(event);
});

test('accepts unknown fields', () => {
  const grown = { ...sample, more: 1, payload: { ...sample.payload, more: 2 } };
  expect(parseSyncEvent(JSON.stringify(grown))).toEqual(grown);
});

test.each([
  ['not JSON', 'not JSON', 'oops'],
  ['no message', 'unknown eventType', null],
  ['an unknown type', 'unknown eventType', JSON.stringify({ ...sample, eventType: 'constructor' })],
  [
    'a connector of another type',
    '/payload/connector',
    JSON.stringify({ ...sample, payload: { ...sample.payload, connector: 'db_2' } }),
  ],
  ['no id', 'eventId', JSON.stringify({ ...sample, eventId: undefined })],
  ['an id that is none', '/eventId', JSON.stringify({ ...sample, eventId: '1' })],
  ['a time as text', '/timestamp', JSON.stringify({ ...sample, timestamp: '1' })],
])('rejects %s and says why', (_title, message, text) => {
  expect(() => parseSyncEvent(text)).toThrow(InvalidEventError);
  expect(() => parseSyncEvent(text)).toThrow(message);
});
