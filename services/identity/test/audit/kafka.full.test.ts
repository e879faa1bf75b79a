import { randomUUID } from 'node:crypto';
import { describeWith, readTopic, testKafka, waitFor } from '@platform/testing';
import { type IdentityUnderTest, startIdentity } from '../identity.js';

/* Facts in Kafka, beside the feed. */

describeWith('kafka', 'with Kafka', () => {
  const topic = `platform-events-${randomUUID()}`;
  let brokers: string[];
  let identity: IdentityUnderTest;
  beforeAll(async () => {
    ({ brokers } = await testKafka());
    const environment = { KAFKA_BROKERS: brokers.join(','), KAFKA_FACTS_TOPIC: topic, KAFKA_PARTITIONS: '3' };
    identity = await startIdentity({ environment });
  });
  afterAll(() => identity.close());

  test('AUD-11 the facts of each organisation are published in the order of its feed, byte for byte', async () => {
    await waitFor(() => identity.logged().includes('publishing events'), { what: 'the relay' });
    const reader = await readTopic({ brokers }, topic);
    const session = await identity.login();
    const other = await identity.createOrganisation('boss@kafka.example');
    for (const name of ['a', 'b', 'c'])
      await Promise.all(
        [session, other.session].map((token) => identity.createToken(token, { name, scopes: ['user:read'] })),
      );
    for (const [orgId, token] of [
      [identity.orgId, session],
      [other.orgId, other.session],
    ] as const) {
      const list = async () =>
        (await identity.call('GET', '/api/v1/events', { token })).body.data as object[];
      const { length } = await list();
      const published = () => reader.values.filter((_, index) => reader.messages[index]?.key === orgId);
      await waitFor(() => published().length === length, { what: 'the facts' });
      expect(published().map((value) => JSON.parse(value) as object)).toEqual(await list());
    }
    const last = reader.messages.at(-1);
    const { id, source, time, type } = JSON.parse(reader.values.at(-1) ?? '') as Record<string, string>;
    expect(last?.headers).toEqual({
      ce_specversion: '1.0',
      ce_id: id,
      ce_source: source,
      ce_time: time,
      ce_type: type,
      'content-type': 'application/cloudevents+json; charset=UTF-8',
    });
    await reader.stop();
    const { rows } = await identity.db.query('select from outbox.events where published_at is null');
    expect(rows).toEqual([]);
  });
});
