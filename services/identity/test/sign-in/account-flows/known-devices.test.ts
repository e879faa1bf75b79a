import { createLogger, createShutdown } from '@platform/service-kit';
import { toDeviceId } from '../../../src/base/caller/client.js';
import { openResources } from '../../../src/resources.js';
import { findPlace, isKnownDevice, recordBrowser } from '../../../src/sign-in/known-devices/service.js';
import { startPlatform } from './platform.js';
import { password } from './users.js';

const chrome = (version: number) =>
  `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`;
const curl = { address: '192.0.2.7', userAgent: 'curl/8', isLocal: false, requestId: 'r' };

const platform = await startPlatform();
const { db, prisma } = platform.identity;
afterAll(() => platform.close());

async function login(email: string, address: string, userAgent = chrome(140), secret = password) {
  const headers = { 'x-forwarded-for': address, 'user-agent': userAgent };
  return (await platform.post('login', { email, password: secret }, headers)).status;
}
const rememberCurl = (userId: string) =>
  db.query('insert into known_clients (user_id, client, seen_at) values ($1, $2, $3)', [
    userId,
    toDeviceId(curl),
    new Date(0),
  ]);

/** Returns the notices of sign-ins that were mailed, once there are no others. */
async function findNotices(email: string) {
  await platform.drained();
  return platform.mailsTo(email, /^New sign-in to your account$/).map(({ text }) => text);
}

test('sends no notice of the first sign-in, of later ones from the same device, or of a failed one', async () => {
  const { email } = await platform.createUser();
  expect(await login(email, '192.0.2.1')).toBe(200);
  expect(await login(email, '192.0.2.200', chrome(141))).toBe(200);
  expect(await login(email, '203.0.113.9', chrome(140), 'not-the-password')).toBe(401);
  expect(await findNotices(email)).toEqual([]);
});

test.each([
  ['network', '198.51.100.7', chrome(140), 'Chrome (Windows)'],
  ['program', '192.0.2.1', 'curl/8.5.0', 'curl'],
  ['IPv6 network', '2001:db8::1', chrome(140), 'Chrome (Windows)'],
])(
  'sends one notice of a sign-in from another %s, with the time and the origin',
  async (_what, address, agent, device) => {
    const { id, email } = await platform.createUser();
    await login(email, '192.0.2.1');
    for (const _ of [1, 2]) expect(await login(email, address, agent)).toBe(200);
    const notices = await findNotices(email);
    expect(notices).toHaveLength(1);
    expect(/^Time: +(.+ UTC)\nDevice: +(.+)\nIP address: +(.+)$/m.exec(notices[0] ?? '')?.slice(1)).toEqual([
      expect.stringMatching(/^\d+ \w+ \d{4} at \d\d:\d\d/),
      device,
      address,
    ]);
    const { rows } = await db.query(
      `select event -> 'data' ->> 'address' as address from outbox.events
       where event ->> 'type' = 'session.suspicious' and event -> 'data' ->> 'actorId' = $1`,
      [id],
    );
    expect(rows).toEqual([{ address }]);
  },
);

test('stores a bounded number of devices, the latest ones, without naming a network', async () => {
  const { id, email } = await platform.createUser();
  await db.query(
    `insert into known_clients (user_id, client, seen_at)
     select $1, 'device-' || n, now() - interval '1 day' + n * interval '1 minute' from generate_series(1, 50) n`,
    [id],
  );
  expect(await login(email, '10.0.1.1')).toBe(200);
  const { rows } = await db.query<{ client: string }>(
    'select client from known_clients where user_id = $1 order by seen_at',
    [id],
  );
  const clients = rows.map(({ client }) => client);
  expect([clients.length, clients[0]]).toEqual([50, 'device-2']);
  expect(clients.at(-1)).not.toContain('10.0.');
});

test('does not record a sign-in from this machine that passed no gateway, such as the launcher', async () => {
  const { email } = await platform.createUser();
  const answer = await platform.post('login', { email, password }, { 'user-agent': 'node' });
  expect([answer.status, await login(email, '127.0.0.1')]).toEqual([200, 200]);
  expect(await findNotices(email)).toEqual([]);
  expect(await login(email, '203.0.113.9')).toBe(200);
  expect(await findNotices(email)).toHaveLength(1);
});

test('many browsers make no device unknown, and the browsers that were used last are kept', async () => {
  const { id, email } = await platform.createUser();
  await rememberCurl(id);
  for (let count = 0; count < 51; count += 1)
    await recordBrowser(prisma, id, { secret: `browser-${count}`, client: curl, at: new Date(count + 1) });
  expect(await isKnownDevice(prisma, email, curl)).toBe(true);
  const places = [0, 1, 50].map((count) => findPlace(prisma, email, `browser-${count}`));
  expect((await Promise.all(places)).map((place) => place !== undefined)).toEqual([false, true, true]);
});

test('looking for a known device takes one statement, whether or not the account exists or has it', async () => {
  const log = createLogger('identity', 'silent');
  const shutdown = createShutdown(log);
  const options = { databaseUrl: platform.identity.databaseUrl, maxConnections: 1, timeoutMs: 5_000 };
  const own = openResources({ ...options, log, shutdown });
  const [owner, other] = [await platform.createUser(), await platform.createUser()];
  await rememberCurl(owner.id);
  let statements = 0;
  own.pool.on('acquire', () => {
    statements += 1;
  });
  const look = async (email: string, userAgent = 'curl/8') => {
    statements = 0;
    return [await isKnownDevice(own.prisma, email, { ...curl, userAgent }), statements];
  };
  expect(await look(owner.email)).toEqual([true, 1]);
  expect(await look(owner.email, 'firefox')).toEqual([false, 1]);
  expect(await look(other.email)).toEqual([false, 1]);
  expect(await look('nobody@example.com')).toEqual([false, 1]);
  await db.query('update users set removed_at = now() where id = $1', [owner.id]);
  expect(await look(owner.email)).toEqual([false, 1]);
  await shutdown.run('test done');
});
