import { createLogger, createShutdown, DAY_MS, type Shutdown } from '@platform/service-kit';
import { type TestDatabase, waitFor } from '@platform/testing';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { storeOutcomes } from '../../src/features/journal/queries.js';
import { createJournal } from '../../src/features/journal/service.js';
import { openResources } from '../../src/resources.js';
import { createMailDatabase } from '../mail.js';

const now = Date.parse('2026-11-21T12:00:00Z');
const log = createLogger('mail', 'silent');

let database: TestDatabase;
let db: pg.Pool;
beforeEach(async () => {
  database = await createMailDatabase();
  db = new pg.Pool({ connectionString: database.url, max: 1 });
});
afterEach(async () => {
  await db.end();
  await database.drop();
});

/** Creates a journal that keeps unsent mails for a week and sent ones for ever, unless options say otherwise. */
const openJournal = (options: Partial<Parameters<typeof createJournal>[0]> = {}) =>
  createJournal({
    pool: db,
    heartbeatPool: db,
    clock: () => now,
    log,
    unsentKeptDays: 7,
    recordsKeptDays: 0,
    ...options,
  });

const openPools = (shutdown: Shutdown, timeoutMs: number) =>
  openResources({ databaseUrl: database.url, maxConnections: 1, timeoutMs, log, shutdown });

const insert = (state: string, ageDays: number) =>
  db.query(
    `insert into mails (id, org_id, state, sender_id, subject, from_address, to_addresses, cc_addresses, template_type, created_at, updated_at)
     values ($1, $1, $2, $1, $3, 'a@b.example', '{}', '{}', 'loginWithOTP', $4, $4)`,
    [uuidv7(), state, `${state} ${ageDays}`, new Date(now - ageDays * DAY_MS)],
  );
const subjects = async () =>
  // prettier-ignore
  (await db.query<{ subject: string }>('select subject from mails order by subject')).rows.map(({ subject }) => subject);

test('failed and unknown mails are deleted after their retention; sent and pending ones stay', async () => {
  for (const state of ['sent', 'pending', 'failed', 'unknown'])
    for (const ageDays of [1, 6, 8]) await insert(state, ageDays);
  const journal = openJournal();
  await journal.start();
  await journal.stop();
  // prettier-ignore
  expect(await subjects()).toEqual([
    'failed 1', 'failed 6', 'pending 1', 'pending 6', 'pending 8', 'sent 1', 'sent 6', 'sent 8', 'unknown 1', 'unknown 6',
  ]);
});

test('records are deleted and no longer counted after their retention', async () => {
  const orgId = uuidv7();
  const insertSent = (ageDays: number) =>
    db.query(
      `insert into mails (id, org_id, state, sender_id, subject, from_address, to_addresses, cc_addresses, template_type, created_at, updated_at)
       values ($1, $2, 'pending', $2, $3, 'a@b.example', '{}', '{}', 'loginWithOTP', $4, $4)`,
      [uuidv7({ msecs: now - ageDays * DAY_MS }), orgId, `sent ${ageDays}`, new Date(now - ageDays * DAY_MS)],
    );
  for (const ageDays of [1, 29, 31, 400]) await insertSent(ageDays);
  await db.query(`update mails set state = 'sent'`);
  const journal = openJournal({ recordsKeptDays: 30 });
  await journal.start();
  await journal.stop();
  expect(await subjects()).toEqual(['sent 1', 'sent 29']);
  const { rows } = await db.query('select sent::int from mail_counters where org_id = $1', [orgId]);
  expect(rows).toEqual([{ sent: 2 }]);
});

test('each heartbeat deletes at most a thousand expired mails', async () => {
  await db.query(
    `insert into mails (id, org_id, state, sender_id, subject, from_address, to_addresses, cc_addresses, template_type, created_at, updated_at)
     select gen_random_uuid(), $1, 'failed', $1, 'old', 'a@b.example', '{}', '{}', 'loginWithOTP', $2, $2 from generate_series(1, 2500)`,
    [uuidv7(), new Date(now - 8 * DAY_MS)],
  );
  const times = { heartbeatMs: 300, senderTimeoutMs: 10_000, keyLifetimeMs: DAY_MS };
  const journal = openJournal({ times });
  await journal.start();
  expect(await subjects()).toHaveLength(1_500);
  await waitFor(async () => (await subjects()).length === 0, { what: 'the deletion of the old mails' });
  await journal.stop();
});

test('statements that occupy every connection do not delay the heartbeats', async () => {
  await insert('sent', 2);
  await db.query(`update mails set idempotency_key = 'old', request_digest = 'x'`);
  const shutdown = createShutdown(log);
  const { pool, heartbeatPool } = openPools(shutdown, 60_000);
  const lock = new pg.Client({ connectionString: database.url });
  await lock.connect();
  await lock.query('begin');
  await lock.query('select from mails for update');
  const times = { heartbeatMs: 100, senderTimeoutMs: 2_000, keyLifetimeMs: DAY_MS };
  const journal = openJournal({ pool, heartbeatPool, times });
  const started = journal.start();
  const isUpkeepWaiting = async () =>
    (
      await db.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      )
    ).rowCount === 1;
  await waitFor(isUpkeepWaiting, { what: 'upkeep that waits for the lock' });
  const waitingSince = performance.now();
  const ages: number[] = [];
  await waitFor(
    async () => {
      const { rows } = await db.query<{ ageMs: number }>(
        `select extract(epoch from now() - seen_at)::float * 1000 as "ageMs" from senders`,
      );
      ages.push(rows[0]?.ageMs ?? Number.POSITIVE_INFINITY);
      return performance.now() - waitingSince > 2 * times.senderTimeoutMs;
    },
    { what: 'several heartbeats' },
  );
  expect(Math.max(...ages)).toBeLessThan(times.senderTimeoutMs);
  expect(await isUpkeepWaiting()).toBe(true);
  await lock.query('rollback');
  await lock.end();
  await started;
  await journal.stop();
  await shutdown.run('test done');
});

test('a statement that was planned for an empty table reads only its own rows when the table has grown', async () => {
  const shutdown = createShutdown(log);
  const { pool } = openPools(shutdown, 10_000);
  const store = (id: string) => storeOutcomes(pool, [{ id, state: 'sent', refused: [] }], new Date(now));
  // PostgreSQL would switch to a generic plan after five executions.
  for (let use = 0; use < 10; use += 1) await store(uuidv7());
  await db.query(
    `insert into mails (id, org_id, state, sender_id, subject, from_address, to_addresses, cc_addresses, template_type, created_at, updated_at)
     select gen_random_uuid(), $1, 'sent', $1, 'sent', 'a@b.example', '{}', '{}', 'loginWithOTP', $2, $2 from generate_series(1, 500)`,
    [uuidv7(), new Date(now)],
  );
  await insert('pending', 0);
  const { rows } = await db.query<{ id: string }>(`select id from mails where state = 'pending'`);
  const id = rows[0]?.id ?? '';
  const explained = await pool.query<{ 'QUERY PLAN': string }>(
    `explain (analyze, costs off, timing off) execute store_outcomes('{${id}}', '{"${id}": {"state": "sent", "refused": []}}', now())`,
  );
  const plan = explained.rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toContain('mails_pkey');
  expect(plan).not.toContain('Rows Removed');
  expect((await db.query('select state from mails where id = $1', [id])).rows).toEqual([{ state: 'sent' }]);
  await shutdown.run('test done');
});
