import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { BrokenPromiseError, createExplorer, createTestDatabase, type Exploration } from '../src/index.js';

/*
 * The explorer against small copies of what the services do, each once as it should be and once with a planted fault: a lock
 * removed, a check moved before the lock, a missing `for update`.
 */

const tables = `
  create table organisations (id uuid primary key);
  create table members (id uuid primary key, org_id uuid not null, is_admin boolean not null);
  create table tokens (id uuid primary key, org_id uuid not null, parent_id uuid, is_active boolean not null);
  create table runs (id uuid primary key, claims int not null, is_waiting boolean not null)`;

const database = await createTestDatabase({
  template: 'interleavings',
  migrationsDir: fileURLToPath(new URL('.', import.meta.url)),
  migrate: async (url) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(tables);
    await client.end();
  },
});
const db = new pg.Pool({ connectionString: database.url, max: 2 });
const explorer = createExplorer({ databaseUrl: database.url, connect: (pool) => pool });
afterAll(async () => {
  await explorer.close();
  await db.end();
  await database.drop();
});

type Send = (text: string, values?: unknown[]) => Promise<pg.QueryResult>;

async function inTransaction(pool: pg.Pool, work: (send: Send) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await work((text, values) => client.query(text, values));
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

type Fault = 'none' | 'no lock' | 'check before the lock' | 'no for update';

const refusal = (code: string) => Object.assign(new Error(code), { code });

/* The last administrator stays ------------------------------------------------------------------ */

async function createPair() {
  const [orgId, ada, bert] = [randomUUID(), randomUUID(), randomUUID()];
  await db.query('insert into organisations values ($1)', [orgId]);
  await db.query('insert into members values ($1, $3, true), ($2, $3, true)', [ada, bert, orgId]);
  return { orgId, ada, bert };
}

const demote = (pool: pg.Pool, orgId: string, id: string, fault: Fault) =>
  inTransaction(pool, async (send) => {
    if (fault !== 'no lock') await send('select from organisations where id = $1 for update', [orgId]);
    const others = 'select from members where org_id = $1 and is_admin and id <> $2';
    if ((await send(others, [orgId, id])).rowCount === 0) throw refusal('LAST_ADMIN');
    await send('update members set is_admin = false where id = $1', [id]);
  });

const demotions = (fault: Fault): Exploration<pg.Pool, Awaited<ReturnType<typeof createPair>>> => ({
  prepare: createPair,
  actors: {
    'demotes Ada': (pool, { orgId, ada }) => demote(pool, orgId, ada, fault),
    'demotes Bert': (pool, { orgId, bert }) => demote(pool, orgId, bert, fault),
  },
  mayFail: ['LAST_ADMIN'],
  async checkStep({ orgId }) {
    const { rowCount } = await db.query('select from members where org_id = $1 and is_admin', [orgId]);
    if (rowCount === 0) throw new Error('no administrator is left');
  },
});

/* No token outlives its creator ----------------------------------------------------------------- */

async function createParent() {
  const [orgId, parent] = [randomUUID(), randomUUID()];
  await db.query('insert into organisations values ($1)', [orgId]);
  await db.query('insert into tokens values ($1, $2, null, true)', [parent, orgId]);
  return { orgId, parent };
}

const createChild = (pool: pg.Pool, orgId: string, parent: string, fault: Fault) =>
  inTransaction(pool, async (send) => {
    const lock = () => send('select from organisations where id = $1 for update', [orgId]);
    if (fault !== 'check before the lock') await lock();
    const isActive = await send('select from tokens where id = $1 and is_active', [parent]);
    if (isActive.rowCount === 0) throw refusal('INVALID_CREDENTIAL');
    if (fault === 'check before the lock') await lock();
    await send('insert into tokens values ($1, $2, $3, true)', [randomUUID(), orgId, parent]);
  });

const revoke = (pool: pg.Pool, orgId: string, id: string) =>
  inTransaction(pool, async (send) => {
    await send('select from organisations where id = $1 for update', [orgId]);
    await send('update tokens set is_active = false where id = $1 or parent_id = $1', [id]);
  });

const creations = (fault: Fault): Exploration<pg.Pool, Awaited<ReturnType<typeof createParent>>> => ({
  prepare: createParent,
  actors: {
    creates: (pool, { orgId, parent }) => createChild(pool, orgId, parent, fault),
    revokes: (pool, { orgId, parent }) => revoke(pool, orgId, parent),
  },
  mayFail: ['INVALID_CREDENTIAL'],
  async checkStep({ orgId }, { revokes }) {
    if (!revokes) return;
    const { rowCount } = await db.query('select from tokens where org_id = $1 and is_active', [orgId]);
    if (rowCount !== 0) throw new Error('a token is active after its revocation was answered');
  },
});

/* No run twice ---------------------------------------------------------------------------------- */

async function createRun() {
  const id = randomUUID();
  await db.query('insert into runs values ($1, 0, true)', [id]);
  return { id };
}

const claim = (pool: pg.Pool, id: string, fault: Fault) =>
  inTransaction(pool, async (send) => {
    const waiting = 'select from runs where id = $1 and is_waiting';
    const { rowCount } = await send(fault === 'no for update' ? waiting : `${waiting} for update`, [id]);
    if (rowCount === 0) return;
    await send('update runs set is_waiting = false, claims = claims + 1 where id = $1', [id]);
  });

const claims = (fault: Fault): Exploration<pg.Pool, { id: string }> => ({
  prepare: createRun,
  actors: {
    'worker 1': (pool, { id }) => claim(pool, id, fault),
    'worker 2': (pool, { id }) => claim(pool, id, fault),
    'worker 3': (pool, { id }) => claim(pool, id, fault),
  },
  async checkEnd({ id }) {
    const { rows } = await db.query('select claims from runs where id = $1', [id]);
    expect(rows).toEqual([{ claims: 1 }]);
  },
});

async function findBroken(exploration: Promise<unknown>): Promise<BrokenPromiseError> {
  const error = await exploration.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof BrokenPromiseError)) throw new Error('no promise was broken', { cause: error });
  return error;
}

describe('OPS-30: a planted fault', () => {
  test('a lock that is removed is found', async () => {
    expect((await explorer.explore(demotions('none'))).isExhaustive).toBe(true);
    expect((await findBroken(explorer.explore(demotions('no lock')))).message).toContain(
      'no administrator is left',
    );
  });

  test('a check before the lock is found', async () => {
    expect((await explorer.explore(creations('none'))).isExhaustive).toBe(true);
    expect((await findBroken(explorer.explore(creations('check before the lock')))).message).toContain(
      'a token is active after its revocation was answered',
    );
  });

  test('a missing `for update` is found', async () => {
    expect((await explorer.explore(claims('none'))).tried).toBeGreaterThan(10);
    expect((await findBroken(explorer.explore(claims('no for update')))).message).toContain('claims');
  });

  test('is found again by each name that the explorer gives to the interleaving', async () => {
    const found = await findBroken(explorer.explore(demotions('no lock')));
    const again = await findBroken(explorer.explore({ ...demotions('no lock'), known: [found.replay] }));
    const withoutReplay = (message: string) => message.split('\n').slice(0, -1);
    expect(withoutReplay(again.message)).toEqual(withoutReplay(found.message));
  });
});

test('all interleavings are tried, each once, where there are few', async () => {
  const seen: string[] = [];
  let order = '';
  const send = (name: string, count: number) => async (pool: pg.Pool) => {
    for (let index = 0; index < count; index += 1) {
      await pool.query('select pg_advisory_unlock_all()');
      order += name;
    }
  };
  const report = await explorer.explore({
    prepare: async () => {
      order = '';
    },
    actors: { x: send('x', 3), y: send('y', 2) },
    checkEnd: async () => void seen.push(order),
  });
  expect(report.isExhaustive).toBe(true);
  expect(new Set(seen).size).toBe(10);
  // The last ones are those in the order of all; seeds have first told how many there are.
  expect(new Set(seen.slice(-10)).size).toBe(10);
});

test('of interleavings that differ in the order of statements that only read, one is tried', async () => {
  const seen: string[] = [];
  let order = '';
  const read =
    (name: string) =>
    async (pool: pg.Pool, { id }: { id: string }) => {
      for (let index = 0; index < 3; index += 1) {
        const { rows } = await pool.query('select claims from runs where id = $1', [id]);
        order += name + (rows[0] as { claims: number }).claims;
      }
    };
  const report = await explorer.explore({
    prepare: () => {
      order = '';
      return createRun();
    },
    actors: {
      x: read('x'),
      y: read('y'),
      change: (pool, { id }) => pool.query('update runs set claims = 1 where id = $1', [id]),
    },
    checkEnd: async () => void seen.push(order.match(/../g)?.toSorted().join('') ?? ''),
  });
  expect(report.isExhaustive).toBe(true);
  // Each reader sees the change before one of its reads, or after all; of 140 orders, few are tried.
  expect(new Set(seen).size).toBe(16);
  expect(report.tried).toBeLessThan(40);
});

test('a deadlock is an outcome, and the list shows who waits for whom', async () => {
  const lockBoth = (pool: pg.Pool, one: string, other: string) =>
    inTransaction(pool, async (send) => {
      await send('select from members where id = $1 for update', [one]);
      await send('select from members where id = $1 for update', [other]);
    });
  const crossing: Exploration<pg.Pool, Awaited<ReturnType<typeof createPair>>> = {
    prepare: createPair,
    actors: {
      forth: (pool, { ada, bert }) => lockBoth(pool, ada, bert),
      back: (pool, { ada, bert }) => lockBoth(pool, bert, ada),
    },
  };
  const { message } = await findBroken(explorer.explore(crossing));
  expect(message).toContain('deadlock detected');
  expect(message).toContain('— waits for forth');
  expect((await explorer.explore({ ...crossing, mayFail: ['40P01'] })).isExhaustive).toBe(true);
});
