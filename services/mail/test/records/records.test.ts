import { randomUUID } from 'node:crypto';
import { createAdministrator, emailBody } from '../mail.js';
import { startMailWithServer } from '../mail-with-server.js';
import { toConfiguration } from '../smtp-server.js';

// The ids of some mails are years old.
const { mail, smtp } = await startMailWithServer({ environment: { RECORDS_KEPT_DAYS: '0' } });

beforeAll(async () => {
  for (const subject of ['one', 'two', 'three']) await mail.send({ subject, sendCcTo: ['cc@example.com'] });
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

test('a record can be read, with the reason why it was not sent', async () => {
  const { id } = (await list('?limit=1')).body.data[0] as { id: string };
  const get = (recordId: string) =>
    mail.call('GET', `/api/v1/mail/records/${recordId}`, { token: mail.session });
  expect((await get(id)).body.data).toMatchObject({
    id,
    orgId: mail.orgId,
    subject: 'three',
    from: 'noreply@corp.example',
    to: ['to@example.com'],
    cc: ['cc@example.com'],
    emailTemplateType: 'loginWithOTP',
  });
  const { rows } = await mail.db.query(`select id from mails where state = 'failed'`);
  expect((await get(rows[0].id as string)).body.data).toMatchObject({
    subject: 'failed',
    state: 'failed',
    failure: { kind: 'permanent', code: 'EENVELOPE', reply: 550, message: 'The server refused the sender' },
  });
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

  test('contains only sent mails without parameters', async () => {
    expect(await listed('')).not.toContain('to nobody');
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

  // oxfmt-ignore
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

describe("another organisation's administrator", () => {
  const key = randomUUID();
  const theirs = { sendEmailTo: ['theirs@example.com'] };
  const query = '&recipient=theirs@example.com';
  let other: Awaited<ReturnType<typeof createAdministrator>>;
  let credentials: readonly string[];
  /** The records of the first organisation: one was sent, and one can be resent. */
  let sentId: string;
  let failedId: string;
  const find = async (token: string, filters = '') =>
    (await mail.call('GET', `/api/v1/mail/records?state=any${filters}`, { token })).body.data as {
      readonly id: string;
    }[];

  beforeAll(async () => {
    smtp.behave(() => undefined);
    await mail.send(theirs, { 'idempotency-key': key });
    smtp.behave((step) => (step === 'MESSAGE' ? '554 no' : undefined));
    const templateData = { inviteLink: 'https://app.example/invite#token=1' };
    await mail.send({ ...theirs, emailTemplateType: 'appuserInvite', templateData });
    smtp.behave(() => undefined);
    [failedId = '', sentId = ''] = (await find(mail.session, query)).map(({ id }) => id);
    other = await createAdministrator();
    credentials = [other.session, await other.createToken(['SEND_MAIL'])];
    const path = '/api/v1/configurationManager/smtpConfig';
    await mail.identity('POST', path, { token: other.session, body: toConfiguration(smtp) });
  });

  test('lists none of the records with any filter', async () => {
    for (const token of credentials)
      for (const filters of ['', query, '&emailTemplateType=appuserInvite', '&since=2020-01-01T00:00:00Z'])
        expect(await find(token, filters)).toEqual([]);
  });

  test('gets the same 404 for them as for a record that does not exist', async () => {
    for (const token of credentials) {
      const get = (id: string) => mail.call('GET', `/api/v1/mail/records/${id}`, { token });
      const missing = await get(randomUUID());
      expect([missing.status, missing.body.error.message]).toEqual([404, 'Mail record not found']);
      for (const id of [sentId, failedId]) expect((await get(id)).body).toEqual(missing.body);
    }
  });

  test('neither resends them nor uses up their stored requests, and erases none of their recipients', async () => {
    const count = smtp.accepted.length;
    for (const token of credentials) {
      const act = (id: string) => mail.call('POST', `/api/v1/mail/records/${id}/resend`, { token });
      const missing = await act(randomUUID());
      for (const id of [sentId, failedId]) {
        const foreign = await act(id);
        expect([foreign.status, foreign.body]).toEqual([409, missing.body]);
      }
      const path = '/api/v1/mail/records?recipient=theirs@example.com';
      const { body } = await mail.call('DELETE', path, { token });
      expect(body).toMatchObject({ deleted: 0, changed: 0, pending: 0 });
    }
    expect(smtp.accepted).toHaveLength(count);
    const found = await find(mail.session, query);
    expect(found).toMatchObject([{ id: failedId, canResend: true }, { id: sentId }]);
  });

  test('may use the same idempotency key', async () => {
    const count = smtp.accepted.length;
    const options = { token: credentials[1] ?? '', body: emailBody(), headers: { 'idempotency-key': key } };
    const { status } = await mail.call('POST', '/api/v1/mail/emails/sendEmail', options);
    const again = await mail.send(theirs, { 'idempotency-key': key });
    expect([status, again.status, smtp.accepted.length]).toEqual([200, 200, count + 1]);
    expect(await find(other.session)).toHaveLength(1);
  });
});

describe('the cursors of the list', () => {
  const ADDRESS = 'cursor@example.com';

  /** Inserts mails to Ada whose ids have this prefix, one for each of the states. */
  async function insertMails(prefix: string, states: readonly string[]): Promise<void> {
    // oxfmt-ignore
    await mail.db.query(
      `with mails as (
         insert into mails (id, org_id, state, priority, caller_waits, next_attempt_at, expires_at, subject, from_address, to_addresses, cc_addresses, template_type, created_at, updated_at)
         select overlay(gen_random_uuid()::text placing $2 from 1 for 15)::uuid, $1::uuid, state::mail_state, 2, false, now(), now(), 'x',
           'noreply@example.com', array[$4], '{}', 'loginWithOTP', now(), now()
         from unnest($3::text[]) as state
         returning id, org_id
       ) select from mails`,
      [mail.orgId, prefix, states, ADDRESS],
    );
  }

  const read = async (query: string) => {
    const { status, body } = await mail.call('GET', `/api/v1/mail/records?${query}`, { token: mail.session });
    expect([query, status]).toEqual([query, 200]);
    return body as { data: { id: string; state: string }[]; nextCursor: string | null };
  };

  async function readAll(query: string): Promise<string[]> {
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await read(`limit=3&${query}${cursor && `&cursor=${cursor.toUpperCase()}`}`);
      found.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
    }
    return found;
  }

  const states = ['sent', 'failed', 'unknown', 'sent', 'sent', 'failed', 'sent', 'failed'];

  test.each(['', 'state=any', 'state=failed', `recipient=${ADDRESS}`, `state=any&recipient=${ADDRESS}`])(
    'API-13: the mails of "%s" are read from cursor to cursor, each once',
    async (query) => {
      await insertMails('01900000-0000-7', states);
      const { data, nextCursor } = await read(`limit=100&${query}`);
      expect(await readAll(query)).toEqual(data.map(({ id }) => id));
      expect([data.length > 0, nextCursor]).toEqual([true, null]);
    },
  );

  test('a cursor leads past what page numbers reach, and past a long part of the mails to somebody', async () => {
    await insertMails(
      '01800000-0000-7',
      Array.from({ length: 10_000 }, () => 'sent'),
    );
    await insertMails('01700000-0000-7', ['failed', 'failed']);
    const oldest = (await readAll(`state=failed&recipient=${ADDRESS}`)).slice(-2);
    expect(oldest.every((id) => id.startsWith('01700000'))).toBe(true);
    const last = await read('state=sent&since=2020-01-01T00:00:00Z&limit=100&page=10');
    expect(last.nextCursor).toBe(last.data.at(-1)?.id);
    const next = await read(
      `state=sent&since=2020-01-01T00:00:00Z&limit=100&cursor=${last.nextCursor ?? ''}`,
    );
    expect(next.data).toHaveLength(100);
  });
});
