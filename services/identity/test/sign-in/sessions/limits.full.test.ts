import type { Answer } from '@platform/testing';
import { admin, type IdentityUnderTest, startIdentity } from '../../identity.js';

let identity: IdentityUnderTest;
let addressCount = 0;
/** Returns a new address for each test, passed as the gateway does, because all tests run on one machine. */
let address: string;

beforeAll(async () => {
  identity = await startIdentity({ environment: { TRUST_PROXY: '127.0.0.1' } });
});
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

test('limits an account to 100 failures over all networks, where an IPv6 network is a /64', async () => {
  const { email } = await identity.createMember(await identity.login());
  const inOneNetwork = await Promise.all(
    many(12, (index) => attempt(email, 'guess-guess', `2001:db8::${index}`)),
  );
  expect(getStatuses(inOneNetwork)).toEqual([...many(10, () => 401), 429, 429]);
  const elsewhere = await Promise.all(
    many(95, (index) => attempt(email, 'guess-guess', `2001:db8:1:${index}::1`)),
  );
  expect(getStatuses(elsewhere).filter((status) => status === 401)).toHaveLength(90);
});

test('resets the failures of an account after the right password', async () => {
  for (let round = 0; round < 2; round += 1) {
    await Promise.all(many(9, () => attempt(admin.email, 'not-the-password')));
    expect((await attempt(admin.email, admin.password)).status).toBe(200);
  }
  const { rows } = await identity.db.query(
    `select key from rate_limits where key like '%account%' and points = 0`,
  );
  expect(rows).toEqual([]);
});

test('limits an address to 100 failures over all accounts, without affecting other addresses', async () => {
  const answers = await Promise.all(
    many(110, (index) => attempt(`nobody-${index}@example.com`, 'some-password')),
  );
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
