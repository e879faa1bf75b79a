import { waitFor } from '@platform/testing';
import pg from 'pg';
import { buildApp, createAdministrator, createMailDatabase, emailBody } from '../mail.js';
import { toConfiguration } from '../smtp-server.js';

test('updateSmtpConfig fails with "Mail container not found" while the mail runtime starts or stops', async () => {
  const database = await createMailDatabase();
  const administrator = await createAdministrator();
  await administrator.identity('POST', '/api/v1/configurationManager/smtpConfig', {
    token: administrator.session,
    body: toConfiguration({ port: 9 }),
  });
  const token = await administrator.createToken(['SEND_MAIL', 'FETCH_CONFIG']);
  // The lock blocks the first upkeep.
  const db = new pg.Pool({ connectionString: database.url, max: 1 });
  const lock = await db.connect();
  await lock.query('begin; lock table mails in access exclusive mode');

  const { app, shutdown } = await buildApp(database.url, administrator.identityUrl);
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
