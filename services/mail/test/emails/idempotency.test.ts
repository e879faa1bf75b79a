import { randomUUID } from 'node:crypto';
import { waitFor } from '@platform/testing';
import { startMail } from '../mail.js';
import { type SmtpUnderTest, startSmtp, toConfiguration } from '../smtp-server.js';

let smtp: SmtpUnderTest;

const mail = await startMail();
afterAll(() => mail.close());
beforeEach(async () => {
  smtp = await startSmtp();
  await mail.configure(toConfiguration(smtp));
});
afterEach(() => smtp.close());

const withKey = (fields: object = {}, key: string = randomUUID()) =>
  mail.send(fields, { 'idempotency-key': key });

const messageIds = () => new Set(smtp.accepted.map(({ raw }) => /^Message-ID: <(.+)>\r$/im.exec(raw)?.[1]));

test('a repeated key and body return the first result and send nothing', async () => {
  const key = randomUUID();
  const first = await withKey({}, key);
  const second = await withKey({}, key);
  expect([first.status, second.status, second.body]).toEqual([200, 200, first.body]);
  expect(smtp.accepted).toHaveLength(1);
});

test('twenty concurrent requests with one key send one mail and all succeed', async () => {
  const key = randomUUID();
  const responses = await Promise.all(Array.from({ length: 20 }, () => withKey({}, key)));
  expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(smtp.accepted).toHaveLength(1);
});

test('the same key with another body fails with 422', async () => {
  const key = randomUUID();
  await withKey({}, key);
  const other = await withKey({ subject: 'Another' }, key);
  expect([other.status, other.body.error.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  expect(smtp.accepted).toHaveLength(1);
});

test('a repeated key returns the first failure or unknown outcome, and sends nothing', async () => {
  for (const [reply, code] of [
    ['554 no', 'SMTP_REFUSED'],
    ['451 later', 'SMTP_ERROR'],
    ['close', 'DELIVERY_UNKNOWN'],
  ]) {
    const key = randomUUID();
    smtp.behave((step) => (step === 'MESSAGE' ? reply : undefined));
    const first = await withKey({}, key);
    smtp.behave(() => undefined);
    const second = await withKey({}, key);
    expect([first.status, first.body.error.code]).toEqual([500, code]);
    expect([second.status, second.body]).toEqual([500, first.body]);
    expect(smtp.count('MAIL')).toBe(0);
  }
});

test('a refused body does not use up the key', async () => {
  const key = randomUUID();
  expect((await withKey({ sendEmailTo: [] }, key)).status).toBe(400);
  expect((await withKey({}, key)).status).toBe(200);
});

test('the same body without a key is sent twice, with two Message-IDs', async () => {
  await mail.send();
  await mail.send();
  expect(messageIds().size).toBe(2);
});

test('a key expires after 24 hours, and then sends another mail with its own Message-ID', async () => {
  const key = randomUUID();
  await withKey({}, key);
  // The outcome may be stored after the response, and a key doesn't expire while its mail is pending.
  const isSettled = async () =>
    (await mail.db.query(`select 1 from mails where idempotency_key = $1 and state = 'sent'`, [key]))
      .rowCount === 1;
  await waitFor(isSettled, { what: 'the outcome' });
  await mail.db.query(
    `update mails set created_at = created_at - interval '25 hours' where idempotency_key = $1`,
    [key],
  );
  const sendAnother = async () => {
    const { status } = await withKey({ subject: 'Another' }, key);
    // 422 until the key is removed, and 409 at the moment when it is.
    return [409, 422].includes(status) ? undefined : status;
  };
  expect(await waitFor(sendAnother, { what: 'the removal of the key' })).toBe(200);
  expect(messageIds().size).toBe(2);
});

test('a repeated key returns the first result after the configuration has been removed', async () => {
  const key = randomUUID();
  expect((await withKey({}, key)).status).toBe(200);
  await mail.identity('DELETE', '/api/v1/configurationManager/smtpConfig', { token: mail.session });
  await mail.call('POST', '/api/v1/mail/updateSmtpConfig', { token: mail.token });
  expect((await withKey({}, randomUUID())).status).toBe(404);
  const again = await withKey({}, key);
  expect([again.status, again.body.data]).toEqual([200, { status: true, data: 'Email sent' }]);
  expect((await withKey({ subject: 'Another' }, key)).status).toBe(422);
  expect(smtp.accepted).toHaveLength(1);
});

test('a repeated key returns the first result while the organisation has reached its limit', async () => {
  const narrow = await startMail({
    environment: { SENDS_MAX: '1', SENDS_PER_ORG_MAX: '1', SMTP_TIMEOUT_MS: '10000' },
  });
  await narrow.configure(toConfiguration(smtp));
  const key = { 'idempotency-key': randomUUID() };
  expect((await narrow.send({}, key)).status).toBe(200);
  smtp.behave((step) => (step === 'MESSAGE' ? 'hang' : undefined));
  const stuck = narrow.send();
  await waitFor(() => smtp.count('MESSAGE') === 1, { what: 'the message' });
  expect((await narrow.send()).status).toBe(429);
  expect((await narrow.send({}, key)).status).toBe(200);
  smtp.say('250 queued');
  expect((await stuck).status).toBe(200);
  await narrow.close();
});
