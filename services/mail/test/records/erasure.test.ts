import { waitFor } from '@platform/testing';
import { endAttempts } from '../../src/features/queue/queue.sql.js';
import { insertMailRow } from '../mail-rows.js';
import { startMailWithServer } from '../mail-with-server.js';

const { mail, smtp } = await startMailWithServer({
  environment: { SMTP_TIMEOUT_MS: '30000' },
  queueTimes: { leaseMs: 30_000, upkeepMs: 100, keyLifetimeMs: 24 * 3_600_000 },
});
afterAll(() => mail.close());
beforeEach(() => {
  smtp.behave(() => undefined);
  smtp.accepted.length = 0;
});

const invite = {
  emailTemplateType: 'appuserInvite',
  templateData: { inviteLink: 'https://app.example/invite#token=1' },
};
const erase = async (recipient: string) => {
  const path = `/api/v1/mail/records?recipient=${encodeURIComponent(recipient)}`;
  const { status, body } = await mail.call('DELETE', path, { token: mail.session });
  expect([status, body.message]).toEqual([200, 'Recipient erased']);
  return { deleted: body.deleted, changed: body.changed, pending: body.pending };
};
const list = async (recipient: string) => {
  const query = `?state=any&recipient=${encodeURIComponent(recipient)}`;
  return (await mail.call('GET', `/api/v1/mail/records${query}`, { token: mail.session })).body.data as {
    readonly id: string;
  }[];
};
const get = (id: string) => mail.call('GET', `/api/v1/mail/records/${id}`, { token: mail.session });
const resend = (id: string) =>
  mail.call('POST', `/api/v1/mail/records/${id}/resend`, { token: mail.session });
/** Searches every column of both tables. */
const isStored = async (address: string) => {
  const { rowCount } = await mail.db.query(
    `select from mails where mails::text like $1 union all select from mail_recipients where address like $1`,
    [`%${address}%`],
  );
  return rowCount !== 0;
};

test.each([
  ['info@bücher.example', 'INFO@xn--bcher-kva.example'],
  ['info@xn--bcher-kva.example', 'info@BÜCHER.example'],
  ['Ελλη@example.com', 'Ελλη@EXAMPLE.com'],
])('a mail to %s is found and erased as %s', async (sentTo, erasedAs) => {
  await mail.send({ sendEmailTo: [sentTo] });
  expect(await list(erasedAs)).toHaveLength(1);
  expect(await erase(erasedAs)).toEqual({ deleted: 1, changed: 0, pending: 0 });
  expect(await list(sentTo)).toEqual([]);
});

describe('a mail in progress', () => {
  const begin = async (sendEmailTo: string[]) => {
    smtp.behave((step) => (step === 'MESSAGE' ? 'hang' : undefined));
    const { body } = await mail.send({ ...invite, sendEmailTo }, { prefer: 'respond-async' });
    await waitFor(() => smtp.count('MESSAGE') === 1, { what: 'the message' });
    return body.data.id as string;
  };

  test('is deleted after its outcome is stored when it has no other recipients', async () => {
    const id = await begin(['alone@example.com']);
    expect(await erase('alone@example.com')).toEqual({ deleted: 0, changed: 0, pending: 1 });
    expect(await erase('alone@example.com')).toEqual({ deleted: 0, changed: 0, pending: 0 });
    smtp.say('250 queued');
    await waitFor(async () => (await get(id)).status === 404, { what: 'the erasure' });
    expect(await isStored('alone@example.com')).toBe(false);
  });

  test('loses the address after it failed when it has other recipients, and cannot be resent', async () => {
    const id = await begin(['gone@example.com', 'other@example.com']);
    expect(await erase('gone@example.com')).toEqual({ deleted: 0, changed: 0, pending: 1 });
    smtp.say('554 no');
    const record = await waitFor(
      async () => {
        const { body } = await get(id);
        return body.data.to.includes('erased@invalid') && body.data;
      },
      { what: 'the erasure' },
    );
    expect(record).toMatchObject({
      state: 'failed',
      to: ['erased@invalid', 'other@example.com'],
      canResend: false,
    });
    expect((await resend(id)).status).toBe(409);
    expect(await isStored('gone@example.com')).toBe(false);
    expect(await erase('other@example.com')).toEqual({ deleted: 1, changed: 0, pending: 0 });
  });
});

test('a late outcome restores neither an erased address nor the stored request', async () => {
  const id = await insertMailRow(mail.db, {
    orgId: mail.orgId,
    state: 'unknown',
    to: ['late@example.com', 'other@example.com'],
    columns: { claim: 1, can_resend: true, sealed_request: 'x' },
  });
  expect(await erase('late@example.com')).toMatchObject({ changed: 1 });
  const recipients = ['late@example.com', 'other@example.com'].map((address) => ({
    address,
    state: 'refused' as const,
  }));
  await endAttempts(mail.db, [{ id, claim: 1, state: 'failed', recipients }], new Date());
  expect((await get(id)).body.data).toMatchObject({
    state: 'failed',
    canResend: false,
    refused: ['other@example.com'],
  });
  expect(await isStored('late@example.com')).toBe(false);
});

describe('a resend and an erasure at the same time', () => {
  const fail = async (sendEmailTo: string[]) => {
    smtp.behave((step) => (step === 'MESSAGE' ? '554 no' : undefined));
    await mail.send({ ...invite, sendEmailTo });
    smtp.behave(() => undefined);
    const [failed] = await list(sendEmailTo[0] ?? '');
    return failed?.id ?? '';
  };

  test.each([
    ['alone', ['again@example.com']],
    ['among others', ['again@example.com', 'other@example.com']],
  ])(
    'a recipient %s that is erased while the resend is being stored disappears from both records',
    async (_name, to) => {
      const id = await fail(to);
      // Holds the resend between taking the stored request and inserting its record.
      await mail.db.query(
        `create function wait_for_test() returns trigger language plpgsql as
         'begin perform pg_advisory_xact_lock(1); return null; end';
       create trigger wait_for_test before insert on mails for each statement execute function wait_for_test()`,
      );
      const lock = await mail.db.connect();
      await lock.query('select pg_advisory_lock(1)');
      const sending = resend(id);
      const isWaiting = `select from pg_locks where locktype = 'advisory' and not granted`;
      await waitFor(async () => (await lock.query(isWaiting)).rowCount === 1, { what: 'the insert' });
      const erasing = erase('again@example.com');
      await lock.query('select pg_advisory_unlock(1)');
      lock.release();
      expect((await sending).status).toBe(200);
      await erasing;
      await mail.db.query('drop function wait_for_test cascade');
      await waitFor(async () => !(await isStored('again@example.com')), { what: 'the erasure' });
    },
  );

  test('a recipient that is erased while the resend is in progress disappears from both records', async () => {
    const id = await fail(['both@example.com']);
    smtp.behave((step) => (step === 'MESSAGE' ? 'hang' : undefined));
    const sending = resend(id);
    await waitFor(() => smtp.count('MESSAGE') === 1, { what: 'the message' });
    expect(await erase('both@example.com')).toEqual({ deleted: 1, changed: 0, pending: 1 });
    smtp.say('250 queued');
    expect((await sending).status).toBe(200);
    await waitFor(async () => !(await isStored('both@example.com')), { what: 'the erasure' });
  });

  test('leave no trace of the recipient, whatever their order', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = await fail(['order@example.com']);
      await Promise.all([resend(id), erase('order@example.com')]);
      await waitFor(async () => !(await isStored('order@example.com')), { what: 'the erasure' });
    }
    expect(await list('order@example.com')).toEqual([]);
  });
});

test('the log says who erased how many mails, but not whose address', async () => {
  await mail.send({ sendEmailTo: ['whom@example.com'] });
  await erase('whom@example.com');
  // oxfmt-ignore
  const lines = mail.logged().split('\n').filter((line) => line.includes('recipient erased'));
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
    orgId: mail.orgId,
    userId: expect.any(String),
    credential: { kind: 'session', id: expect.any(String) },
    deleted: 1,
    changed: 0,
    pending: 0,
  });
  expect(mail.logged()).not.toContain('whom');
});
