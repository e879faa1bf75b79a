import { createLogger, createShutdown, DAY_MS } from '@platform/service-kit';
import type { TestDatabase } from '@platform/testing';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { endAttempts } from '../../src/features/queue/queue.sql.js';
import { createUpkeep } from '../../src/features/queue/upkeep.job.js';
import { openResources } from '../../src/resources.js';
import { createMailDatabase } from '../mail.js';
import { insertMailRow } from '../mail-rows.js';

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

/** Creates an upkeep that keeps unsent mails for a week and sent ones for ever, unless options say otherwise. */
const openUpkeep = (options: Partial<Parameters<typeof createUpkeep>[0]> = {}) =>
  createUpkeep({
    pool: db,
    clock: () => now,
    log,
    times: { leaseMs: 30_000, upkeepMs: 300, keyLifetimeMs: DAY_MS },
    unsentKeptDays: 7,
    recordsKeptDays: 0,
    onQueued: () => undefined,
    ...options,
  });

async function runUpkeep(options?: Parameters<typeof openUpkeep>[0]): Promise<void> {
  const upkeep = openUpkeep(options);
  await upkeep.start();
  await upkeep.stop();
}

const insert = (state: string, ageDays: number) =>
  insertMailRow(db, {
    id: uuidv7({ msecs: now - ageDays * DAY_MS }),
    state,
    subject: `${state} ${ageDays}`,
    createdAt: new Date(now - ageDays * DAY_MS),
    columns: { expires_at: new Date(now + DAY_MS) },
  });
const subjects = async () =>
  // oxfmt-ignore
  (await db.query<{ subject: string }>('select subject from mails order by subject')).rows.map(({ subject }) => subject);

test('failed and unknown mails are deleted after their retention; mails that were sent or have no outcome stay', async () => {
  for (const state of ['sent', 'queued', 'sending', 'failed', 'unknown'])
    for (const ageDays of [1, 8]) await insert(state, ageDays);
  await runUpkeep();
  // oxfmt-ignore
  expect(await subjects()).toEqual([
    'failed 1', 'queued 1', 'queued 8', 'sending 1', 'sending 8', 'sent 1', 'sent 8', 'unknown 1',
  ]);
});

test('records are deleted after their retention', async () => {
  for (const ageDays of [1, 29, 31, 400]) await insert('sent', ageDays);
  await runUpkeep({ recordsKeptDays: 30 });
  expect(await subjects()).toEqual(['sent 1', 'sent 29']);
});

test('an idempotency key is free after a day, but not before its mail has an outcome', async () => {
  const createdAt = new Date(now - 2 * DAY_MS);
  for (const state of ['queued', 'sending', 'sent', 'failed']) {
    const columns = { expires_at: new Date(now + DAY_MS), idempotency_key: state, request_digest: 'x' };
    await insertMailRow(db, { state, createdAt, columns });
  }
  await runUpkeep();
  const { rows } = await db.query('select state from mails where idempotency_key is not null order by 1');
  expect(rows).toEqual([{ state: 'queued' }, { state: 'sending' }]);
});

/** Each row: the state and age of 2,500 mails, how often the upkeep runs, and how many of them one run leaves. */
test.each([
  ['deletes all mails whose retention is over', 'failed', 8, 60_000, 0],
  ['deletes one batch of them when its time is over', 'failed', 8, 0, 1_500],
  ['ends all mails that expired in the queue', 'queued', 2, 60_000, 0],
  ['ends one batch of them when its time is over', 'queued', 2, 0, 1_500],
])('a run of the upkeep %s', async (_what, state, ageDays, upkeepMs, left) => {
  const createdAt = new Date(now - ageDays * DAY_MS);
  await insertMailRow(db, { state, createdAt, columns: { expires_at: new Date(now - 1) } });
  await db.query(
    `insert into mails (id, org_id, state, priority, caller_waits, next_attempt_at, expires_at, subject, from_address, to_addresses,
       cc_addresses, template_type, created_at, updated_at)
     select gen_random_uuid(), org_id, state, priority, caller_waits, next_attempt_at, expires_at, subject, from_address, to_addresses,
       cc_addresses, template_type, created_at, updated_at from mails cross join generate_series(1, 2499)`,
  );
  await runUpkeep({ times: { leaseMs: 30_000, upkeepMs, keyLifetimeMs: DAY_MS } });
  const { rows } = await db.query('select count(*)::int as left from mails where state = $1', [state]);
  expect(rows).toEqual([{ left }]);
});

test('a mail that expires in the queue fails, or is sent when somebody has it', async () => {
  const createdAt = new Date(now - 2 * DAY_MS);
  const expires_at = new Date(now - 1);
  const to = ['ada@example.com', 'bob@example.com'];
  const columns = { expires_at, sealed_request: 'x', can_resend: true };
  const failed = await insertMailRow(db, { state: 'queued', createdAt, to, columns });
  const sent = await insertMailRow(db, { state: 'queued', createdAt, to, columns });
  await db.query(
    `update mail_recipients set outcome = case address when 'ada@example.com' then 'accepted' else 'deferred' end where mail_id = $1`,
    [sent],
  );
  await runUpkeep();
  const { rows } = await db.query(
    'select id, state, problem, sealed_request, can_resend from mails order by state',
  );
  expect(rows).toEqual([
    { id: sent, state: 'sent', problem: { code: 'EEXPIRED' }, sealed_request: null, can_resend: false },
    { id: failed, state: 'failed', problem: { code: 'EEXPIRED' }, sealed_request: 'x', can_resend: true },
  ]);
  const outcomes = await db.query(
    'select address, outcome from mail_recipients where mail_id = $1 order by address',
    [sent],
  );
  expect(outcomes.rows.map(({ outcome }) => outcome as string)).toEqual(['accepted', 'refused']);
});

/** Each row: what the claim of a replica that died was like, and what becomes of the mail. */
test.each([
  ['a queued mail, before the message was begun', {}, 'queued'],
  ['a queued mail, after that', { data_begun: true }, 'unknown'],
  ['a mail whose caller waits, before the message was begun', { caller_waits: true }, undefined],
  ['a mail whose caller waits, after that', { caller_waits: true, data_begun: true }, 'unknown'],
  [
    'a security notice, after the message was begun',
    { data_begun: true, at_least_once: true, sealed_request: 'x' },
    'queued',
  ],
  [
    'a security notice whose caller waits, after the message was begun',
    { data_begun: true, at_least_once: true, sealed_request: 'x', caller_waits: true },
    'unknown',
  ],
  [
    'a security notice that was unknown before',
    { data_begun: true, at_least_once: true, sealed_request: 'x', unknown_attempts: 1 },
    'unknown',
  ],
])('the lease of %s expires', async (_name, columns, state) => {
  const id = await insertMailRow(db, {
    state: 'sending',
    columns: { lease_until: new Date(Date.now() - 1_000), claim: 1, ...columns },
  });
  await db.query(`insert into mail_attachments values ($1, 0, 0, 'x')`, [id]);
  await runUpkeep();
  const { rows } = await db.query('select state, lease_until from mails');
  const attachments = await db.query('select from mail_attachments');
  expect(attachments.rowCount).toBe(state === 'queued' ? 1 : 0);
  expect(rows).toEqual(state === undefined ? [] : [{ state, lease_until: null }]);
});

test('a claim that is renewed is left alone', async () => {
  await insertMailRow(db, { state: 'sending', columns: { claim: 1, data_begun: true } });
  await runUpkeep();
  expect((await db.query('select state from mails')).rows).toEqual([{ state: 'sending' }]);
});

test('MAIL-52 a statement that was planned for an empty table reads only its own rows when the table has grown', async () => {
  const shutdown = createShutdown(log);
  const orgId = uuidv7();
  const { journalPool: pool } = openResources({
    databaseUrl: database.url,
    maxConnections: 4,
    timeoutMs: 10_000,
    log,
    shutdown,
  });
  const end = (id: string) => endAttempts(pool, [{ id, claim: 1, state: 'sent' }], new Date(now));
  // The plan of the first execution is kept.
  for (let use = 0; use < 10; use += 1) await end(uuidv7());
  const to = ['to@example.com'];
  for (let count = 0; count < 500; count += 1) await insertMailRow(db, { orgId, to });
  const id = await insertMailRow(db, { orgId, to, state: 'sending', columns: { claim: 1 } });
  const recipients = JSON.stringify([{ mail_id: id, address: to[0], state: 'accepted', status: null }]);
  const explained = await pool.query<{ 'QUERY PLAN': string }>(
    `explain (analyze, costs off, timing off) execute end_attempts('{${id}}', '{"${id}": {"claim": 1, "state": "sent"}}', now(), '${recipients}')`,
  );
  const plan = explained.rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toContain('mails_pkey');
  expect(plan).not.toContain('Seq Scan on mail');
  const counts = [...plan.matchAll(/actual rows=(\d+)|Rows Removed by Filter: (\d+)/g)];
  expect(Math.max(...counts.map(([, rows, removed]) => Number(rows ?? removed)))).toBeLessThan(10);
  expect((await db.query('select state from mails where id = $1', [id])).rows).toEqual([{ state: 'sent' }]);
  await shutdown.run('test done');
});
