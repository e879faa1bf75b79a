import { createSecretBox, encryptionKeys, reencryptAll } from '@platform/service-kit';
import { ENCRYPTION_KEYS, waitFor } from '@platform/testing';
import { sealJson } from '../src/sealed-json.js';
import { sealedColumns } from '../src/sealed-columns.js';
import { tokenContext } from '../src/features/smtp-oauth/tokens.js';
import { attachment, buildApp, waitForRuntime } from './mail.js';
import { startMailWithServer } from './mail-with-server.js';

const NEW_KEY = `k2:${Buffer.alloc(32, 2).toString('base64')}`;
const createBox = (keys: string) => createSecretBox(encryptionKeys.parse(keys) ?? []);

const { mail, smtp } = await startMailWithServer();
afterAll(() => mail.close());

test('re-encryption makes the old key removable: queued mails, their attachments and contents, and tokens stay readable', async () => {
  const notice = { emailTemplateType: 'accountCreation', templateData: { userName: 'Ada' } };
  expect((await mail.send(notice)).status).toBe(200);
  smtp.behave((step) => (step === 'MAIL' ? '451 4.3.0 later' : undefined));
  const content = Buffer.alloc(1_500_000, 'a').toString('base64');
  const attachments = [attachment({ content })];
  const queued = await mail.send({ ...notice, attachments }, { prefer: 'respond-async' });
  expect(queued.status).toBe(202);
  const isDeferred = async () =>
    (await mail.db.query(`select from mails where state = 'queued' and attempts = 1`)).rowCount === 1;
  await waitFor(isDeferred, { what: 'the first attempt' });
  await mail.stop();
  const key = { orgId: mail.orgId, fingerprint: 'f' };
  const sealedToken = sealJson(createBox(ENCRYPTION_KEYS), { value: 't' }, tokenContext('refresh', key));
  await mail.db.query(
    `insert into smtp_tokens (org_id, fingerprint, sealed_refresh_token, updated_at) values ($1, $2, $3, now())`,
    [key.orgId, key.fingerprint, sealedToken],
  );

  await expect(reencryptAll(mail.db, createBox(NEW_KEY), sealedColumns)).rejects.toThrow(
    'ENCRYPTION_KEYS must hold the key that sealed the queued mails',
  );
  const both = createBox(`${NEW_KEY},${ENCRYPTION_KEYS}`);
  expect(await reencryptAll(mail.db, both, sealedColumns)).toEqual({
    'queued mails': 1,
    attachments: 2,
    'contents of mails': 2,
    'access tokens of SMTP servers': 0,
    'refresh tokens of SMTP servers': 1,
  });
  const again = Object.values(await reencryptAll(mail.db, both, sealedColumns));
  expect(again).toEqual([0, 0, 0, 0, 0]);

  smtp.behave(() => undefined);
  await mail.db.query('update mails set next_attempt_at = now()');
  const { app, shutdown } = await buildApp(mail.databaseUrl, mail.identityUrl, {
    environment: { ENCRYPTION_KEYS: NEW_KEY },
  });
  try {
    await waitForRuntime(app);
    await waitFor(() => smtp.accepted.length === 2, { what: 'the queued mail' });
    expect(smtp.accepted[1]?.raw.replaceAll('\r\n', '')).toContain(content);
  } finally {
    await app.close();
    await shutdown.run('test done');
  }
});
