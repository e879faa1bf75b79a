import { createHttpBrowser, fieldIn } from '../../browser.js';
import { startIdentity } from '../../identity.js';

/** An office: everybody there has the same address. */
const office = '192.0.2.1';

const identity = await startIdentity({ environment: { TRUST_PROXY: '127.0.0.1' } });
const member = await identity.createMember(await identity.login());
afterAll(() => identity.close());

const openBrowser = () => createHttpBrowser(identity.url, office);
const guess = (email: string) =>
  identity.call('POST', '/api/v1/auth/login', {
    body: { email, password: 'guess-guess' },
    headers: { 'x-forwarded-for': office },
  });

/** Guesses until the address, and the account at it, are refused. */
async function useUpLimits(): Promise<void> {
  for (let round = 0; round < 11; round += 1)
    await Promise.all(
      Array.from({ length: 10 }, () => guess(round === 0 ? member.email : `nobody-${round}@example.com`)),
    );
}

test('AUTH-13 guesses at the same address lock nobody out of a browser in which they have signed in', async () => {
  const [known, unknown] = [openBrowser(), openBrowser()];
  expect((await known.signIn(member)).status).toBe(303);
  await useUpLimits();
  expect((await guess('somebody@example.com')).status).toBe(429);
  expect((await unknown.signIn(member)).status).toBe(429);
  expect((await known.signIn(member)).status).toBe(303);
  // The known browser has as many guesses as any other, and its place is that of this account alone.
  for (let count = 0; count < 10; count += 1)
    expect((await known.signIn({ ...member, password: 'guess-guess' })).status).toBe(401);
  expect((await known.signIn(member)).status).toBe(429);
  const other = await identity.createMember(await identity.login());
  expect((await known.signIn(other)).status).toBe(429);
  expect((await openBrowser().signIn(other)).status).toBe(429);
});

test('AUTH-13 guesses at the same address do not keep a session from being confirmed', async () => {
  const { session } = await identity.createMember(await identity.login());
  await useUpLimits();
  const confirm = (currentPassword: string) =>
    identity.call('POST', '/api/v1/sessions/confirm', {
      token: session,
      body: { currentPassword },
      headers: { 'x-forwarded-for': office },
    });
  expect((await confirm(member.password)).status).toBe(200);
  for (let count = 0; count < 10; count += 1) expect((await confirm('guess-guess')).status).toBe(400);
  expect((await confirm(member.password)).status).toBe(429);
});

test('AUTH-13 codes can be requested in a known browser when others at the address have used them up', async () => {
  const known = openBrowser();
  const other = await identity.createMember(await identity.login());
  await identity.db.query(`delete from rate_limits where key like 'login:%'`);
  expect((await known.signIn(other)).status).toBe(303);
  await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      identity.call('POST', '/api/v1/auth/otp', {
        body: { email: `nobody-${index}@example.com` },
        headers: { 'x-forwarded-for': office },
      }),
    ),
  );
  const request = async (browser: typeof known) => {
    const page = await browser.open('/sign-in/code?prompt=login');
    return (
      await browser.post('/sign-in/code', {
        csrf: fieldIn(page, 'csrf'),
        returnTo: '/',
        email: other.email,
      })
    ).status;
  };
  expect([await request(openBrowser()), await request(known)]).toEqual([429, 200]);
});
