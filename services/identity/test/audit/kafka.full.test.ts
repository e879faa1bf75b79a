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

  test('AUD-11 EVT-36 the facts of each organisation are published in the order of its feed, in the binary mode of CloudEvents', async () => {
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
      const published = () => reader.messages.filter(({ key }) => key === orgId);
      await waitFor(() => published().length === length, { what: 'the facts' });
      // In the binary mode the headers are the attributes, and the value is the data.
      const facts = published().map(
        ({ headers: { 'content-type': datacontenttype, ...attributes }, event }) => ({
          ...Object.fromEntries(
            Object.entries(attributes).map(([name, value]) => [name.replace(/^ce_/, ''), value]),
          ),
          datacontenttype,
          data: event,
        }),
      );
      expect(facts).toEqual(await list());
    }
    await reader.stop();
    const { rows } = await identity.db.query('select from outbox.events where published_at is null');
    expect(rows).toEqual([]);
  });
});
