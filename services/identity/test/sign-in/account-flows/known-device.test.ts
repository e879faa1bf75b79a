import { createLogger, createShutdown } from '@platform/service-kit';
import { toDeviceId } from '../../../src/base/caller/client.js';
import { isKnownDevice } from '../../../src/sign-in/known-devices/service.js';
import { openResources } from '../../../src/resources.js';
import { admin, type IdentityUnderTest, startIdentity } from '../../identity.js';

let identity: IdentityUnderTest;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.close());

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
