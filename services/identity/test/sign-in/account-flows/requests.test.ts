import { type Answer, waitFor } from '@platform/testing';
import { toNetwork } from '../../../src/base/network.js';
import { toKey } from '../../../src/base/rate-limits/rate-limits.sql.js';
import { startIdentity } from '../../identity.js';

/*
 * The mail service isn't needed for what is asked here: nothing listens on this port.
 */
let addresses = 0;

const identity = await startIdentity({
  environment: { MAIL_URL: 'http://127.0.0.1:9', TRUST_PROXY: '127.0.0.1' },
});
afterAll(() => identity.close());

const newAddress = () => `192.0.2.${++addresses}`;
const post = (path: string, body: object, address: string) =>
  identity.call('POST', `/api/v1/auth/${path}`, { body, headers: { 'x-forwarded-for': address } });
/** Uses so many of the attempts that an address has at the limit of this name. */
async function useUp(limit: string, address: string, points: number): Promise<void> {
  const key = `${limit}:address:${toKey(toNetwork(address, { ipv4: 32, ipv6: 64 }))}`;
  const text = 'update rate_limits set points = $2 where key = $1';
  expect((await identity.db.query(text, [key, points])).rowCount).toBe(1);
}
const visible = ({ status, text, headers }: Answer) => [
  status,
  text,
  [...headers.keys()].toSorted((a, b) => a.localeCompare(b)),
];

test.each(['otp', 'password/forgot'])('%s responds with the same 202 whether or not the account exists', async (path) => {
  const { email } = await identity.createMember(await identity.login());
  const [known, unknown] = [
    await post(path, { email }, newAddress()),
    await post(path, { email: `nobody-${path.length}@example.com` }, newAddress()),
  ];
  expect(known.status).toBe(202);
  expect(visible(unknown)).toEqual(visible(known));
}); // oxfmt-ignore

test('verifying a code does the same work whether or not the account exists', async () => {
  const { email } = await identity.createMember(await identity.login());
  const nobody = 'nobody-with-a-code@example.com';
  for (const each of [email, nobody]) await post('otp', { email: each }, newAddress());
  const triesLeft = async () =>
    (
      await identity.db.query<{ is_real: boolean; tries_left: number }>(
        `select user_id is not null as is_real, tries_left from one_time_secrets
         where subject in (select encode(sha256(e::bytea), 'hex') from unnest($1::text[]) e)
            or subject in (select rtrim(translate(encode(sha256(e::bytea), 'base64'), '+/', '-_'), '=') from unnest($1::text[]) e)
         order by is_real`,
        [[email, nobody]],
      )
    ).rows;
  await waitFor(async () => (await triesLeft()).length === 2, { what: 'both codes' });
  const answers = await Promise.all(
    [email, nobody].map((each) => post('login', { email: each, otp: '000000' }, newAddress())),
  );
  expect(visible(answers[0] as Answer)).toEqual(visible(answers[1] as Answer));
  expect(await triesLeft()).toEqual([
    { is_real: false, tries_left: 29 },
    { is_real: true, tries_left: 29 },
  ]);
});

test.each([
  ['otp', 'code'],
  ['password/forgot', 'reset'],
])('%s is limited per account and network, and per network, without locking other networks out', async (path, limit) => {
  const ask = (email: string, address: string) => post(path, { email }, address);
  const email = `limited-${limit}@example.com`;
  const stranger = newAddress();
  const statuses = await Promise.all(Array.from({ length: 8 }, () => ask(email, stranger)));
  expect(statuses.filter(({ status }) => status === 202)).toHaveLength(5);
  expect(statuses.find(({ status }) => status === 429)?.headers.get('retry-after')).toMatch(/^[89]\d\d$/);
  expect((await ask(email, newAddress())).status).toBe(202);
  await useUp(limit, stranger, 48);
  const many = await Promise.all([1, 2, 3, 4].map((index) => ask(`${limit}-${index}@example.com`, stranger)));
  expect(many.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 202, 429, 429]);
  expect((await ask('another@example.com', newAddress())).status).toBe(202);
}); // oxfmt-ignore

const mailsFor = async (email: string): Promise<string[]> =>
  (
    await identity.db.query<{ id: string }>('select id from outgoing_mails where email = $1 order by id', [email])
  ).rows.map(({ id }) => id); // oxfmt-ignore
/** Counts all mails so far: one is dropped before its first attempt when a later code has replaced its own. */
function createMailCount(email: string): () => Promise<number> {
  const ids = new Set<string>();
  return async () => (await mailsFor(email)).reduce((all, id) => all.add(id), ids).size;
}
const minutePassed = () => identity.db.query(`delete from rate_limits where key like 'mail:minute:%'`);

test('mails an address at most 10 codes and links a day for one network, and still those for others and the owner', async () => {
  const { email, password } = await identity.createMember(await identity.login());
  const home = newAddress();
  expect((await post('login', { email, password }, home)).status).toBe(200);
  const stranger = '198.51.1.7';
  // The limit of attempts is cleared: a patient stranger stays below it.
  const askAsStranger = async (path: string) => {
    await identity.db.query(`delete from rate_limits where key not like 'mail:%'`);
    const response = await post(path, { email }, stranger);
    expect([response.status, response.body.message]).toEqual([202, expect.any(String)]);
  };
  const countMails = createMailCount(email);
  for (let round = 0; round < 12; round += 1) {
    await minutePassed();
    await askAsStranger(round % 2 === 0 ? 'otp' : 'password/forgot');
    expect(await countMails()).toBe(Math.min(round + 1, 10));
  }
  await minutePassed();
  // A refused request starts no cooldown: the next ones are mailed within the same minute.
  await askAsStranger('otp');
  await askAsStranger('password/forgot');
  await post('otp', { email }, home);
  await post('password/forgot', { email }, '198.51.2.7');
  expect(await countMails()).toBe(12);
});

test('mails an address at most 100 codes and links a day, and more only to a known device of its owner', async () => {
  const { email, password } = await identity.createMember(await identity.login());
  const home = newAddress();
  expect((await post('login', { email, password }, home)).status).toBe(200);
  await post('otp', { email }, '198.51.3.7');
  await identity.db.query(`update rate_limits set points = 100 where key like 'mail:day:%'`);
  await minutePassed();
  const countMails = createMailCount(email);
  await post('otp', { email }, '198.51.3.7');
  expect(await countMails()).toBe(1);
  await post('otp', { email }, home);
  expect(await countMails()).toBe(2);
  await minutePassed();
  identity.advance(24 * 60 * 60_000);
  await post('otp', { email }, '198.51.3.7');
  const { rowCount } = await identity.db.query(
    `select from outgoing_mails where email = $1 and created_at > now() + interval '23 hours'`,
    [email],
  );
  expect(rowCount).toBe(1);
  identity.advance(-24 * 60 * 60_000);
});

test.each(['otp', 'password/forgot'])('%s that could not be stored starts no cooldown, so that the next one is mailed', async (path) => {
  // A mail to an address without an account is dropped at once.
  const { email } = await identity.createMember(await identity.login());
  await identity.db.query('alter table outgoing_mails add constraint broken check (false) not valid');
  try {
    expect((await post(path, { email }, newAddress())).status).toBeGreaterThanOrEqual(500);
  } finally {
    await identity.db.query('alter table outgoing_mails drop constraint broken');
  }
  expect((await post(path, { email }, newAddress())).status).toBe(202);
  expect(await mailsFor(email)).toHaveLength(1);
  expect((await post(path, { email }, newAddress())).status).toBe(202);
  expect(await mailsFor(email)).toHaveLength(1);
}); // oxfmt-ignore

test.each(['password/reset', 'invitations/accept'])(
  '%s is limited per address and per link',
  async (path) => {
    const attempt = (token: string, address: string) =>
      post(path, { token, password: 'long-enough-password' }, address);
    const countTried = (answers: readonly Answer[]) => answers.filter(({ status }) => status === 400).length;
    const one = Array.from({ length: 12 }, () => attempt(`${path}-same`, newAddress()));
    expect(countTried(await Promise.all(one))).toBe(10);
    const address = newAddress();
    await attempt(`${path}-first`, address);
    await useUp('link', address, 48);
    const many = [1, 2, 3, 4].map((index) => attempt(`${path}-${index}`, address));
    expect(countTried(await Promise.all(many))).toBe(2);
  },
);

test('the limits contain neither the requested addresses nor the attempted tokens', async () => {
  const { rowCount } = await identity.db.query(
    `select key from rate_limits where key like '%@%' or key like '%same%'`,
  );
  expect(rowCount).toBe(0);
});
