import { describeWith, readTopic, type SecuredKafka, startSecuredKafka, waitFor } from '@platform/testing';
import { createEventRelay, type EventRelay, type EventRelayOptions } from '../src/index.js';
import { createOutboxDatabase, type OutboxDatabase } from './support/outbox-database.js';
import { createRecordingLog } from './support/recording-log.js';
import { newTopic } from './support/topic.js';

describeWith('own-kafka', 'a Kafka with TLS and accounts', () => {
  let secured: SecuredKafka;
  let database: OutboxDatabase;
  let relay: EventRelay | undefined;

  beforeAll(async () => {
    secured = await startSecuredKafka();
    database = await createOutboxDatabase();
  });
  afterEach(() => relay?.stop());
  afterAll(async () => {
    await database?.drop();
    await secured?.close();
  });

  const mechanisms = ['scram-sha-512', 'plain'] as const;
  const options = (
    mechanism: (typeof mechanisms)[number],
    password = secured.account.password,
  ): EventRelayOptions['kafka'] => ({
    brokers: [secured.kafka.brokers],
    ssl: { ca: [secured.authority] },
    sasl: { mechanism: mechanism as 'plain', username: secured.account.username, password },
  });

  function relayTo(kafka: EventRelayOptions['kafka'], topic = newTopic()) {
    const log = createRecordingLog();
    relay = createEventRelay({ connectionString: database.url, kafka, topic, partitions: 1, log });
    relay.start();
    const warning = () =>
      waitFor(() => log.lines.find(({ level }) => level === 'warn'), {
        what: 'a warning',
      });
    return { log, topic, warning };
  }

  test.each(mechanisms)('with %s, events go from the outbox to a consumer', async (mechanism) => {
    const { eventId } = await database.add('org-1');
    const { topic, log } = relayTo(options(mechanism));
    await waitFor(async () => (await database.countPending()) === 0, {
      what: 'publishing',
    });
    const reader = await readTopic(options(mechanism), topic);
    await waitFor(() => reader.messages.some(({ event }) => event.eventId === eventId), {
      what: 'the event',
    });
    await reader.stop();
    expect(log.lines.filter(({ level }) => level !== 'info')).toEqual([]);
  });

  test('a wrong password is reported as such, once, and never shown', async () => {
    const { log, warning } = relayTo(options('scram-sha-512', 'guessed'));
    const { message, detail } = await warning();
    expect(message).toBe('events wait: Kafka refuses the account');
    expect(String(detail.err)).toMatch(/authentication failed/i);
    await waitFor(() => relay?.state === 'waiting', { what: 'another try' });
    expect(log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
    expect(JSON.stringify(log.lines)).not.toContain('guessed');
  });

  test('reports an untrusted authority, and sends nothing', async () => {
    await database.add('org-1');
    const { warning } = relayTo({ ...options('scram-sha-512'), ssl: true });
    const { message, detail } = await warning();
    expect([message, String(detail.err)]).toEqual([
      'events wait: Kafka cannot be reached with TLS: check KAFKA_TLS, the port of the listener, and NODE_EXTRA_CA_CERTS',
      expect.stringMatching(/certificate/),
    ]);
    expect(await database.countPending()).toBe(1);
  });
});
