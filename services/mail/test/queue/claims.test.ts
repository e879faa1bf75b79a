import { once } from 'node:events';
import { createLogger } from '@platform/service-kit';
import { type TestDatabase, waitFor } from '@platform/testing';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';
import { createDispatcher } from '../../src/features/queue/dispatcher.job.js';
import { createJournal } from '../../src/features/queue/journal.js';
import { type ClaimLimits, claimMails, FIRST_ORGANISATION } from '../../src/features/queue/claim.sql.js';
import { endAttempts, expireLeases, markDataBegun } from '../../src/features/queue/queue.sql.js';
import { createSlots } from '../../src/features/queue/slots.js';
import { createMailDatabase } from '../mail.js';
import { insertMailRow } from '../mail-rows.js';

let database: TestDatabase;
let db: pg.Pool;
beforeEach(async () => {
  database = await createMailDatabase();
  db = new pg.Pool({ connectionString: database.url, max: 4 });
});
afterEach(async () => {
  await db.end();
  await database.drop();
});

const now = () => new Date(Date.now() + 1_000);

/** Claims mails as a replica does with nothing in progress. */
const claim = (limits: Partial<ClaimLimits> = {}, pool: Pick<pg.Pool, 'query'> = db) =>
  claimMails(pool as pg.Pool, now(), 30_000, {
    limit: 100,
    limitOfOthers: limits.limit ?? 100,
    after: FIRST_ORGANISATION,
    defaultRoom: { others: 5, all: 6 },
    rooms: new Map(),
    ...limits,
  });

/** Queues mails of an organisation, in this order. */
async function queue(orgId: string, priorities: readonly number[]): Promise<void> {
  for (const [index, priority] of priorities.entries())
    await insertMailRow(db, {
      orgId,
      state: 'queued',
      createdAt: new Date(Date.now() - 60_000 + index),
      columns: { priority, expires_at: new Date(Date.now() + 3_600_000) },
    });
}

test('organisations take turns, however many mails one of them has', async () => {
  const [many, few] = [uuidv7(), uuidv7()];
  await queue(
    many,
    Array.from({ length: 50 }, () => 2),
  );
  await queue(few, [2, 2]);
  const claimed = await claim({ limit: 4 });
  const counts = [many, few].map((org) => claimed.filter(({ orgId }) => orgId === org).length);
  expect(counts).toEqual([2, 2]);
});

test('MAIL-48 the next claim goes on after the organisation that had the last turn, around all of them', async () => {
  const organisations = Array.from({ length: 7 }, () => uuidv7()).toSorted();
  // One of them has more due mails than are looked at while few are due.
  for (const [index, orgId] of organisations.entries())
    await queue(
      orgId,
      Array.from({ length: index === 0 ? 250 : 6 }, () => 2),
    );
  const turns: string[] = [];
  for (let after = FIRST_ORGANISATION; turns.length < 21;) {
    const claimed = await claim({ limit: 3, after });
    turns.push(...claimed.map(({ orgId }) => orgId));
    after = claimed.at(-1)?.orgId ?? after;
  }
  expect(turns).toEqual([...organisations, ...organisations, ...organisations]);
});

test('MAIL-48 an organisation without room is passed over, and its codes are not', async () => {
  const [busy, other] = [uuidv7(), uuidv7()];
  await queue(busy, [2, 2, 0]);
  await queue(other, [2]);
  const claimed = await claim({ limit: 3, rooms: new Map([[busy, { others: 0, all: 1 }]]) });
  expect(claimed.map(({ orgId, priority }) => [orgId, priority])).toEqual([
    [busy, 0],
    [other, 2],
  ]);
});

test('MAIL-48 codes go before the mails of all organisations, also when only codes may start', async () => {
  for (let count = 0; count < 4; count += 1) await queue(uuidv7(), [2, 2]);
  const orgId = uuidv7();
  await queue(orgId, [0, 2]);
  const first = await claim({ limit: 2, limitOfOthers: 1 });
  expect(first.map(({ priority }) => priority)).toEqual([0, 2]);
  await queue(orgId, [0]);
  expect((await claim({ limit: 2, limitOfOthers: 0 })).map(({ priority }) => priority)).toEqual([0]);
});

test('codes go before notices, and notices before everything else', async () => {
  const orgId = uuidv7();
  await queue(orgId, [2, 2, 1, 0]);
  expect((await claim({ limit: 3 })).map(({ priority }) => priority)).toEqual([0, 1, 2]);
});

test('one connection of an organisation is kept free for codes', async () => {
  const orgId = uuidv7();
  await queue(orgId, [2, 2, 2, 2, 2, 2, 2, 1]);
  expect(await claim()).toHaveLength(5);
  const rooms = new Map([[orgId, { others: 0, all: 1 }]]);
  expect(await claim({ rooms })).toEqual([]);
  await queue(orgId, [0, 0]);
  const codes = await claim({ rooms });
  expect(codes.map(({ priority }) => priority)).toEqual([0]);
});

/** Queues mails of each organisation, which are due in an hour. */
const queueMany = (organisations: number, mailsOfEach: number) =>
  db.query(
    `insert into mails (id, org_id, state, priority, caller_waits, next_attempt_at, expires_at, subject, from_address, to_addresses,
       cc_addresses, template_type, created_at, updated_at)
     select gen_random_uuid(), lpad((number % $1)::text, 32, '0')::uuid, 'queued', 2, false, now() + interval '1 hour',
       now() + interval '1 day', 'bulk', 'from@example.com', '{to@example.com}', '{}', 'accountCreation', now(), now()
     from generate_series(1, $2::int * $1::int) number`,
    [organisations, mailsOfEach],
  );

test('a claim reads few rows, however many organisations wait, and whatever the statistics say', async () => {
  await db.query(`alter table mails set (autovacuum_enabled = off)`);
  await queueMany(1_200, 10);
  await db.query('analyze mails');
  /** Explains the statements of a claim. @returns how many blocks they read. */
  const countBlocks = async (): Promise<number> => {
    let blocks = 0;
    const query = async (statement: { readonly text: string; readonly values: unknown[] }) => {
      const client = await db.connect();
      const { text, values } = statement;
      await client.query('begin');
      const { rows } = await client.query(`explain (analyze, buffers, format json) ${text}`, values);
      await client.query('rollback');
      client.release();
      blocks += rows[0]['QUERY PLAN'][0].Plan['Shared Hit Blocks'] as number;
      return { rows: [] };
    };
    await claim({ limit: 50 }, { query } as unknown as pg.Pool);
    return blocks;
  };
  expect(await countBlocks()).toBeLessThan(100);
  await db.query(`update mails set next_attempt_at = now() - interval '1 hour'`);
  // Fifty organisations, a few mails of each.
  expect(await countBlocks()).toBeLessThan(5_000);
});

test('all organisations have their turns while very many mails are due, and no code waits for one', async () => {
  await queueMany(600, 2);
  await db.query(`update mails set next_attempt_at = now() - interval '1 hour'`);
  const { journal, dispatcher } = openDispatcher();
  await queue('ffffffff-0000-0000-0000-000000000000', [2, 0]);
  const sent: { readonly orgId: string; readonly priority: number }[] = [];
  dispatcher.start(async ({ id, claim: number, orgId, priority }) => {
    sent.push({ orgId, priority });
    return { id, claim: number, state: 'sent' };
  });
  try {
    await waitFor(() => sent.length === 1_202, { what: 'all mails' });
    expect(sent.findIndex(({ priority }) => priority === 0)).toBeLessThan(5);
    // The second turn of nobody comes before the first one of somebody else.
    const bulk = sent.filter(({ priority }) => priority === 2).map(({ orgId }) => orgId);
    expect(new Set(bulk.slice(0, 601)).size).toBeGreaterThan(570);
  } finally {
    await dispatcher.stop();
    await journal.stop();
  }
});

test('concurrent claims get each mail once', async () => {
  await queue(
    uuidv7(),
    Array.from({ length: 20 }, () => 2),
  );
  const limits = { defaultRoom: { others: 20, all: 20 } };
  const claimed = (await Promise.all([claim(limits), claim(limits), claim(limits)])).flat();
  expect(new Set(claimed.map(({ id }) => id)).size).toBe(claimed.length);
});

function openDispatcher(pool = db) {
  const deps = {
    pool,
    journalPool: pool,
    clock: Date.now,
    log: createLogger('mail', 'silent'),
    leaseMs: 300,
  };
  const journal = createJournal(deps);
  const dispatcher = createDispatcher({
    ...deps,
    journal,
    connectionsPerOrganisation: 10,
    maxInFlight: 5,
    graceMs: 1_000,
  });
  return { journal, dispatcher };
}

test('MAIL-49 a mail whose caller waits causes no claim when it ends, unless queued ones of its organisation wait', async () => {
  const orgId = uuidv7();
  const freed: boolean[] = [];
  const slots = createSlots({
    perOrganisation: 2,
    maxSilent: 1,
    clock: Date.now,
    onFreed: (isNews) => freed.push(isNews),
  });
  const acquire = () => slots.acquire(orgId, 2, performance.now() + 60_000);
  await acquire();
  expect(slots.getRooms()).toEqual(new Map([[orgId, { others: 1, all: 2 }]]));
  slots.release(orgId, 2);
  await Promise.all([acquire(), acquire()]);
  expect(slots.getRooms()).toEqual(new Map([[orgId, { others: 0, all: 1 }]]));
  const third = acquire();
  slots.release(orgId, 2);
  await third;
  slots.release(orgId, 2);
  expect(freed).toEqual([false, false, true]);
});

test('MAIL-50 mails that begin and end in the same moment share their statements', async () => {
  const counts: Record<string, number> = {};
  const query = (statement: { readonly name: string }, ...rest: unknown[]) => {
    counts[statement.name] = (counts[statement.name] ?? 0) + 1;
    return (db.query as (...values: unknown[]) => unknown)(statement, ...rest);
  };
  const { journal, dispatcher } = openDispatcher({ query } as unknown as pg.Pool);
  for (let count = 0; count < 4; count += 1) await queue(uuidv7(), [2]);
  dispatcher.start(async ({ id, claim: number }, { onData }) => {
    await onData();
    return { id, claim: number, state: 'sent' };
  });
  try {
    const findSent = () => db.query(`select from mails where state = 'sent'`);
    await waitFor(async () => (await findSent()).rowCount === 4, { what: 'all mails' });
    expect(counts).toMatchObject({ mark_data_begun: 1, end_attempts: 1 });
  } finally {
    await dispatcher.stop();
    await journal.stop();
  }
});

test('a part of the mails in flight is kept for codes', async () => {
  const { journal, dispatcher } = openDispatcher();
  const orgId = uuidv7();
  await queue(orgId, [1, 1, 1, 2, 2, 2]);
  const begun: number[] = [];
  dispatcher.start(async ({ id, claim: number, priority }, { signal }) => {
    begun.push(priority);
    await once(signal, 'abort');
    return { id, claim: number, state: 'queued', nextAttemptAt: new Date() };
  });
  try {
    await waitFor(() => begun.length >= 4, { what: 'mails in flight' });
    await queue(orgId, [0, 0]);
    await waitFor(() => begun.length >= 5, { what: 'the code' });
    expect(begun.slice(3)).toEqual([2, 0]);
  } finally {
    await dispatcher.stop();
    await journal.stop();
  }
});

test('of an organisation whose server does not answer, one mail is tried at a time', async () => {
  const { journal, dispatcher } = openDispatcher();
  const [silent, answering] = [uuidv7(), uuidv7()];
  const many = Array.from({ length: 10 }, () => 2);
  await queue(silent, many);
  const firstTimeout = new AbortController();
  let begun = 0;
  dispatcher.start(async ({ id, claim: number, orgId }, { signal }) => {
    if (orgId === answering) return { id, claim: number, state: 'sent' };
    begun += 1;
    // What reaches no server says nothing about it.
    if (begun === 5) return { id, claim: number, state: 'failed', problem: { code: 'EREQUEST' } };
    await once(begun <= 4 ? firstTimeout.signal : signal, 'abort');
    const nextAttemptAt = new Date(Date.now() + 60_000);
    return { id, claim: number, state: 'queued', problem: { code: 'ETIMEDOUT' }, nextAttemptAt };
  });
  try {
    await waitFor(() => begun === 4, { what: 'mails in flight' });
    await queue(answering, many);
    firstTimeout.abort();
    await waitFor(() => begun === 6, { what: 'the next attempts' });
    const findSent = () => db.query(`select from mails where state = 'sent'`);
    await waitFor(async () => (await findSent()).rowCount === many.length, { what: 'the other mails' });
    expect(begun).toBe(6);
  } finally {
    await dispatcher.stop();
    await journal.stop();
  }
});

test('a mail whose attempt throws before its message is begun is tried again soon, and the attempt is not counted', async () => {
  const { journal, dispatcher } = openDispatcher();
  await queue(uuidv7(), [2]);
  await db.query(`update mails set sealed_request = 'x'`);
  let attempts = 0;
  dispatcher.start(async ({ id, claim: number }) => {
    attempts += 1;
    if (attempts === 1) throw new Error('the brand cannot be read');
    return { id, claim: number, state: 'sent' };
  });
  try {
    // The test ends no leases.
    const isSent = async () => (await db.query(`select from mails where state = 'sent'`)).rowCount === 1;
    await waitFor(isSent, { what: 'the second attempt' });
    expect((await db.query('select attempts from mails')).rows).toEqual([{ attempts: 1 }]);
  } finally {
    await dispatcher.stop();
    await journal.stop();
  }
});

test('the lease of a code is short, is renewed, and is that of other mails once its message is begun', async () => {
  const measureLease = async () => {
    const { rows } = await db.query(
      `select extract(epoch from lease_until - clock_timestamp())::float as seconds from mails where priority = 0`,
    );
    return rows[0].seconds as number;
  };
  await queue(uuidv7(), [0, 2]);
  const [code, other] = await claim();
  if (!code || !other) throw new Error('nothing was claimed');
  expect([code.priority, other.priority]).toEqual([0, 2]);
  expect(await measureLease()).toBeLessThanOrEqual(1.5);
  const log = createLogger('mail', 'silent');
  const journal = createJournal({ pool: db, journalPool: db, clock: Date.now, log, leaseMs: 30_000 });
  try {
    journal.hold(code);
    await db.query('update mails set lease_until = now() where priority = 0');
    await waitFor(async () => (await measureLease()) > 0.5, { what: 'the renewal' });
    expect(await measureLease()).toBeLessThanOrEqual(1.5);
    await journal.begin(code);
    expect(await measureLease()).toBeGreaterThan(20);
  } finally {
    await journal.stop();
  }
});

test('a write of an earlier claim takes no effect', async () => {
  await queue(uuidv7(), [2]);
  const [first] = await claim();
  if (!first) throw new Error('nothing was claimed');
  await db.query(`update mails set state = 'queued', lease_until = null`);
  const [second] = await claim();
  expect(second).toMatchObject({ id: first.id, claim: 2, attempts: 2 });
  expect(await markDataBegun(db, [first], 30_000)).toEqual(new Set());
  expect(await endAttempts(db, [{ ...first, state: 'sent' }], now())).toEqual(new Set());
  expect(await markDataBegun(db, [{ id: first.id, claim: 2 }], 30_000)).toEqual(new Set([first.id]));
  const { rows } = await db.query('select state, data_begun from mails');
  expect(rows).toEqual([{ state: 'sending', data_begun: true }]);
});

test('the outcome of a claim whose lease expired is stored, until the mail is claimed again', async () => {
  await queue(uuidv7(), [2]);
  const [first] = await claim();
  if (!first) throw new Error('nothing was claimed');
  await db.query(`update mails set state = 'queued', lease_until = null`);
  const unknown = { ...first, state: 'unknown', isUnknown: true } as const;
  expect(await endAttempts(db, [unknown], now())).toEqual(new Set());
  expect(await endAttempts(db, [{ ...first, state: 'sent' }], now())).toEqual(new Set([first.id]));
  expect((await db.query('select state from mails')).rows).toEqual([{ state: 'sent' }]);
});

test('each state in which a mail ends is one fact, however often the end is stored', async () => {
  const orgId = uuidv7();
  await queue(orgId, [2]);
  const [mail] = await claim();
  if (!mail) throw new Error('nothing was claimed');
  await db.query(`update mails set data_begun = true, lease_until = now() - interval '1 s'`);
  expect(await expireLeases(db)).toMatchObject({ unknown: 1 });
  const unknown = { ...mail, state: 'unknown', isUnknown: true } as const;
  expect(await endAttempts(db, [unknown], now())).toEqual(new Set([mail.id]));
  expect(await endAttempts(db, [{ ...mail, state: 'sent' }], now())).toEqual(new Set([mail.id]));
  expect(await endAttempts(db, [{ ...mail, state: 'sent' }], now())).toEqual(new Set());
  const facts = await db.query(
    `select type, data ->> 'mailId' as id from facts where org_id = $1 order by created_at`,
    [orgId],
  );
  expect(facts.rows).toEqual([
    { type: 'mail.unknown', id: mail.id },
    { type: 'mail.sent', id: mail.id },
  ]);
});

test('the end of an earlier claim leaves the lease of the next one', async () => {
  const log = createLogger('mail', 'silent');
  const journal = createJournal({ pool: db, journalPool: db, clock: Date.now, log, leaseMs: 300 });
  await queue(uuidv7(), [2]);
  const [first] = await claim();
  await db.query(`update mails set state = 'queued', lease_until = null`);
  const [second] = await claim();
  if (!first || !second) throw new Error('nothing was claimed');
  try {
    [first, second].forEach(journal.hold);
    await Promise.all([expect(journal.begin(first)).rejects.toThrow('expired'), journal.begin(second)]);
    await journal.end({ id: first.id, claim: first.claim, state: 'sent' });
    await db.query('update mails set lease_until = now()');
    await waitFor(
      async () => (await db.query('select from mails where lease_until > now()')).rowCount === 1,
      {
        what: 'the renewal',
      },
    );
  } finally {
    await journal.stop();
  }
});

test('an outcome that cannot be stored does not hold up the others of its batch', async () => {
  const log = createLogger('mail', 'silent');
  const journal = createJournal({ pool: db, journalPool: db, clock: Date.now, log, leaseMs: 30_000 });
  await queue(uuidv7(), [2, 2]);
  const [first, second] = await claim();
  if (!first || !second) throw new Error('nothing was claimed');
  try {
    await Promise.all([
      journal.end({ id: first.id, claim: 1, state: 'no such state' as 'sent' }),
      journal.end({ id: second.id, claim: 1, state: 'sent' }),
    ]);
    const isSent = async () =>
      (await db.query(`select from mails where id = $1 and state = 'sent'`, [second.id])).rowCount === 1;
    await waitFor(isSent, { what: 'the other outcome' });
    expect(journal.backlog).toBe(1);
  } finally {
    await journal.stop();
  }
});

test('mails that are not due, or have expired, are not claimed', async () => {
  const future = new Date(Date.now() + 60_000);
  await insertMailRow(db, { state: 'queued', columns: { next_attempt_at: future } });
  await insertMailRow(db, { state: 'queued', columns: { expires_at: new Date(Date.now() - 1_000) } });
  expect(await claim()).toEqual([]);
});

test('a claim reads only as many mails as it may get, however long the queue is, and whatever the statistics say', async () => {
  await insertMailRow(db, { state: 'queued' });
  const copy = `
    insert into mails (id, org_id, state, priority, caller_waits, next_attempt_at, expires_at, subject, from_address, to_addresses,
       cc_addresses, template_type, created_at, updated_at)
     select gen_random_uuid(), org_id, state, priority, caller_waits, next_attempt_at + n * $1::interval, expires_at, subject,
       from_address, to_addresses, cc_addresses, template_type, created_at, updated_at
     from (select * from mails limit 1) one cross join generate_series(1, $2::int) as n`;
  await db.query('alter table mails set (autovacuum_enabled = false)');
  // The first statistics are those of a queue in which nothing is due.
  await db.query(copy, ['1 hour', 2_000]);
  await db.query('vacuum analyze mails');
  await db.query(copy, ['-1 ms', 20_000]);
  const client = await db.connect();
  await client.query('set plan_cache_mode = force_custom_plan');
  // Prepares the statements on this connection.
  await claim({ limit: 0 }, client);
  const explain = async (statement: string) => {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(
      `explain (analyze, costs off, timing off) execute ${statement}`,
    );
    return rows.map((row) => row['QUERY PLAN']);
  };
  try {
    for (const statement of ['select', 'vacuum analyze mails']) {
      await db.query(statement);
      const plan = [
        ...(await explain(
          `claim_mails(now() + interval '1 s', 5, 5, '${FIRST_ORGANISATION}', 5, 6, '{}', 1000)`,
        )),
      ].join('\n');
      expect(plan).not.toContain('Seq Scan on mails');
      // No step reads more than the mails of one claim in each of its priorities, or the mails that show how many organisations are due.
      const counts = [...plan.matchAll(/actual rows=(\d+)/g)].map(([, count]) => Number(count));
      expect(Math.max(...counts)).toBeLessThanOrEqual(200);
    }
  } finally {
    client.release();
  }
});
