import { randomUUID } from 'node:crypto';
import { type MailUnderTest, startMail } from '../mail.js';
import { type SmtpUnderTest, startSmtp } from '../smtp-server.js';

let mail: MailUnderTest;
let smtp: SmtpUnderTest;

beforeAll(async () => {
  mail = await startMail();
});
afterAll(() => mail.close());
beforeEach(async () => {
  smtp = await startSmtp();
  await mail.configure({ host: '127.0.0.1', port: smtp.port, fromEmail: 'noreply@corp.example' });
});
afterEach(() => smtp.close());

const withKey = (fields: object = {}, key: string = randomUUID()) =>
  mail.send(fields, { 'idempotency-key': key });

const messageIds = () => new Set(smtp.accepted.map(({ raw }) => /^Message-ID: <(.+)>\r$/im.exec(raw)?.[1]));

test('the same key and body answer the first result again and send nothing', async () => {
  const key = randomUUID();
  const first = await withKey({}, key);
  const second = await withKey({}, key);
  expect([first.status, second.status, second.body]).toEqual([200, 200, first.body]);
  expect(smtp.accepted).toHaveLength(1);
});

test('twenty at once with one key: one mail, twenty answers of success', async () => {
  const key = randomUUID();
  const answers = await Promise.all(Array.from({ length: 20 }, () => withKey({}, key)));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(smtp.accepted).toHaveLength(1);
});

test('the same key with another body is 422', async () => {
  const key = randomUUID();
  await withKey({}, key);
  const other = await withKey({ subject: 'Another' }, key);
  expect([other.status, other.body.error.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  expect(smtp.accepted).toHaveLength(1);
});

test('a failure and an unknown outcome are answered again, too, and nothing is sent', async () => {
  for (const [reply, code] of [
    ['554 no', 'SMTP_ERROR'],
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

test('a body that was refused does not use the key up', async () => {
  const key = randomUUID();
  expect((await withKey({ sendEmailTo: [] }, key)).status).toBe(400);
  expect((await withKey({}, key)).status).toBe(200);
});

test('without a key, the same body twice is two mails with two Message-IDs', async () => {
  await mail.send();
  await mail.send();
  expect(messageIds().size).toBe(2);
});

test('a key is forgotten after 24 hours; what is sent with it then is another mail, with a Message-ID of its own', async () => {
  const key = randomUUID();
  await withKey({}, key);
  await mail.db.query(
    `update mails set created_at = created_at - interval '25 hours' where idempotency_key = $1`,
    [key],
  );
  let answer = await withKey({ subject: 'Another' }, key);
  for (let tries = 0; answer.status === 422 && tries < 100; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    answer = await withKey({ subject: 'Another' }, key);
  }
  expect(answer.status).toBe(200);
  expect(messageIds().size).toBe(2);
});

test('a key that is too long, empty or not plain is 400', async () => {
  for (const key of ['', 'x'.repeat(256), 'a b', 'é'])
    expect((await withKey({}, key)).body.error.details[0].field).toBe('Idempotency-Key');
  expect((await withKey({}, 'x'.repeat(255))).status).toBe(200);
});
