import { randomUUID } from 'node:crypto';
import { inTransaction } from '@platform/service-kit';
import { createExplorer } from '@platform/testing';
import type pg from 'pg';
import { createSyncEvent, insertOutboxEvent, readEvents } from '../src/index.js';
import { assignPositions } from '../src/positions.js';
import { createOutboxDatabase } from './support/outbox-database.js';

const database = await createOutboxDatabase();
const explorer = createExplorer({ databaseUrl: database.url, connect: (pool) => pool });
afterAll(async () => {
  await explorer.close();
  await database.drop();
});

/** Writes an event in a transaction that commits later, as the end of a run does. */
const write = async (pool: pg.Pool, orgId: string): Promise<string> => {
  const event = createSyncEvent({ orgId, connector: 'wiki_1', now: 0 });
  await inTransaction(pool, (tx) => insertOutboxEvent(tx, event, { runId: event.eventId }));
  return event.eventId;
};

interface Read {
  readonly seen: readonly string[];
  readonly cursor: string | undefined;
}

/** Follows the feed for some pages. */
async function follow(pool: pg.Pool, orgId: string, pages: number, from?: Read): Promise<Read> {
  const seen = [...(from?.seen ?? [])];
  let cursor = from?.cursor;
  for (let count = 0; count < pages; count += 1) {
    const page = await readEvents(pool, { orgId, limit: 1, ...(cursor !== undefined && { after: cursor }) });
    seen.push(...page.data.map(({ eventId }) => eventId));
    cursor = page.nextCursor ?? undefined;
  }
  return { seen, cursor };
}

test('OPS-30: a reader sees every event once, in whichever order they are committed, positioned and read', async () => {
  const { tried } = await explorer.explore({
    prepare: async () => randomUUID(),
    actors: {
      'a run ends': write,
      'another run ends': write,
      'a relay positions': (pool) => assignPositions(pool, 100),
      'a reader reads': (pool, orgId) => follow(pool, orgId, 2),
    },
    async checkEnd(orgId, outcomes) {
      const written = ['a run ends', 'another run ends'].map((name) => outcomes[name]?.value as string);
      const { seen } = await follow(database.pool, orgId, 4, outcomes['a reader reads']?.value as Read);
      expect(seen.toSorted()).toEqual(written.toSorted());
    },
  });
  expect(tried).toBeGreaterThan(100);
});
