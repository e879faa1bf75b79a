import type { Answer } from '@platform/testing';
import { toKey } from '../../../src/base/rate-limits/queries.js';
import { admin, startIdentity } from '../../identity.js';
import { createPhone, enrol } from '../second-factor/authenticator.js';

let addressCount = 0;
/** Returns a new address for each test, passed as the gateway does, because all tests run on one machine. */
let address: string;

const identity = await startIdentity({ environment: { TRUST_PROXY: '127.0.0.1' } });
beforeEach(() => {
  address = `192.0.2.${++addressCount}`;
});
afterAll(() => identity.close());

const attempt = (email: string, password: string, from = address): Promise<Answer> =>
  identity.call('POST', '/api/v1/auth/login', {
    body: { email, password },
    headers: { 'x-forwarded-for': from },
  });

const getStatuses = (answers: readonly Answer[]) =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b);
const many = <T>(count: number, of: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => of(index));
/** Makes so many attempts, fifty at a time: more passwords than that at once are too many to be hashed. */
async function attemptMany(count: number, of: (index: number) => Promise<Answer>): Promise<Answer[]> {
  const answers: Answer[] = [];
  while (answers.length < count) {
    const done = answers.length;
    answers.push(...(await Promise.all(many(Math.min(50, count - done), (index) => of(done + index)))));
  }
  return answers;
}

function expectLimited({ status, headers, body }: Answer): void {
  expect(status).toBe(429);
  expect(body).toEqual({ error: { code: 'RATE_LIMITED', message: expect.any(String) } });
  const seconds = Number(headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(800);
  expect(seconds).toBeLessThanOrEqual(900);
}

test('counts concurrent guesses, and then blocks the right password from that network but not from another', async () => {
  const { email } = await identity.createMember(await identity.login());
  const answers = await Promise.all(many(30, (index) => attempt(email, `guess-number-${index}`)));
  expect(getStatuses(answers)).toEqual([...many(10, () => 401), ...many(20, () => 429)]);
  expectLimited(await attempt(email, admin.password));
  expectLimited(await attempt(email.toUpperCase(), admin.password));
  expect((await attempt(email, admin.password, '198.51.100.1')).status).toBe(200);
});

test('limits an unknown account in the same way', async () => {
  const answers = await Promise.all(many(12, () => attempt('nobody@example.com', 'some-password')));
  expect(getStatuses(answers)).toEqual([...many(10, () => 401), 429, 429]);
});

const countGuesses = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 401).length;

test('limits an account to 100 failures over all networks', async () => {
  const { email } = await identity.createMember(await identity.login());
  const answers = await attemptMany(110, (index) =>
    attempt(email, 'guess-guess', `2001:db8:${index + 1}::1`),
  );
  expect(countGuesses(answers)).toBe(100);
});

test('limits the guesses at an account of an IPv6 host, of a home (/56) and of a site (/48)', async () => {
  const { email } = await identity.createMember(await identity.login());
  const guess = (count: number, toAddress: (index: number) => string) =>
    Promise.all(many(count, (index) => attempt(email, 'guess-guess', toAddress(index)))).then(countGuesses);
  expect(await guess(12, (index) => `2001:db8:a0:1::${index}`)).toBe(10);
  expect(await guess(20, (index) => `2001:db8:a0:${index + 10}::1`)).toBe(10);
  expect(await guess(30, (index) => `2001:db8:a0:1${index + 10}::1`)).toBe(20);
  expect(await guess(10, (index) => `2001:db8:a0:${index + 10}00::1`)).toBe(0);
  expect((await attempt(email, admin.password, '2001:db8:a1::1')).status).toBe(200);
});

test('limits the failures of an IPv6 home over all accounts', async () => {
  const answers = await attemptMany(210, (index) =>
    attempt(`nobody-${index}@example.com`, 'some-password', `2001:db8:b0:${index % 100}::1`),
  );
  expect(countGuesses(answers)).toBe(200);
  expect((await attempt(admin.email, admin.password, '2001:db8:b0:99::2')).status).toBe(429);
  expect((await attempt(admin.email, admin.password, '2001:db8:b0:100::2')).status).toBe(200);
});

test('limits the sign-ins of an account, and ends the oldest of more than 100 open sessions', async () => {
  const { email, session } = await identity.createMember(await identity.login());
  const sessionStatus = async (token: string) =>
    (await identity.call('GET', '/api/v1/users/me', { token })).status;
  for (let count = 1; count < 100; count += 1)
    expect((await attempt(email, admin.password, `198.51.100.${count}`)).status).toBe(200);
  expectLimited(await attempt(email, admin.password, '203.0.113.1'));
  expect((await attempt(admin.email, admin.password)).status).toBe(200);
  expect(await sessionStatus(session)).toBe(200);
  await identity.db.query(`delete from rate_limits where key like 'login:success:%'`);
  const { status, body } = await attempt(email, admin.password, '203.0.113.1');
  expect([status, await sessionStatus(body.accessToken as string), await sessionStatus(session)]).toEqual([
    200, 200, 401,
  ]);
  const { rows } = await identity.db.query(
    `select detail->>'sessionsEnded' as ended from audit_entries where action = 'session.created' order by id desc limit 1`,
  );
  expect(rows).toEqual([{ ended: '1' }]);
});

test('whoever knows the password, but lacks the second factor, does not use up the sign-ins of the owner', async () => {
  const member = await identity.createMember(await identity.login());
  await enrol(identity, createPhone(identity), member.session);
  const statuses = new Set<number>();
  for (let count = 0; count < 100; count += 1)
    statuses.add((await attempt(member.email, member.password)).status);
  expect([...statuses]).toEqual([401]);
  expectLimited(await attempt(member.email, member.password));
  const { status, body } = await attempt(member.email, member.password, '203.0.113.9');
  expect([status, body.error.code]).toEqual([401, 'SECOND_FACTOR_REQUIRED']);
});

test('resets the failures of an account after the right password', async () => {
  for (let round = 0; round < 2; round += 1) {
    await Promise.all(many(9, () => attempt(admin.email, 'not-the-password')));
    expect((await attempt(admin.email, admin.password)).status).toBe(200);
  }
  const { rows } = await identity.db.query('select points from rate_limits where key = $1', [
    `login:account:${toKey(admin.email)}`,
  ]);
  // Those of all networks together go on counting.
  expect(rows).toEqual([{ points: 18 }]);
});

test('limits an address to 100 failures over all accounts, without affecting other addresses', async () => {
  const answers = await attemptMany(110, (index) => attempt(`nobody-${index}@example.com`, 'some-password'));
  expect(getStatuses(answers)).toEqual([...many(100, () => 401), ...many(10, () => 429)]);
  expectLimited(await attempt(admin.email, admin.password));
  expect((await attempt(admin.email, admin.password, '198.51.100.2')).status).toBe(200);
});

test('limits the longest possible e-mail address as any other, and stores none in clear text', async () => {
  const email = `${'x'.repeat(242)}@example.com`;
  const answers = await Promise.all(many(11, () => attempt(email, 'some-password')));
  expect(getStatuses(answers)).toEqual([...many(10, () => 401), 429]);
  const { rows } = await identity.db.query(`select key from rate_limits where key like '%@%'`);
  expect(rows).toEqual([]);
});
