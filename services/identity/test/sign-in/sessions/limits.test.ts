import type { Answer } from '@platform/testing';
import { toNetwork } from '../../../src/base/network.js';
import { toKey } from '../../../src/base/rate-limits/rate-limits.sql.js';
import { createHttpBrowser, fieldIn, type HttpBrowser } from '../../browser.js';
import { admin, startIdentity } from '../../identity.js';
import { createPhone, enrol } from '../second-factor/authenticator.js';

let addressCount = 0;
/** A new address for each test, passed as the gateway does, because all tests run on one machine. */
let address: string;

const identity = await startIdentity({ environment: { TRUST_PROXY: '127.0.0.1' } });
const session = await identity.login();
beforeEach(() => {
  address = `192.0.2.${++addressCount}`;
});
afterAll(() => identity.close());

const attempt = (email: string, password: string, from = address): Promise<Answer> =>
  identity.call('POST', '/api/v1/auth/login', {
    body: { email, password },
    headers: { 'x-forwarded-for': from },
  });
const guess = (email: string, from = address) => attempt(email, 'guess-guess', from);

const getStatuses = (answers: readonly Answer[]) =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b);
const many = <T>(count: number, of: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => of(index));
const countGuesses = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 401).length;
/** Guesses at the same time, each from the address that belongs to its index. @returns how many were not refused. */
const guessFrom = async (email: string, count: number, toAddress: (index: number) => string) =>
  countGuesses(await Promise.all(many(count, (index) => guess(email, toAddress(index)))));

/** Uses counts that there are up to so many points, as attempts before would have. */
async function countAsUsed(keys: string, points: number): Promise<void> {
  const text = 'update rate_limits set points = $2 where key like $1';
  expect((await identity.db.query(text, [keys, points])).rowCount).toBeGreaterThan(0);
}
const accountKey = (email: string) => `login:account:${toKey(email)}`;
const addressKey = (from: string, ipv6: 48 | 56 | 64 = 64) =>
  `login:address:${toKey(toNetwork(from, { ipv4: 32, ipv6 }))}`;

function expectLimited({ status, headers, body }: Answer): void {
  expect(status).toBe(429);
  expect(body).toEqual({ error: { code: 'RATE_LIMITED', message: expect.any(String) } });
  const seconds = Number(headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(800);
  expect(seconds).toBeLessThanOrEqual(900);
}

test('counts concurrent guesses, and then blocks the right password from that network but not from another', async () => {
  const { email } = await identity.createMember(session);
  const answers = await Promise.all(many(30, () => guess(email)));
  expect(getStatuses(answers)).toEqual([...many(10, () => 401), ...many(20, () => 429)]);
  expectLimited(await attempt(email, admin.password));
  expectLimited(await attempt(email.toUpperCase(), admin.password));
  expect((await attempt(email, admin.password, '198.51.100.1')).status).toBe(200);
});

test('limits an unknown account, with the longest possible address, in the same way, and stores it nowhere', async () => {
  const email = `${'x'.repeat(242)}@example.com`;
  const answers = await Promise.all(many(12, () => guess(email)));
  expect(getStatuses(answers)).toEqual([...many(10, () => 401), 429, 429]);
  const { rows } = await identity.db.query(`select key from rate_limits where key like '%@%'`);
  expect(rows).toEqual([]);
});

test('limits an account to 100 failures over all networks', async () => {
  const { email } = await identity.createMember(session);
  await guess(email);
  await countAsUsed(accountKey(email), 97);
  expect(await guessFrom(email, 8, (index) => `2001:db8:${index + 1}::1`)).toBe(3);
});

test('limits the guesses at an account of an IPv6 host, of a home (/56) and of a site (/48)', async () => {
  const { email } = await identity.createMember(session);
  const from = (count: number, toAddress: (index: number) => string) => guessFrom(email, count, toAddress);
  expect(await from(12, (index) => `2001:db8:a0:1::${index}`)).toBe(10);
  expect(await from(20, (index) => `2001:db8:a0:${index + 10}::1`)).toBe(10);
  expect(await from(30, (index) => `2001:db8:a0:1${index + 10}::1`)).toBe(20);
  expect(await from(10, (index) => `2001:db8:a0:${index + 10}00::1`)).toBe(0);
  expect((await attempt(email, admin.password, '2001:db8:a1::1')).status).toBe(200);
});

test('limits an address to 100 failures over all accounts, and an IPv6 home to 200, without affecting others', async () => {
  for (const [used, limit, other, ipv6] of [
    [address, 100, '198.51.100.2', 64],
    ['2001:db8:b0:99::2', 200, '2001:db8:b0:100::2', 56],
  ] as const) {
    await guess('nobody@example.com', used);
    await countAsUsed(addressKey(used, ipv6), limit - 2);
    const answers = await Promise.all(many(4, (index) => guess(`nobody-${index}@example.com`, used)));
    expect(getStatuses(answers)).toEqual([401, 401, 429, 429]);
    expectLimited(await attempt(admin.email, admin.password, used));
    expect((await attempt(admin.email, admin.password, other)).status).toBe(200);
  }
});

test('limits the sign-ins of an account, and ends the oldest of more than 100 open sessions', async () => {
  const member = await identity.createMember(session);
  const getStatus = async (token: string) =>
    (await identity.call('GET', '/api/v1/users/me', { token })).status;
  const successes = `login:success:${toKey(member.email)}`;
  await countAsUsed(successes, 99);
  expect((await attempt(member.email, member.password)).status).toBe(200);
  expectLimited(await attempt(member.email, member.password, '203.0.113.1'));
  await identity.db.query('delete from rate_limits where key = $1', [successes]);
  await identity.db.query(
    `insert into sessions (id, org_id, user_id, token_hash, created_at, expires_at, first_factor, single_factor_generation)
     select overlay(gen_random_uuid()::text placing 'ffffffff-ffff-7' from 1 for 15)::uuid, org_id, user_id, n::text,
            created_at, expires_at, first_factor, single_factor_generation
     from (select * from sessions where user_id = $1 limit 1) as opened, generate_series(1, 98) n`,
    [member.id],
  );
  expect(await getStatus(member.session)).toBe(200);
  expect((await attempt(member.email, member.password)).status).toBe(200);
  expect(await getStatus(member.session)).toBe(401);
  const { rows } = await identity.db.query(
    `select detail->>'sessionsEnded' as ended from audit_entries
     where action = 'session.created' and actor_id = $1 order by id desc limit 1`,
    [member.id],
  );
  expect(rows).toEqual([{ ended: '1' }]);
});

test('whoever knows the password, but lacks the second factor, does not use up the sign-ins of the owner', async () => {
  const member = await identity.createMember(session);
  await enrol(identity, createPhone(identity), member.session);
  expect((await attempt(member.email, member.password)).status).toBe(401);
  await countAsUsed('login:pending:%', 99);
  expect((await attempt(member.email, member.password)).status).toBe(401);
  expectLimited(await attempt(member.email, member.password));
  const { status, body } = await attempt(member.email, member.password, '203.0.113.9');
  expect([status, body.error.code]).toEqual([401, 'SECOND_FACTOR_REQUIRED']);
});

test('resets the failures of an account after the right password', async () => {
  const { email, password } = await identity.createMember(session);
  for (let round = 0; round < 2; round += 1) {
    await Promise.all(many(9, () => guess(email)));
    expect((await attempt(email, password)).status).toBe(200);
  }
  const { rows } = await identity.db.query('select points from rate_limits where key = $1', [
    accountKey(email),
  ]);
  // The attempts of all networks together go on counting.
  expect(rows).toEqual([{ points: 18 }]);
});

describe('AUTH-13 where everybody has the same address, such as an office', () => {
  const openBrowser = () => createHttpBrowser(identity.url, address);

  /** Has the address, and the account at it, refused. */
  async function useUpLimits(email: string): Promise<void> {
    await guess(email);
    for (const key of [accountKey(email), addressKey(address)]) await countAsUsed(key, 1_000);
  }

  test('guesses lock nobody out of a browser in which they have signed in', async () => {
    const [member, other] = [await identity.createMember(session), await identity.createMember(session)];
    const [known, unknown] = [openBrowser(), openBrowser()];
    expect((await known.signIn(member)).status).toBe(303);
    await useUpLimits(member.email);
    expect((await guess('somebody@example.com')).status).toBe(429);
    expect((await unknown.signIn(member)).status).toBe(429);
    expect((await known.signIn(member)).status).toBe(303);
    // The known browser has as many guesses as any other, and its place is that of this account alone.
    for (let count = 0; count < 10; count += 1)
      expect((await known.signIn({ ...member, password: 'guess-guess' })).status).toBe(401);
    expect((await known.signIn(member)).status).toBe(429);
    expect((await known.signIn(other)).status).toBe(429);
  });

  test('guesses do not keep a session from being confirmed', async () => {
    const member = await identity.createMember(session);
    await useUpLimits(member.email);
    const confirm = (currentPassword: string) =>
      identity.call('POST', '/api/v1/sessions/confirm', {
        token: member.session,
        body: { currentPassword },
        headers: { 'x-forwarded-for': address },
      });
    expect((await confirm(member.password)).status).toBe(200);
    for (let count = 0; count < 10; count += 1) expect((await confirm('guess-guess')).status).toBe(400);
    expect((await confirm(member.password)).status).toBe(429);
  });

  test('codes can be requested in a known browser when others have used them up', async () => {
    const member = await identity.createMember(session);
    const known = openBrowser();
    expect((await known.signIn(member)).status).toBe(303);
    const body = { email: 'nobody@example.com' };
    const headers = { 'x-forwarded-for': address };
    await identity.call('POST', '/api/v1/auth/otp', { body, headers });
    await countAsUsed('code:address:%', 50);
    const request = async (browser: HttpBrowser) => {
      const page = await browser.open('/sign-in/code?prompt=login');
      const fields = { csrf: fieldIn(page, 'csrf'), returnTo: '/', email: member.email };
      return (await browser.post('/sign-in/code', fields)).status;
    };
    expect([await request(openBrowser()), await request(known)]).toEqual([429, 200]);
  });
});
