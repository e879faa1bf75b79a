import { type MailUnderTest, startMail } from '../mail.js';
import { type SmtpUnderTest, startSmtp } from '../smtp-server.js';

let mail: MailUnderTest;
let smtp: SmtpUnderTest;

beforeAll(async () => {
  mail = await startMail();
  smtp = await startSmtp();
  await mail.configure({ host: '127.0.0.1', port: smtp.port, fromEmail: 'noreply@corp.example' });
  for (const subject of ['one', 'two', 'three']) await mail.send({ subject });
  smtp.behave((step) => (step === 'MAIL' ? '550 no' : undefined));
  await mail.send({ subject: 'failed' });
});
afterAll(async () => {
  await mail.close();
  await smtp.close();
});

const list = (query = '') => mail.call('GET', `/api/v1/mail/records${query}`, { token: mail.session });

test('records are what was sent, newest first, paged', async () => {
  const { status, body } = await list('?limit=2');
  expect([status, body.pagination]).toEqual([200, { page: 1, limit: 2, total: 3, totalPages: 2 }]);
  expect(body.data.map(({ subject }: { subject: string }) => subject)).toEqual(['three', 'two']);
  const last = await list('?limit=2&page=2');
  expect(last.body.data.map(({ subject }: { subject: string }) => subject)).toEqual(['one']);
  expect((await list('?page=9')).body.data).toEqual([]);
});

test('a page or a limit out of range is 400', async () => {
  for (const query of ['?page=0', '?limit=101', '?limit=x', '?other=1'])
    expect((await list(query)).status).toBe(400);
});

test("one record can be read; unknown and another organisation's are one and the same 404", async () => {
  const { id } = (await list('?limit=1')).body.data[0] as { id: string };
  const get = (recordId: string) =>
    mail.call('GET', `/api/v1/mail/records/${recordId}`, { token: mail.session });
  expect((await get(id)).body.data).toMatchObject({ id, subject: 'three', to: ['to@example.com'], cc: [] });
  const { rows } = await mail.db.query(`select id from mails where state = 'failed'`);
  expect((await get(rows[0].id as string)).body.data).toMatchObject({
    subject: 'failed',
    state: 'failed',
    failure: { kind: 'permanent', code: 'EENVELOPE', reply: 550, message: 'The server refused the sender' },
  });
  await mail.db.query(`update mails set org_id = gen_random_uuid() where subject = 'two'`);
  const foreign = await mail.db.query(`select id from mails where subject = 'two'`);
  for (const other of ['0190a0b0-0000-7000-8000-000000000000', foreign.rows[0].id as string]) {
    const missing = await get(other);
    expect([missing.status, missing.body.error.message]).toEqual([404, 'Mail record not found']);
  }
  expect((await get('not-an-id')).status).toBe(400);
});

test('a sent mail can not become another thing in the database', async () => {
  await expect(mail.db.query(`update mails set state = 'failed' where state = 'sent'`)).rejects.toThrow(
    'stays sent',
  );
});

test('a preview is what would be sent, and sends nothing', async () => {
  const count = smtp.accepted.length;
  const preview = (body: object) => mail.call('POST', '/api/v1/mail/preview', { token: mail.session, body });
  const shown = await preview({
    emailTemplateType: 'appuserInvite',
    templateData: { userName: '<b>Ada</b>', inviteLink: 'https://app.example/i?a=1&b=2' },
    productName: 'Atlas',
  });
  expect(shown.status).toBe(200);
  expect(shown.body.html).toContain('Hello &#60;b&#62;Ada&#60;/b&#62;,');
  expect(shown.body.text).toContain('https://app.example/i?a=1&b=2');
  expect((await preview({ emailTemplateType: 'appuserInvite', templateData: {} })).status).toBe(400);
  expect((await preview({ emailTemplateType: 'x', templateData: {} })).body.error.message).toBe(
    'Unknown Template',
  );
  expect(smtp.accepted).toHaveLength(count);
});
