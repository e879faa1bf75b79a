import { randomUUID } from 'node:crypto';
import { DAY_MS } from '@platform/service-kit';
import { type BoxKey, createSecretBox } from '@platform/service-kit';
import { startStopwatch, waitFor } from '@platform/testing';
import { attachment } from '../mail.js';
import { startMailWithServer } from '../mail-with-server.js';

const MINUTE = 60_000;

const { mail, smtp } = await startMailWithServer({
  environment: { SMTP_TIMEOUT_MS: '30000' },
  queueTimes: { leaseMs: 30_000, upkeepMs: 200, keyLifetimeMs: DAY_MS },
});
afterAll(() => mail.close());
beforeEach(async () => {
  smtp.behave(() => undefined);
  smtp.accepted.length = 0;
  await mail.db.query('delete from mails');
  await mail.db.query('delete from suppressions');
});

const notice = { emailTemplateType: 'accountCreation', templateData: { userName: 'Ada' } };
const enqueue = async (fields: object = notice) => {
  const { status, body } = await mail.send(fields, { prefer: 'respond-async' });
  expect(status).toBe(202);
  return body.data.id as string;
};
const get = async (id: string) =>
  (await mail.call('GET', `/api/v1/mail/records/${id}`, { token: mail.session })).body.data;
const waitForState = (id: string, state: string) =>
  waitFor(
    async () => {
      const record = await get(id);
      return record.state === state && record;
    },
    { what: `the state ${state}` },
  );

/** Waits until an attempt has ended, after which the mail is tried again. */
const waitForAttempt = (id: string, attempts: number) =>
  waitFor(
    async () => {
      const record = await get(id);
      return record.state === 'queued' && record.attempts === attempts && record;
    },
    { what: `attempt ${attempts}` },
  );

test('a mail that was answered 202 is stored with its encrypted request, and tried again until the server takes it', async () => {
  smtp.behave((step) => (step === 'MAIL' ? '451 4.7.1 later' : undefined));
  const id = await enqueue({ ...notice, templateData: { userName: 'Ada of the test' } });
  const deferred = await waitForAttempt(id, 1);
  expect(deferred).toMatchObject({ failure: { kind: 'temporary', reply: 451, status: '4.7.1' } });
  const pauseMs = Date.parse(deferred.nextAttemptAt as string) - Date.parse(deferred.updatedAt as string);
  expect(pauseMs).toBeGreaterThan(0.9 * MINUTE);
  expect(pauseMs).toBeLessThan(1.1 * MINUTE);
  const { rows } = await mail.db.query('select mails::text as row, sealed_request from mails');
  expect(rows[0].sealed_request).toEqual(expect.any(String));
  expect(rows[0].row).not.toContain('Ada of the test');
  smtp.behave(() => undefined);
  mail.advance(2 * MINUTE);
  const sent = await waitForState(id, 'sent');
  expect([sent.attempts, sent.failure, smtp.accepted.length]).toEqual([2, null, 1]);
  expect(smtp.accepted[0]?.raw).toContain('Ada of the test');
  expect((await mail.db.query('select sealed_request from mails')).rows).toEqual([{ sealed_request: null }]);
});

test('MAIL-47 what becomes of mails is in the feed of facts, and names nobody but who sent them', async () => {
  const sent = await enqueue();
  await waitForState(sent, 'sent');
  smtp.behave((step) => (step === 'RCPT' ? '550 5.1.1 no such user' : undefined));
  const failed = await enqueue({ ...notice, sendEmailTo: ['gone@example.com'] });
  await waitForState(failed, 'failed');
  smtp.behave((step) => (step === 'MESSAGE' ? 'close' : undefined));
  const unknown = await enqueue({ ...notice, sendEmailTo: ['ada@example.com'] });
  await waitForState(unknown, 'unknown');
  const list = async () => {
    const { body } = await mail.identity('GET', '/api/v1/events?limit=500', { token: mail.session });
    const facts = body.data as {
      type: string;
      data: { mailId?: string; reason?: string; senderId?: string; mails?: object[] };
    }[];
    return facts.filter(
      ({ type, data }) => [sent, failed, unknown].includes(data.mailId ?? '') || type === 'mail.suppressed',
    );
  };
  const facts = await waitFor(async () => ((await list()).length >= 4 ? list() : undefined), {
    what: 'the facts',
  });
  expect(facts.map(({ type, data }) => [type, data.mailId ?? data.reason])).toEqual(
    expect.arrayContaining([
      ['mail.sent', sent],
      ['mail.failed', failed],
      ['mail.suppressed', 'refused'],
      ['mail.unknown', unknown],
    ]),
  );
  expect(facts).toHaveLength(4);
  const me = await mail.identity('GET', '/api/v1/users/me', { token: mail.session });
  const senderId = me.body.user.id as string;
  for (const { type, data } of facts)
    expect(data).toMatchObject(
      type === 'mail.suppressed' ? { mails: [{ mailId: failed, senderId }] } : { senderId },
    );
  expect(JSON.stringify(facts)).not.toContain('@');
});

const [firstKey, otherKey] = ['k1', 'other'].map((id, byte) => ({ id, key: Buffer.alloc(32, byte + 1) }));
const box = createSecretBox([firstKey as BoxKey]);
const otherBox = createSecretBox([otherKey as BoxKey]);
test.each<[string, string, (stored: string, id: string) => string]>([
  ['was sealed with another key', 'EREQUEST', (_stored, id) => otherBox.seal('{}', `request ${id}`)],
  [
    'another version wrote, and this one cannot render',
    'EINVALID',
    (stored, id) => {
      const { body, ...request } = JSON.parse(box.open(stored, `request ${id}`)) as { body: object };
      const ofTomorrow = { emailTemplateType: 'tokenAlert', templateData: { notice: 'ofTomorrow' } };
      return box.seal(JSON.stringify({ ...request, body: { ...body, ...ofTomorrow } }), `request ${id}`);
    },
  ],
])('a mail whose request %s is tried again', async (_what, code, change) => {
  smtp.behave((step) => (step === 'MAIL' ? '451 later' : undefined));
  const id = await enqueue();
  await waitForAttempt(id, 1);
  smtp.behave(() => undefined);
  const { rows } = await mail.db.query('select sealed_request from mails');
  const stored = rows[0].sealed_request as string;
  const store = (request: string) => mail.db.query('update mails set sealed_request = $1', [request]);
  await store(change(stored, id));
  mail.advance(2 * MINUTE);
  expect((await waitForAttempt(id, 2)).failure.code).toBe(code);
  await store(stored);
  mail.advance(6 * MINUTE);
  await waitForState(id, 'sent');
});

test('a mail waits in the queue while there is no SMTP configuration', async () => {
  const path = '/api/v1/configurationManager/smtpConfig';
  const { hasPassword: _, ...saved } = (await mail.identity('GET', path, { token: mail.session })).body.smtp;
  smtp.behave((step) => (step === 'MAIL' ? '451 later' : undefined));
  const id = await enqueue();
  await waitForAttempt(id, 1);
  smtp.behave(() => undefined);
  await mail.identity('DELETE', path, { token: mail.session });
  await mail.call('POST', '/api/v1/mail/updateSmtpConfig', { token: mail.token });
  mail.advance(2 * MINUTE);
  try {
    expect((await waitForAttempt(id, 2)).failure.code).toBe('ECONFIG');
  } finally {
    await mail.configure(saved as object);
  }
  mail.advance(6 * MINUTE);
  await waitForState(id, 'sent');
});

test('large attachments of a queued mail are stored encrypted, sent unchanged, and deleted with the outcome', async () => {
  const content = Buffer.alloc(5_000_000, 'a large attachment of the test ');
  smtp.behave((step) => (step === 'MAIL' ? '451 later' : undefined));
  const id = await enqueue({ ...notice, attachments: [attachment({ content: content.toString('base64') })] });
  await waitForAttempt(id, 1);
  const { rows } = await mail.db.query('select sealed from mail_attachments');
  expect(rows.length).toBe(5);
  expect((rows[0].sealed as Buffer).includes('a large attachment')).toBe(false);
  smtp.behave(() => undefined);
  mail.advance(2 * MINUTE);
  expect((await waitForState(id, 'sent')).canResend).toBe(false);
  const base64 = smtp.accepted[0]?.raw.split('\r\n\r\n').at(-1)?.split('\r\n--')[0] ?? '';
  expect(Buffer.from(base64, 'base64').equals(content)).toBe(true);
  expect((await mail.db.query('select from mail_attachments')).rowCount).toBe(0);
});

test('a mail whose outcome is unknown is not sent again, and the queue goes on', async () => {
  smtp.behave((step, _line, count) => (step === 'MESSAGE' && count === 1 ? 'close' : undefined));
  const unknown = await enqueue();
  await waitForState(unknown, 'unknown');
  await waitForState(await enqueue(), 'sent');
  mail.advance(10 * MINUTE);
  await waitForState(await enqueue(), 'sent');
  expect((await get(unknown)).state).toBe('unknown');
});

test.each([
  ['sent, when that succeeds', 1, 'sent', 2],
  ['unknown, when its outcome is unknown again', 2, 'unknown', 2],
])(
  'a security notice whose outcome is unknown is tried once more, and then %s',
  async (_name, failures, state, arrivals) => {
    smtp.behave((step) => (step === 'MAIL' ? '451 later' : undefined));
    const id = await enqueue();
    await waitForAttempt(id, 1);
    // As if one of the platform's own services had sent it.
    await mail.db.query('update mails set at_least_once = true');
    smtp.behave((step, _line, count) => (step === 'MESSAGE' && count <= failures ? 'close' : undefined));
    mail.advance(2 * MINUTE);
    expect(await waitForAttempt(id, 2)).toMatchObject({ unknownAttempts: 1 });
    mail.advance(6 * MINUTE);
    expect(await waitForState(id, state)).toMatchObject({ unknownAttempts: failures });
    expect(smtp.accepted).toHaveLength(arrivals);
  },
);

test('a mail whose caller has been answered is not sent later', async () => {
  smtp.behave((step) => (step === 'MAIL' ? 'hang' : undefined));
  const sent = await mail.send(notice, { prefer: 'wait=1' });
  expect([sent.status, sent.body.error.code]).toEqual([500, 'SMTP_ERROR']);
  smtp.behave(() => undefined);
  mail.advance(2 * MINUTE);
  await waitForState(await enqueue(), 'sent');
  expect(smtp.accepted).toHaveLength(1);
  const { rows } = await mail.db.query('select state from mails order by id');
  expect(rows.map(({ state }) => state as string)).toEqual(['failed', 'sent']);
});

test('a mail whose caller waits for a free connection is withdrawn at its deadline', async () => {
  smtp.behave((step) => (step === 'MESSAGE' ? 'hang' : undefined));
  const busy = Array.from({ length: 5 }, () => mail.send(notice));
  await waitFor(() => smtp.count('MESSAGE') === 5, { what: 'five mails in progress' });
  const stopwatch = startStopwatch();
  const late = await mail.send(notice, { prefer: 'wait=1' });
  expect([late.status, late.body.error.code]).toEqual([500, 'SMTP_ERROR']);
  expect(stopwatch.stop()).toBeLessThan(5_000);
  smtp.say('250 queued');
  expect((await Promise.all(busy)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(smtp.accepted).toHaveLength(5);
});

describe('recipients', () => {
  const outcomes = (record: { recipients: { address: string; outcome: string; status?: string }[] }) =>
    record.recipients.map(({ address, outcome, status }) => [address, outcome, status]);
  const sendEmailTo = ['ada@example.com', 'Bob@example.com', 'gone@example.com'];
  const greylist = () => {
    smtp.behave((step, line) => {
      if (step !== 'RCPT') return undefined;
      if (line.includes('Bob@')) return '450 4.2.0 greylisted';
      return line.includes('gone@') ? '550 5.1.1 no such user' : undefined;
    });
  };

  test('that were deferred are tried again, and the others get the mail once', async () => {
    greylist();
    const id = await enqueue({ ...notice, sendEmailTo });
    await waitForAttempt(id, 1);
    expect(outcomes(await get(id))).toEqual([
      ['ada@example.com', 'accepted', undefined],
      ['Bob@example.com', 'deferred', '4.2.0'],
      ['gone@example.com', 'refused', '5.1.1'],
    ]);
    smtp.behave(() => undefined);
    mail.advance(2 * MINUTE);
    expect(outcomes(await waitForState(id, 'sent'))).toEqual([
      ['ada@example.com', 'accepted', undefined],
      ['Bob@example.com', 'accepted', undefined],
      ['gone@example.com', 'refused', '5.1.1'],
    ]);
    expect(smtp.accepted.map(({ to }) => to)).toEqual([['ada@example.com'], ['Bob@example.com']]);
    const [first, second] = smtp.accepted.map(({ raw }) => /^(?:Message-ID|To): .*$/gim.exec(raw)?.[0]);
    expect(first).toBe(second);
  });

  test('that were deferred beside others are named in the response, and tried again', async () => {
    greylist();
    const key = { 'idempotency-key': randomUUID() };
    const sent = await mail.send({ ...notice, sendEmailTo }, key);
    expect([sent.status, sent.body.data.data]).toEqual([
      200,
      'Email sent, but the server refused gone@example.com, and it is tried again for Bob@example.com',
    ]);
    const again = await mail.send({ ...notice, sendEmailTo }, key);
    expect([again.status, again.body]).toEqual([200, sent.body]);
    smtp.behave(() => undefined);
    mail.advance(2 * MINUTE);
    await waitFor(() => smtp.accepted.length === 2, { what: 'the second attempt' });
    expect(smtp.accepted[1]?.to).toEqual(['Bob@example.com']);
  });

  test('that are erased from a queued mail do not get it', async () => {
    smtp.behave((step) => (step === 'MAIL' ? '451 later' : undefined));
    const id = await enqueue({ ...notice, sendEmailTo: ['ada@example.com', 'bob@example.com'] });
    await waitForAttempt(id, 1);
    smtp.behave(() => undefined);
    const path = '/api/v1/mail/records?recipient=bob@example.com';
    expect((await mail.call('DELETE', path, { token: mail.session })).body.pending).toBe(1);
    await waitFor(() => smtp.accepted.length === 1, { what: 'the mail to the other recipient' });
    expect(smtp.accepted[0]?.to).toEqual(['ada@example.com']);
    expect(smtp.accepted[0]?.raw).not.toContain('bob@');
    await waitFor(async () => (await get(id)).to.includes('erased@invalid'), { what: 'the erasure' });
  });
});

test('MAIL-50 the beginning of a message is not stored before the server is ready for it', async () => {
  smtp.behave((step) => (step === 'DATA' ? 'hang' : undefined));
  const id = await enqueue();
  await waitFor(() => smtp.count('DATA') === 1, { what: 'the handover' });
  expect((await mail.db.query('select data_begun from mails')).rows).toEqual([{ data_begun: false }]);
  smtp.behave(() => undefined);
  smtp.say('451 later');
  await waitForState(id, 'sent');
});

// This test must be the last one, because it doesn't start the service again.
test('a shutdown returns what has not begun to the queue', async () => {
  smtp.behave((step) => (step === 'MAIL' ? 'hang' : undefined));
  const id = await enqueue();
  await waitFor(async () => (await get(id)).state === 'sending', { what: 'the attempt' });
  await mail.stop();
  const { rows } = await mail.db.query('select id, state, attempts from mails');
  expect(rows).toEqual([{ id, state: 'queued', attempts: 0 }]);
});
