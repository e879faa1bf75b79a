import { createLogger, createShutdown, systemClock } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import pg from 'pg';
import { buildMail } from '../../src/app.js';
import { loadMailConfig } from '../../src/config.js';
import { openResources } from '../../src/resources.js';
import { createAdministrator, createMailDatabase, emailBody, mailEnvironment } from '../mail.js';

test('updateSmtpConfig fails with "Mail container not found" while the mail runtime starts or stops', async () => {
  const database = await createMailDatabase();
  const administrator = await createAdministrator();
  const smtp = { host: '127.0.0.1', port: 9, fromEmail: 'noreply@corp.example' };
  await administrator.identity('POST', '/api/v1/configurationManager/smtpConfig', {
    token: administrator.session,
    body: smtp,
  });
  const token = await administrator.createToken(['SEND_MAIL', 'FETCH_CONFIG']);
  // The lock blocks the first heartbeat of the sender.
  const db = new pg.Pool({ connectionString: database.url, max: 1 });
  const lock = await db.connect();
  await lock.query('begin; lock table senders in access exclusive mode');

  const log = createLogger('mail', 'silent');
  const shutdown = createShutdown(log);
  const config = loadMailConfig(mailEnvironment(database.url, administrator.identityUrl));
  const resources = openResources({
    databaseUrl: database.url,
    maxConnections: 4,
    timeoutMs: config.DATABASE_TIMEOUT_MS,
    log,
    shutdown,
  });
  const { app } = await buildMail({ config, resources, shutdown, clock: systemClock });
  const call = async (url: string, payload?: object) => {
    const headers = { authorization: `Bearer ${token}` };
    const { statusCode, body } = await app.inject({
      method: 'POST',
      url,
      headers,
      ...(payload && { payload }),
    });
    return [statusCode, (JSON.parse(body) as { error?: { code: string; message: string } }).error] as const;
  };
  const update = () => call('/api/v1/mail/updateSmtpConfig');
  const notFound = [404, { code: 'NOT_FOUND', message: 'Mail container not found' }];

  expect(await update()).toEqual(notFound);
  expect((await app.inject('/health/ready')).statusCode).toBe(503);
  expect(await call('/api/v1/mail/emails/sendEmail', emailBody())).toMatchObject([
    503,
    { code: 'NOTHING_DONE' },
  ]);
  await lock.query('rollback');
  lock.release();
  await waitFor(async () => (await update())[0] === 200, { what: 'the mail runtime' });

  // Stands for a request that arrives after the shutdown phase of requests.
  let whileStopping: unknown;
  shutdown.on('workers', 'a late request', async () => {
    whileStopping = await update();
  });
  await shutdown.run('test done');
  expect(whileStopping).toEqual(notFound);
  await app.close();
  await db.end();
  await database.drop();
});
