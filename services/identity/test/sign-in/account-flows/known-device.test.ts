import { createLogger, createShutdown } from '@platform/service-kit';
import { toDeviceId } from '../../../src/base/caller/client.js';
import { findPlace, isKnownDevice, recordBrowser } from '../../../src/sign-in/known-devices/service.js';
import { openResources } from '../../../src/resources.js';
import { admin, startIdentity } from '../../identity.js';

const identity = await startIdentity();
afterAll(() => identity.close());

test('many browsers make no device unknown, and the browsers that were used last are kept', async () => {
  const log = createLogger('identity', 'silent');
  const shutdown = createShutdown(log);
  const options = { databaseUrl: identity.databaseUrl, maxConnections: 1, timeoutMs: 5_000, log, shutdown };
  const { prisma } = openResources(options);
  const member = await identity.createMember(await identity.login());
  const client = { address: '192.0.2.7', userAgent: 'curl/8', isLocal: false, requestId: 'r' };
  await identity.db.query(
    'insert into known_clients (user_id, client, seen_at) values ($1, $2, $3)',
    [member.id, toDeviceId(client), new Date(0)],
  );
  for (let count = 0; count < 51; count += 1)
    await recordBrowser(prisma, member.id, { secret: `browser-${count}`, client, at: new Date(count + 1) });
  expect(await isKnownDevice(prisma, member.email, client)).toBe(true);
  const places = [0, 1, 50].map((count) => findPlace(prisma, member.email, `browser-${count}`));
  expect((await Promise.all(places)).map((place) => place !== undefined)).toEqual([false, true, true]);
  await shutdown.run('test done');
}); // prettier-ignore

test('looking for a known device takes one statement, whether or not the account exists', async () => {
  const log = createLogger('identity', 'silent');
  const shutdown = createShutdown(log);
  const { pool, prisma } = openResources({
    databaseUrl: identity.databaseUrl,
    maxConnections: 1,
    timeoutMs: 5_000,
    log,
    shutdown,
  });
  let statements = 0;
  pool.on('acquire', () => {
    statements += 1;
  });
  const client = { address: '192.0.2.1', userAgent: 'curl/8', isLocal: false, requestId: 'r' };
  await identity.db.query(
    `insert into known_clients (user_id, client, seen_at) select id, $2, now() from users where email = $1`,
    [admin.email, toDeviceId(client)],
  );
  const look = async (email: string, userAgent: string) => {
    statements = 0;
    return { isKnown: await isKnownDevice(prisma, email, { ...client, userAgent }), statements };
  };
  expect(await look(admin.email, 'curl/8')).toEqual({ isKnown: true, statements: 1 });
  expect(await look(admin.email, 'firefox')).toEqual({ isKnown: false, statements: 1 });
  expect(await look('nobody@example.com', 'curl/8')).toEqual({ isKnown: false, statements: 1 });
  await identity.db.query('update users set removed_at = now() where email = $1', [admin.email]);
  expect(await look(admin.email, 'curl/8')).toEqual({ isKnown: false, statements: 1 });
  await shutdown.run('test done');
});
