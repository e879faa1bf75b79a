import type { MailUnderTest } from '../mail.js';
import { startMailWithServer } from '../mail-with-server.js';
import type { SmtpUnderTest } from '../smtp-server.js';

let mail: MailUnderTest;
let smtp: SmtpUnderTest;

beforeAll(async () => {
  ({ mail, smtp } = await startMailWithServer());
  for (const subject of ['one', 'two', 'three']) await mail.send({ subject });
  smtp.behave((step) => (step === 'MAIL' ? '550 no' : undefined));
  await mail.send({ subject: 'failed' });
});
afterAll(() => mail.close());

const list = (query = '') => mail.call('GET', `/api/v1/mail/records${query}`, { token: mail.session });

test('records list the sent mails page by page, newest first', async () => {
  const { status, body } = await list('?limit=2');
  expect([status, body.pagination]).toEqual([200, { page: 1, limit: 2, total: 3, totalPages: 2 }]);
  expect(body.data.map(({ subject }: { subject: string }) => subject)).toEqual(['three', 'two']);
  const last = await list('?limit=2&page=2');
  expect(last.body.data.map(({ subject }: { subject: string }) => subject)).toEqual(['one']);
  expect((await list('?page=9')).body.data).toEqual([]);
});

test('records are found by a part of the subject or of an address, in any case', async () => {
  const subjects = async (query: string) => {
    const { body } = await list(`?state=any&${query}`);
    expect(body.pagination.total).toBe(body.data.length);
    return body.data.map(({ subject }: { subject: string }) => subject);
  };
  expect(await subjects('q=THR')).toEqual(['three']);
  expect(await subjects('q=o@EXAMPLE')).toEqual(['failed', 'three', 'two', 'one']);
  expect(await subjects('q=%25')).toEqual([]);
});

test('a page or a limit out of range fails with 400', async () => {
  for (const query of ['?page=0', '?limit=101', '?limit=x', '?other=1'])
    expect((await list(query)).status).toBe(400);
});

test("a record can be read; an unknown one and another organisation's fail with the same 404", async () => {
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

test('a preview returns the rendered mail and sends nothing', async () => {
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

const listed = async (query: string) => {
  const { status, body } = await list(query);
  expect([query, status]).toEqual([query, 200]);
  return body.data.map(({ subject }: { subject: string }) => subject) as string[];
};

describe('the list of mails', () => {
  let since: string;
  beforeAll(async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    since = encodeURIComponent(new Date().toISOString());
    smtp.behave((step, line) =>
      step === 'RCPT' && line.includes('gone@') ? '550 5.1.1 no such user' : undefined,
    );
    await mail.send({ subject: 'to two', sendEmailTo: ['Ada@example.com'], sendCcTo: ['bob@example.com'] });
    await mail.send({
      subject: 'to ada',
      sendEmailTo: ['ada@example.com'],
      emailTemplateType: 'accountCreation',
    });
    await mail.send({ subject: 'to nobody', sendEmailTo: ['gone@example.com'] });
  });

  test('can be filtered by state, recipient, template and time', async () => {
    expect(await listed('?state=failed')).toEqual(['to nobody', 'failed']);
    expect(await listed(`?state=any&since=${since}`)).toEqual(['to nobody', 'to ada', 'to two']);
    expect(await listed(`?since=${since}&emailTemplateType=accountCreation`)).toEqual(['to ada']);
    expect(await listed(`?state=any&until=${since}&recipient=gone@example.com`)).toEqual([]);
    expect(await listed('?state=any&recipient=GONE@example.com')).toEqual(['to nobody']);
    expect(await listed('?recipient=ada@example.com')).toEqual(['to ada', 'to two']);
    expect(await listed('?recipient=ada@example.com&limit=1&page=2')).toEqual(['to two']);
    expect(await listed('?state=unknown')).toEqual([]);
    expect((await list('?state=lost')).status).toBe(400);
    const { body } = await list('?state=failed&limit=1');
    expect(body.pagination).toEqual({ page: 1, limit: 1, total: 2, totalPages: 2 });
    expect(body.data[0].failure).toEqual({
      kind: 'permanent',
      code: 'EENVELOPE',
      reply: 550,
      status: '5.1.1',
      message: 'The recipient does not exist',
    });
  });

  test("contains only sent mails without parameters, and never another organisation's", async () => {
    expect(await listed('')).not.toContain('to nobody');
    await mail.db.query(`update mails set org_id = gen_random_uuid() where subject = 'failed'`);
    expect(await listed('?state=failed')).toEqual(['to nobody']);
  });

  test('no longer shows an erased recipient: mails to it alone are deleted, the others lose the address', async () => {
    const before = (await list()).body.pagination.total as number;
    const erase = (address: string) =>
      mail.call('DELETE', `/api/v1/mail/records?recipient=${address}`, { token: mail.session });
    const { status, body } = await erase('ADA@example.com');
    expect([status, body]).toEqual([
      200,
      { message: 'Recipient erased', deleted: 1, changed: 1, pending: 0 },
    ]);
    expect(await listed('?state=any&recipient=ada@example.com')).toEqual([]);
    expect((await list('?recipient=bob@example.com')).body.data[0].to).toEqual(['erased@invalid']);
    expect((await list()).body.pagination.total).toBe(before - 1);
    const { rows } = await mail.db.query(`select from mails where 'ada@example.com' = any(to_addresses)`);
    expect(rows).toEqual([]);
    expect((await erase('ada@example.com')).body).toMatchObject({ deleted: 0, changed: 0 });
  });
});

describe('a resend', () => {
  const resend = (id: string) =>
    mail.call('POST', `/api/v1/mail/records/${id}/resend`, { token: mail.session });
  const newestFailed = async () =>
    (await list('?state=failed&limit=1')).body.data[0] as { id: string; canResend: boolean };
  const link = 'https://app.example/invite?t=a-secret-of-the-link';
  const invite = { emailTemplateType: 'appuserInvite', templateData: { inviteLink: link } };

  // prettier-ignore
  test('sends a failed mail unchanged and only once, from a request that is stored encrypted', async () => {
    smtp.behave((step) => (step === 'MESSAGE' ? '554 no' : undefined));
    await mail.send({ ...invite, subject: 'again' });
    const failed = await newestFailed();
    expect(failed.canResend).toBe(true);
    const stored = JSON.stringify((await mail.db.query('select * from mails where id = $1', [failed.id])).rows);
    expect(stored).not.toContain('a-secret-of-the-link');
    smtp.behave(() => undefined);
    const before = smtp.accepted.length;
    const responses = await Promise.all([resend(failed.id), resend(failed.id)]);
    expect(responses.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    expect(smtp.accepted.slice(before).map(({ raw }) => raw.includes('Subject: again') && raw.includes('a-secret-of-the-link'))).toEqual([true]);
    expect((await list('?limit=1')).body.data[0].subject).toBe('again');
    expect((await resend(failed.id)).body.error.code).toBe('NOT_RESENDABLE');
  });

  test('goes only to the recipients that do not have the mail', async () => {
    smtp.behave((step) => (step === 'MESSAGE' ? '554 no' : undefined));
    await mail.send({ ...invite, sendEmailTo: ['has@example.com'], sendCcTo: ['Lacks@example.com'] });
    const { id } = await newestFailed();
    await mail.db.query(
      `update mail_recipients set outcome = 'accepted' where mail_id = $1 and address = 'has@example.com'`,
      [id],
    );
    smtp.behave(() => undefined);
    expect((await resend(id)).status).toBe(200);
    expect(smtp.accepted.at(-1)?.to).toEqual(['Lacks@example.com']);
  });

  test('keeps the stored request until its own row has it', async () => {
    smtp.behave((step) => (step === 'MESSAGE' ? '554 no' : undefined));
    await mail.send(invite);
    const { id } = await newestFailed();
    smtp.behave(() => undefined);
    await mail.db.query(`alter table mails add constraint nothing_new check (state <> 'sending') not valid`);
    const refused = await resend(id);
    await mail.db.query('alter table mails drop constraint nothing_new');
    expect([refused.status, (await resend(id)).status]).toEqual([503, 200]);
  });

  test('that fails can be repeated through its new record; mails with a code cannot be resent', async () => {
    smtp.behave((step) => (step === 'MESSAGE' ? '451 later' : undefined));
    await mail.send({ ...invite, subject: 'twice' });
    const first = await newestFailed();
    expect((await resend(first.id)).status).toBe(500);
    const second = await newestFailed();
    expect([second.id === first.id, second.canResend]).toEqual([false, true]);
    await mail.send({ subject: 'a code' });
    const code = await newestFailed();
    expect([code.canResend, (await resend(code.id)).status]).toEqual([false, 409]);
    expect((await resend('0190a0b0-0000-7000-8000-000000000000')).status).toBe(409);
  });
});

test('a filter with a NUL character fails with 400', async () => {
  expect((await list('?recipient=a%00b')).status).toBe(400);
});
