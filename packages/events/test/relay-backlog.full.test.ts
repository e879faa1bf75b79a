import { describeWith, firstCopiesByKey, waitFor } from '@platform/testing';
import pg from 'pg';
import { Registry } from 'prom-client';
import { createRecordingLog } from './support/recording-log.js';
import { toPartition } from './support/topic.js';
import { useTwoBrokers } from './support/two-brokers.js';

/** `RELAY_BACKLOG=1000000` measures the backlog of a day's outage; the guarantee is the same with fewer events. */
const BACKLOG = Number(process.env['RELAY_BACKLOG'] ?? 20_000);
const SLOW = { patienceMs: 60_000 + BACKLOG / 5 };
const RETRIES = 8;

/** Organisations whose events of `files_1` are in the partition. */
const orgsIn = (partition: number, count: number): string[] =>
  Array.from({ length: 1_000 }, (_, number) => `org-${number}`)
    .filter((org) => toPartition(`${org}:files_1`, 2) === partition)
    .slice(0, count);

describeWith('own-kafka', 'relay and a long backlog of a partition that takes nothing', () => {
  const site = useTwoBrokers();

  /** Inserts events with their positions, as a relay leaves them. */
  async function addBacklog(orgs: readonly string[]): Promise<void> {
    await site.database.pool.query(
      `with head as (update outbox.head set position = position + $1 returning position - $1 as last)
       insert into outbox.events (event_id, cause, org_id, event_key, event, position)
       select id, id, org, org || ':files_1', json_build_object('eventId', id, 'eventType', 'SyncFiles1Event',
              'timestamp', 1700000000000 + number, 'payload', json_build_object('orgId', org, 'connector', 'files_1',
              'origin', 'CONNECTOR', 'createdAtTimestamp', number::text, 'updatedAtTimestamp', number::text,
              'sourceCreatedAtTimestamp', number::text)), last + number
         from head, lateral (select gen_random_uuid() as id, $2::text[] as orgs, number
                from generate_series(1, $1::bigint) as number) as numbered,
              lateral (select orgs[1 + number % array_length(orgs, 1)] as org) as named`,
      [BACKLOG, orgs],
    );
    await site.database.pool.query('analyze outbox.events');
  }
  const isPublished = async (eventId: string) =>
    (
      await site.database.pool.query(
        'select from outbox.events where event_id = $1 and published_at is not null',
        [eventId],
      )
    ).rowCount === 1;

  test('does not read the backlog again at a retry, delays no other event, and publishes it in order in the end', async () => {
    const topic = await site.createSplitTopic();
    await site.second.kill();
    await addBacklog(orgsIn(1, 20));
    const [healthy = ''] = orgsIn(0, 1);
    const registry = new Registry();
    const failures = async () => {
      const metric = await registry.getSingleMetric('sync_event_publish_failures_total')?.get();
      return metric?.values.find(({ labels }) => labels['reason'] === 'partition')?.value ?? 0;
    };

    const relay = site.createRelay({ topic, log: createRecordingLog(), registry });
    const startedAt = performance.now();
    relay.start();
    const firstEvent = await site.database.add(healthy);
    relay.wake();
    await waitFor(() => isPublished(firstEvent.eventId), { what: 'the event behind the backlog', ...SLOW });
    process.stderr.write(
      `relay: past ${BACKLOG} held events ${Math.round(performance.now() - startedAt)} ms after its start\n`,
    );

    const queries = jest.spyOn(pg.Client.prototype, 'query');
    const lags: number[] = [];
    const before = await failures();
    let published = 0;
    while ((await failures()) < before + RETRIES) {
      const addedAt = performance.now();
      const { eventId } = await site.database.add(healthy);
      relay.wake();
      await waitFor(() => isPublished(eventId), { what: 'an event of the others', intervalMs: 5, ...SLOW });
      lags.push(performance.now() - addedAt);
      published += 1;
    }
    const reads = queries.mock.calls.flatMap(([query], index) =>
      (query as { name?: string }).name?.startsWith('relay-read-pending')
        ? [queries.mock.results[index]?.value as unknown as Promise<pg.QueryResult>]
        : [],
    );
    const rowsRead = (await Promise.all(reads)).reduce((sum, { rows }) => sum + rows.length, 0);
    queries.mockRestore();
    lags.sort((one, other) => one - other);
    process.stderr.write(
      `relay: ${published} events beside ${BACKLOG} held ones and ${RETRIES} retries: ${rowsRead} rows read, ` +
        `p50 ${Math.round(lags[Math.floor(lags.length / 2)] ?? 0)} ms, longest ${Math.round(lags.at(-1) ?? 0)} ms\n`,
    );
    expect(rowsRead).toBe(published);

    await site.second.start();
    await waitFor(async () => (await site.database.countPending()) === 0, { what: 'the backlog', ...SLOW });
    const { messages } = await site.readTopic(topic);
    const total = BACKLOG + published + 1;
    await waitFor(() => new Set(messages.map(({ event }) => event.eventId)).size === total, {
      what: 'all events',
      ...SLOW,
    });
    expect(firstCopiesByKey(messages)).toEqual(await site.database.idsByKey());
  });
});
