import { password, startPlatform } from './platform.js';

const subject = /^New sign-in to your account$/;
const chrome = (version: number) =>
  `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`;

const platform = await startPlatform();
afterAll(() => platform.close());

async function login(email: string, address: string, userAgent = chrome(140), secret = password) {
  const headers = { 'x-forwarded-for': address, 'user-agent': userAgent };
  return (await platform.post('login', { email, password: secret }, headers)).status;
}

/** Waits until the outbox is empty. */
async function countAlarms(email: string): Promise<number> {
  await platform.drained();
  return platform.mailsTo(email).filter((mail) => subject.test(mail.subject ?? '')).length;
}

test('sends no notice of the first sign-in or of later ones from the same device', async () => {
  const { email } = await platform.createUser();
  expect(await login(email, '192.0.2.1')).toBe(200);
  expect(await login(email, '192.0.2.200', chrome(141))).toBe(200);
  expect(await countAlarms(email)).toBe(0);
});

test.each([
  ['network', '198.51.100.7', chrome(140), /Chrome \(Windows\)/],
  ['program', '192.0.2.1', 'curl/8.5.0', /curl/],
  ['IPv6 network', '2001:db8::1', chrome(140), /Chrome \(Windows\)/],
])('sends one notice of a sign-in from another %s, with the time and the origin', async (_what, address, agent, device) => {
  const { id, email } = await platform.createUser();
  await login(email, '192.0.2.1');
  expect(await login(email, address, agent)).toBe(200);
  const { text = '' } = await platform.mailTo(email, subject);
  expect(text).toMatch(/Time: +\d+ \w+ \d{4} at \d\d:\d\d UTC/);
  expect(text).toMatch(device);
  expect(text).toContain(address);
  expect(await login(email, address, agent)).toBe(200);
  const { rows } = await platform.identity.db.query(
    `select event -> 'data' ->> 'address' as address from outbox.events
     where event ->> 'type' = 'session.suspicious' and event -> 'data' ->> 'actorId' = $1`,
    [id],
  );
  expect(rows).toEqual([{ address }]);
  expect(await countAlarms(email)).toBe(1);
}); // prettier-ignore

test('sends no notice of a failed sign-in', async () => {
  const { email } = await platform.createUser();
  await login(email, '192.0.2.1');
  expect(await login(email, '203.0.113.9', chrome(140), 'not-the-password')).toBe(401);
  expect(await countAlarms(email)).toBe(0);
});

test('stores a bounded number of devices, the latest ones, without naming a network', async () => {
  const { id, email } = await platform.createUser();
  const at = (index: number) => `10.0.${index}.1`;
  for (let index = 0; index < 55; index += 1) expect(await login(email, at(index))).toBe(200);
  const { rows } = await platform.identity.db.query<{ count: string; text: string }>(
    `select count(*), string_agg(client, ' ') as text from known_clients where user_id = $1`,
    [id],
  );
  expect(rows[0]?.count).toBe('50');
  expect(rows[0]?.text).not.toContain('10.0.');
  const before = await countAlarms(email);
  await login(email, at(54));
  expect(await countAlarms(email)).toBe(before);
  await login(email, at(0));
  expect(await countAlarms(email)).toBe(before + 1);
});

test('does not record a sign-in from this machine that passed no gateway, such as the launcher', async () => {
  const { email } = await platform.createUser();
  const body = { email, password };
  expect((await platform.post('login', body, { 'user-agent': 'node' })).status).toBe(200);
  expect(await login(email, '127.0.0.1')).toBe(200);
  expect(await countAlarms(email)).toBe(0);
  expect(await login(email, '203.0.113.9')).toBe(200);
  expect(await countAlarms(email)).toBe(1);
});
