import { waitFor } from '@platform/testing';
import { codeIn, password, type Platform, startPlatform, statusesOf } from './platform.js';

let platform: Platform;
const MINUTE = 60_000;
const subject = /^Your sign-in code$/;

beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

const login = (email: string, otp: string) => platform.post('login', { email, otp });

async function requestCode(email: string, count = 1): Promise<string> {
  expect((await platform.post('otp', { email })).status).toBe(202);
  return codeIn(await platform.mailTo(email, subject, count));
}

/** Another code than the right one. */
const wrong = (code: string, offset = 1) => String((Number(code) + offset) % 1_000_000).padStart(6, '0');

test('a mailed code logs in once, in any case of the address, and stands in no table, log or audit', async () => {
  const { email } = await platform.createUser();
  const code = await requestCode(email.toUpperCase());
  expect(code).toMatch(/^\d{6}$/);
  const { rows } = await platform.identity.db.query<{ stored: string }>(
    `select json_agg(s)::text as stored from one_time_secrets s`,
  );
  expect(rows[0]?.stored).toContain('login_code');
  expect(rows[0]?.stored).not.toContain(code);
  const answer = await login(email.toUpperCase(), code);
  expect([answer.status, answer.body.user?.email]).toEqual([200, email]);
  const me = await platform.identity.call('GET', '/api/v1/users/me', { token: answer.body.accessToken });
  expect(me.status).toBe(200);
  expect((await login(email, code)).status).toBe(401);
  const audit = await platform.identity.db.query<{ all: string }>(`select json_agg(a)::text as all from audit_entries a`);
  expect(audit.rows[0]?.all).toContain('"method":"code"'.replace(':', ': '));
  expect(audit.rows[0]?.all).not.toContain(code);
  expect(platform.identity.logged()).not.toContain(code);
}); // prettier-ignore

test('of ten right guesses at once one logs in', async () => {
  const { email } = await platform.createUser();
  const code = await requestCode(email);
  const answers = await Promise.all(Array.from({ length: 10 }, () => login(email, code)));
  expect(statusesOf(answers)).toEqual([200, ...Array.from({ length: 9 }, () => 401)]);
});

test('of guesses at once five count: then the right code is worth nothing', async () => {
  const { email } = await platform.createUser();
  const code = await requestCode(email);
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, index) => login(email, wrong(code, index + 1))),
  );
  expect(statusesOf(answers)).toEqual(Array.from({ length: 6 }, () => 401));
  expect((await login(email, code)).status).toBe(401);
  const { rows } = await platform.identity.db.query<{ tries_left: number }>(
    `select tries_left from one_time_secrets s join users u on u.id = s.user_id where email = $1`,
    [email],
  );
  expect(rows).toEqual([{ tries_left: 0 }]);
});

test('the fifth guess may be the right one', async () => {
  const { email } = await platform.createUser();
  const code = await requestCode(email);
  for (let guess = 1; guess <= 4; guess += 1)
    expect((await login(email, wrong(code, guess))).status).toBe(401);
  expect((await login(email, code)).status).toBe(200);
});

test("a code is good for its own account only, and a newer one ends it", async () => {
  const [one, other] = [await platform.createUser(), await platform.createUser()];
  const code = await requestCode(one.email);
  expect((await login(other.email, code)).status).toBe(401);
  const newer = await requestCode(one.email, 2);
  // Once in a million times both are the same.
  const older = newer === code ? wrong(code) : code;
  expect((await login(one.email, older)).status).toBe(401);
  expect((await login(one.email, newer)).status).toBe(200);
}); // prettier-ignore

test('a password that changes while the code is looked at leaves the code worth nothing', async () => {
  const { email } = await platform.createUser();
  const code = await requestCode(email);
  const { db } = platform.identity;
  const other = await db.connect();
  await other.query('begin');
  await other.query(`select from one_time_secrets s join users u on u.id = s.user_id where email = $1 for update of s`, [email]);
  const answer = login(email, code);
  await waitFor(async () => (await db.query(`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`)).rowCount === 1, { what: 'a guess that waits' });
  await db.query(`update users set password_hash = 'another' where email = $1`, [email]);
  await other.query('commit');
  other.release();
  expect((await answer).status).toBe(401);
}); // prettier-ignore

test('a removed member logs in with no code', async () => {
  const { id, email } = await platform.createUser();
  const code = await requestCode(email);
  await platform.identity.call('DELETE', `/api/v1/users/${id}`, { token: platform.session });
  expect((await login(email, code)).status).toBe(401);
});

test.each([
  {},
  { otp: '12345' },
  { otp: '1234567' },
  { otp: '12345a' },
  { otp: '١٢٣٤٥٦' },
  { otp: '123456\n' },
  { otp: 123_456 },
  { otp: '123456', password },
])('login refuses %j with 400', async (proof) => {
  const { status, body } = await platform.post('login', { email: 'a@example.com', ...proof });
  expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
});

test('a code works for ten minutes and no longer', async () => {
  const [early, late] = [await platform.createUser(), await platform.createUser()];
  const codes = [await requestCode(early.email), await requestCode(late.email)];
  platform.identity.advance(10 * MINUTE - 20_000);
  expect((await login(early.email, codes[0] ?? '')).status).toBe(200);
  platform.identity.advance(20_000);
  expect((await login(late.email, codes[1] ?? '')).status).toBe(401);
});
