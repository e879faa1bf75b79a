import { randomUUID } from 'node:crypto';
import { waitFor } from '@platform/testing';
import {
  createPositionAssigner,
  createSyncEvent,
  CursorGoneError,
  insertOutboxEvent,
  InvalidCursorError,
  readEvents,
  startFeedEpoch,
} from '../src/index.js';
import { insertOutboxEventsOf, toOutboxRows } from '../src/outbox.js';
import { assignPositions } from '../src/positions.js';
import { createOutboxRetention } from '../src/retention.js';
import { createOutboxDatabase, type OutboxDatabase } from './support/outbox-database.js';
import { createRecordingLog } from './support/recording-log.js';

let database: OutboxDatabase;

beforeEach(async () => {
  database = await createOutboxDatabase();
});
afterEach(() => database.drop());

const newEvent = (orgId = 'org-1') => createSyncEvent({ orgId, connector: 'wiki_1', now: Date.now() });
const ids = (page: { data: { eventId: string }[] }) => page.data.map(({ eventId }) => eventId);

describe('insert', () => {
  test('a run has one event, however many transactions write it', async () => {
    const runId = randomUUID();
    const inserts = await Promise.all(
      Array.from({ length: 4 }, () => insertOutboxEvent(database.pool, newEvent(), { runId })),
    );
    const [first] = inserts.filter(({ isNew }) => isNew);
    expect(inserts.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(inserts.map(({ eventId }) => eventId)).toEqual(Array.from({ length: 4 }, () => first?.eventId));
    expect((await readEvents(database.pool, { orgId: 'org-1', limit: 10 })).data).toHaveLength(1);
  });

  test('an event exists if and only if its transaction commits', async () => {
    const client = await database.pool.connect();
    await client.query('begin');
    await insertOutboxEvent(client, newEvent(), { runId: randomUUID() });
    await client.query('rollback');
    client.release();
    const page = await readEvents(database.pool, { orgId: 'org-1', limit: 10 });
    expect(page).toEqual({ data: [], nextCursor: null, hasMore: false });
  });
});

test.each([
  ['a hash join', 'set enable_nestloop = off; set enable_mergejoin = off'],
  ['nested loops', 'set enable_hashjoin = off; set enable_mergejoin = off'],
])(
  'EVT-34 the events of a batch have the order in which they are given, under %s',
  async (_plan, settings) => {
    const runs = Array.from({ length: 200 }, () => ({
      runId: randomUUID(),
      event: newEvent(),
      traceparent: undefined,
    }));
    const client = await database.pool.connect();
    try {
      await client.query(settings);
      const given = 'unnest($1::text[]) as id';
      await client.query(insertOutboxEventsOf(`(select id from ${given}) as given_runs`, '$2'), [
        runs.map(({ runId }) => runId).toReversed(),
        toOutboxRows(runs),
      ]);
    } finally {
      client.release(true);
    }
    await assignPositions(database.pool, 500);
    const page = await readEvents(database.pool, { orgId: 'org-1', limit: 200 });
    expect(ids(page)).toEqual(runs.map(({ event }) => event.eventId));
  },
);

describe('feed', () => {
  test('a reader of one connector sees its events once, past those of others', async () => {
    const add = (connector: 'wiki_1' | 'code_1', orgId = 'org-1') => {
      const event = createSyncEvent({ orgId, connector, now: Date.now() });
      return insertOutboxEvent(database.pool, event, { runId: randomUUID() });
    };
    const wanted: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      wanted.push((await add('wiki_1')).eventId);
      await add('code_1');
      await add('wiki_1', 'org-2');
    }
    // More events of other organisations than one read examines.
    await database.pool.query(
      `insert into outbox.events (event_id, cause, org_id, event_key, event)
       select gen_random_uuid(), 'other-' || n, 'org-1', 'org-1:code_1', '{}' from generate_series(1, 2500) n`,
    );
    wanted.push((await add('wiki_1')).eventId);
    await waitFor(
      async () => {
        await database.pool.query('select outbox.assign_positions(1000)');
        const { rowCount } = await database.pool.query('select from outbox.events where position is null');
        return rowCount === 0;
      },
      { what: 'positions' },
    );
    const seen: string[] = [];
    let after: string | undefined;
    for (let hasMore = true; hasMore;) {
      const page = await readEvents(database.pool, {
        orgId: 'org-1',
        connectors: ['wiki_1'],
        limit: 2,
        after,
      });
      seen.push(...ids(page));
      hasMore = page.hasMore;
      after = page.nextCursor ?? undefined;
    }
    expect(seen).toEqual(wanted);
    await add('code_1');
    const { eventId } = await add('wiki_1');
    const later = await readEvents(database.pool, {
      orgId: 'org-1',
      connectors: ['wiki_1'],
      limit: 2,
      after,
    });
    expect(ids(later)).toEqual([eventId]);
  });

  test('a reader does not skip the events of a transaction that commits late', async () => {
    const late = await database.pool.connect();
    await late.query('begin');
    const lateEvent = newEvent();
    await insertOutboxEvent(late, lateEvent, { runId: randomUUID() });
    const early = await database.add('org-1');
    const before = await readEvents(database.pool, { orgId: 'org-1', limit: 10 });
    expect(ids(before)).toEqual([early.eventId]);
    await late.query('commit');
    late.release();
    const after = await readEvents(database.pool, {
      orgId: 'org-1',
      limit: 10,
      after: before.nextCursor ?? '',
    });
    expect(ids(after)).toEqual([lateEvent.eventId]);
  });

  test('a reader that follows the cursor sees each event once while many writers commit', async () => {
    const total = 150;
    let written = 0;
    const writers = Array.from({ length: 3 }, async () => {
      while (written < total) {
        written += 1;
        const client = await database.pool.connect();
        await client.query('begin');
        await insertOutboxEvent(client, newEvent(), { runId: randomUUID() });
        await client.query('select pg_sleep(random() * 0.005)');
        await client.query('commit');
        client.release();
      }
    });
    let isWriting = true;
    const writing = Promise.all(writers).finally(() => (isWriting = false));
    const seen: string[] = [];
    let after: string | undefined;
    for (let isLast = false; !isLast;) {
      isLast = !isWriting;
      for (let hasMore = true; hasMore;) {
        const page = await readEvents(database.pool, { orgId: 'org-1', limit: 7, after });
        seen.push(...ids(page));
        after = page.nextCursor ?? undefined;
        hasMore = page.hasMore;
      }
    }
    await writing;
    expect(seen).toHaveLength(written);
    expect(new Set(seen).size).toBe(written);
  });

  test("reads only the caller's organisation, and the last page has a cursor to continue with", async () => {
    const mine = [await database.add('org-1'), await database.add('org-1')];
    await database.add('org-2');
    const page = await readEvents(database.pool, { orgId: 'org-1', limit: 10 });
    expect(page.data).toEqual(mine);
    expect(page.hasMore).toBe(false);
    const next = await readEvents(database.pool, { orgId: 'org-1', limit: 10, after: page.nextCursor ?? '' });
    expect(next).toEqual({ data: [], nextCursor: page.nextCursor, hasMore: false });
  });

  const readAfter = (after: string | null) =>
    readEvents(database.pool, { orgId: 'org-1', limit: 10, after: after ?? '' });

  test('a reader learns when events after its cursor were deleted, but not while it has seen all of them', async () => {
    await database.add('org-1');
    const early = await readEvents(database.pool, { orgId: 'org-1', limit: 10 });
    const idle = await readEvents(database.pool, { orgId: 'org-3', limit: 10 });
    expect(idle.nextCursor).not.toBeNull();
    await database.add('org-2');
    await database.add('org-1');
    const late = await readAfter(early.nextCursor);
    expect(late.data).toHaveLength(1);
    const log = createRecordingLog();
    const clock = () => Date.now() + 15 * 86_400_000;
    await createOutboxRetention({ pool: database.pool, log, clock, isPublishedOnly: false }).sweep();
    await expect(readAfter(early.nextCursor)).rejects.toBeInstanceOf(CursorGoneError);
    expect(await readAfter(late.nextCursor)).toEqual({
      data: [],
      nextCursor: late.nextCursor,
      hasMore: false,
    });
    const { eventId } = await database.add('org-1');
    expect(ids(await readAfter(late.nextCursor))).toEqual([eventId]);
    expect(ids(await readEvents(database.pool, { orgId: 'org-1', limit: 10 }))).toEqual([eventId]);
  });

  test('a reader learns when the database was restored', async () => {
    await database.add('org-1');
    const { nextCursor: before } = await readEvents(database.pool, { orgId: 'org-1', limit: 10 });
    await database.add('org-1');
    const { nextCursor: ahead } = await readEvents(database.pool, { orgId: 'org-1', limit: 10 });
    // What a backup from before the second event has.
    await database.pool.query('delete from outbox.events where position = 2');
    await database.pool.query('update outbox.head set position = 1');
    await expect(readAfter(ahead)).rejects.toBeInstanceOf(CursorGoneError);
    await startFeedEpoch(database.pool);
    await expect(readAfter(before)).rejects.toBeInstanceOf(CursorGoneError);
    const { nextCursor } = await readEvents(database.pool, { orgId: 'org-1', limit: 10 });
    expect(await readAfter(nextCursor)).toMatchObject({ data: [] });
  });

  const countPlaced = async () =>
    (await database.pool.query('select from outbox.events where position is not null')).rowCount ?? 0;

  test('a reader assigns only a few positions, and the background assigns the rest', async () => {
    await database.addMany(1_500, 5);
    await readEvents(database.pool, { orgId: 'org-9', limit: 10 });
    expect(await countPlaced()).toBeLessThanOrEqual(100);
    const assigner = createPositionAssigner({ pool: database.pool, log: createRecordingLog() });
    assigner.start();
    await waitFor(async () => (await countPlaced()) === 1_500, { what: 'all positions' });
    const event = await database.add('org-9');
    assigner.wake();
    await waitFor(async () => (await countPlaced()) === 1_501, { what: 'the last position' });
    await assigner.stop();
    expect(ids(await readEvents(database.pool, { orgId: 'org-9', limit: 10 }))).toEqual([event.eventId]);
  });

  test('assigns positions again once the database is available', async () => {
    let isAway = true;
    const log = createRecordingLog();
    const pool = {
      query: ((...given: Parameters<typeof database.pool.query>) =>
        isAway
          ? Promise.reject(new Error('away'))
          : database.pool.query(...given)) as typeof database.pool.query,
    };
    await database.add('org-1');
    const assigner = createPositionAssigner({ pool, log });
    assigner.start();
    await waitFor(() => log.lines.length > 0, { what: 'a warning' });
    isAway = false;
    assigner.wake();
    await waitFor(async () => (await countPlaced()) === 1, { what: 'the position' });
    await assigner.stop();
    expect(log.lines).toHaveLength(1);
  });

  test('rejects an invalid cursor', async () => {
    for (const after of ['', 'x', '42', 'ZTE6LTE', 'ZTE6OTk5OTk5OTk5OTk5OTk5OTk5OTk5OQ'])
      await expect(readAfter(after)).rejects.toBeInstanceOf(InvalidCursorError);
  });
});

describe('retention', () => {
  test('a reader who starts over gets past the events that are kept among deleted ones', async () => {
    await database.addMany(6, 1);
    const all = await readEvents(database.pool, { orgId: 'org-0', limit: 1 });
    await database.pool.query('update outbox.events set published_at = now() where position between 3 and 5');
    await sweepLater(true, 15);
    const read = (after?: string | null) =>
      readEvents(database.pool, { orgId: 'org-0', limit: 1, after: after ?? undefined });
    await expect(read(all.nextCursor)).rejects.toBeInstanceOf(CursorGoneError);
    const first = await read();
    const second = await read(first.nextCursor);
    expect(ids(second)).toHaveLength(1);
    const third = await read(second.nextCursor);
    expect([ids(third).length, third.hasMore]).toEqual([1, false]);
    // What is deleted meanwhile is noticed.
    await database.pool.query('update outbox.events set published_at = now() where position = 2');
    await sweepLater(true, 15);
    await expect(read(first.nextCursor)).rejects.toBeInstanceOf(CursorGoneError);
    expect((await read(third.nextCursor)).data).toEqual([]);
  });

  const sweepLater = (isPublishedOnly: boolean, days: number) =>
    createOutboxRetention({
      pool: database.pool,
      log: createRecordingLog(),
      clock: () => Date.now() + days * 86_400_000,
      isPublishedOnly,
    }).sweep();

  test('deletes old events in batches; with Kafka, only published ones', async () => {
    await database.addMany(2_500, 5);
    await expect(sweepLater(true, 15)).resolves.toBe(0);
    await database.pool.query(
      `update outbox.events set published_at = now(), position = seq where org_id <> 'org-1'`,
    );
    await expect(sweepLater(true, 13)).resolves.toBe(0);
    await expect(sweepLater(true, 15)).resolves.toBe(2_000);
    // Rows without a position are about to receive one and must not be deleted meanwhile.
    await expect(sweepLater(false, 15)).resolves.toBe(0);
    await database.pool.query('select outbox.assign_positions(500)');
    await expect(sweepLater(false, 15)).resolves.toBe(500);
  });

  test('announces what it deletes: an old event that receives its position meanwhile is kept for the next sweep', async () => {
    await database.addMany(2, 1);
    await assignPositions(database.pool, 1);
    const announced: string[] = [];
    const { sweep } = createOutboxRetention({
      pool: database.pool,
      log: createRecordingLog(),
      clock: () => Date.now() + 15 * 86_400_000,
      isPublishedOnly: false,
      async beforeDeletion(last) {
        announced.push(last);
        await assignPositions(database.pool, 1);
      },
    });
    expect([await sweep(), await sweep(), await sweep()]).toEqual([1, 1, 0]);
    expect(announced).toEqual(['1', '2']);
  });
});
