import { join } from 'node:path';
import { createTestDatabase } from '@platform/testing';
import pg from 'pg';
import {
  type Connector,
  createSyncEvent,
  insertOutboxEvent,
  outboxSql,
  type SyncEvent,
} from '../../src/index.js';

/** The event of a row with an `id`, an `org` and a `number`. */
const EVENT = `json_build_object('eventId', id, 'eventType', 'SyncFiles1Event', 'timestamp', 1700000000000 + number,
  'payload', json_build_object('orgId', org, 'connector', 'files_1', 'origin', 'CONNECTOR',
    'createdAtTimestamp', number::text, 'updatedAtTimestamp', number::text, 'sourceCreatedAtTimestamp', number::text))`;

/** A database that contains only the outbox. */
export interface OutboxDatabase {
  readonly url: string;
  readonly pool: pg.Pool;
  /** Inserts one event of a new run, in a separate transaction. */
  add(orgId: string, connector?: Connector): Promise<SyncEvent>;
  /** Inserts many events in one statement; their numbers distinguish runs and keys. */
  addMany(count: number, keys: number): Promise<void>;
  /** Inserts events of these organisations with their positions, as a relay leaves them. */
  addPlaced(count: number, orgs: readonly string[]): Promise<void>;
  countPending(): Promise<number>;
  /** Returns the keys that have events which are not published. */
  pendingKeys(): Promise<string[]>;
  /** Returns the ids of each key in the order of their positions. */
  idsByKey(): Promise<Map<string, string[]>>;
  drop(): Promise<void>;
}

export async function createOutboxDatabase(adminUrl?: string): Promise<OutboxDatabase> {
  const database = await createTestDatabase({
    template: 'events',
    migrationsDir: join(import.meta.dirname, '..', '..', 'src'),
    migrate,
    ...(adminUrl && { adminUrl }),
  });
  const pool = new pg.Pool({ connectionString: database.url, max: 4 });
  // Tests stop the server.
  pool.on('error', () => undefined);
  return {
    url: database.url,
    pool,
    async add(orgId, connector = 'files_1') {
      const event = createSyncEvent({ orgId, connector, now: Date.now() });
      await insertOutboxEvent(pool, event, { runId: event.eventId });
      return event;
    },
    async addMany(count, keys) {
      await pool.query(
        `insert into outbox.events (event_id, cause, org_id, event_key, event)
         select id, id, org, org || ':files_1', ${EVENT}
           from (select gen_random_uuid() as id, 'org-' || (number % $2) as org, number
                   from generate_series(1, $1::int) as number) as numbered`,
        [count, keys],
      );
    },
    async addPlaced(count, orgs) {
      await pool.query(
        `with head as (update outbox.head set position = position + $1 returning position - $1 as last)
         insert into outbox.events (event_id, cause, org_id, event_key, event, position)
         select id, id, org, org || ':files_1', ${EVENT}, last + number
           from head, lateral (select gen_random_uuid() as id, $2::text[] as orgs, number
                  from generate_series(1, $1::bigint) as number) as numbered,
                lateral (select orgs[1 + number % array_length(orgs, 1)] as org) as named`,
        [count, orgs],
      );
      await pool.query('analyze outbox.events');
    },
    async countPending() {
      const { rows } = await pool.query<{ count: number }>(
        'select count(*)::int from outbox.events where published_at is null',
      );
      return rows[0]?.count ?? Number.NaN;
    },
    async pendingKeys() {
      const { rows } = await pool.query<{ key: string }>(
        'select distinct event_key as key from outbox.events where published_at is null',
      );
      return rows.map(({ key }) => key);
    },
    async idsByKey() {
      const { rows } = await pool.query<{ key: string; ids: string[] }>(
        `select event_key as key, array_agg(event_id order by position) as ids from outbox.events group by 1`,
      );
      return new Map(rows.map(({ key, ids }) => [key, ids]));
    },
    async drop() {
      await pool.end();
      await database.drop();
    },
  };
}

async function migrate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(outboxSql);
  await client.end();
}
