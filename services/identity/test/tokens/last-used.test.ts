import { waitFor } from '@platform/testing';
import { type CreatedToken, startIdentity } from '../identity.js';

const path = '/api/v1/personal-access-tokens';
const HOUR = 60 * 60_000;

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

const generateToken = () => identity.createToken(session, { scopes: ['user:read'] });
const use = async ({ accessToken }: CreatedToken) => {
  expect((await identity.call('GET', '/api/v1/users/me', { token: accessToken })).status).toBe(200);
};

/** Returns the time that both lists show. */
async function lastUsedAt({ id }: CreatedToken): Promise<string | null> {
  const own = await identity.call('GET', path, { token: session });
  const everybodys = await identity.call('GET', `${path}/admin?limit=100`, { token: session });
  const find = (items: { id: string; lastUsedAt: string | null }[]) => items.find((item) => item.id === id);
  const seen = [find(own.body.tokens)?.lastUsedAt, find(everybodys.body.data)?.lastUsedAt];
  // A flush may happen between the two reads.
  return seen[0] === seen[1] ? (seen[0] ?? null) : lastUsedAt({ id } as CreatedToken);
}

/** Waits until everything that was used before has been written: a token that is used last is written with it. */
async function flushed(): Promise<void> {
  const marker = await generateToken();
  await use(marker);
  await waitFor(async () => (await lastUsedAt(marker)) !== null, {
    what: 'the next flush',
  });
}

test('both lists show the time of the last use, within a few seconds of it', async () => {
  const token = await generateToken();
  expect(await lastUsedAt(token)).toBeNull();
  const before = Date.now();
  await use(token);
  const after = Date.now();
  const seen = await waitFor(() => lastUsedAt(token), { what: 'the time of use' });
  const usedAt = Date.parse(seen ?? '');
  expect([usedAt >= before, usedAt <= after]).toEqual([true, true]);
  // The audit is searched by the time in its ids.
  const { rows } = await identity.db.query<{ id: string }>(
    "select id from audit_entries where action = 'token.first_used' and subject_id = $1",
    [token.id],
  );
  expect(rows.map(({ id }) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16))).toEqual([usedAt]);
  expect(rows[0]?.id).toMatch(/^.{14}7.{4}[89ab]/);
  // Later uses update it.
  identity.advance(HOUR);
  await use(token);
  await flushed();
  expect(Date.parse((await lastUsedAt(token)) ?? '')).toBeGreaterThanOrEqual(usedAt + HOUR);
});

test('the time of last use never moves back when a replica has a slow clock or writes late', async () => {
  const token = await generateToken();
  identity.advance(2 * HOUR);
  await use(token);
  await flushed();
  const latest = await lastUsedAt(token);
  identity.advance(-2 * HOUR);
  await use(token);
  await flushed();
  expect(await lastUsedAt(token)).toBe(latest);
});

test('retries a failed flush with the time of the use, not of the flush', async () => {
  const token = await generateToken();
  const blocker = await identity.db.connect();
  try {
    await blocker.query('begin; lock table token_last_used in exclusive mode');
    const before = Date.now();
    await use(token);
    const after = Date.now();
    const warnings = () => identity.logged().split('failed to write last-used times').length - 1;
    const cancelWaiting = () =>
      identity.db.query(
        `select pg_cancel_backend(pid) from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
    const hasFailed = async () => {
      await cancelWaiting();
      return warnings() >= 1;
    };
    await waitFor(hasFailed, { what: 'the flush that fails' });
    expect(await lastUsedAt(token)).toBeNull();
    await blocker.query('rollback');
    const seen = await waitFor(() => lastUsedAt(token), { what: 'the next flush' });
    const offsetMs = Date.parse(seen ?? '') - before;
    // The first test has advanced the clock of the service.
    expect(offsetMs).toBeGreaterThanOrEqual(HOUR);
    expect(offsetMs).toBeLessThanOrEqual(HOUR + (after - before));
  } finally {
    blocker.release();
  }
});
