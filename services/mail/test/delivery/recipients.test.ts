import { waitFor } from '@platform/testing';
import type { MailUnderTest } from '../mail.js';
import { startMailWithServer } from '../mail-with-server.js';
import type { SmtpUnderTest } from '../smtp-server.js';

let mail: MailUnderTest;
let smtp: SmtpUnderTest;
beforeAll(async () => {
  ({ mail, smtp } = await startMailWithServer());
});
afterAll(() => mail.close());
beforeEach(async () => {
  smtp.behave(() => undefined);
  smtp.accepted.length = 0;
  await mail.db.query('delete from mails');
  await mail.db.query('delete from suppressions');
});

const addresses = (count: number) =>
  Array.from({ length: count }, (_one, index) => `to-${index}@example.com`);

const getRecord = async () => {
  const { body } = await mail.call('GET', '/api/v1/mail/records?state=any&limit=1', { token: mail.session });
  return body.data[0] as {
    id: string;
    state: string;
    canResend: boolean;
    attempts: number;
    recipients: { address: string; outcome: string; status?: string }[];
  };
};

/** Accepts some recipients in each transaction. */
function limit(max: number, reply: string): void {
  let count = 0;
  smtp.behave((step) => {
    if (step === 'MAIL') count = 0;
    if (step === 'RCPT') count += 1;
    return step === 'RCPT' && count > max ? reply : undefined;
  });
}

test.each([
  '452 4.5.3 too many recipients',
  '452 too many recipients',
  '552 too many recipients',
  '552 5.5.3 too many recipients',
  '550-we take ten\r\n550 5.5.3 recipients',
])('further recipients go in further transactions at once after "%s"', async (reply) => {
  limit(10, reply);
  const sent = await mail.send({ sendEmailTo: addresses(50), sendCcTo: ['cc@example.com'] });
  expect([sent.status, sent.body.data.data]).toEqual([200, 'Email sent']);
  expect(smtp.accepted.map(({ to }) => to.length)).toEqual([10, 10, 10, 10, 10, 1]);
  expect(new Set(smtp.accepted.flatMap(({ to }) => to)).size).toBe(51);
  // Each of them sees everybody, and the copies are one mail.
  for (const { raw } of smtp.accepted) expect(raw).toContain('cc@example.com');
  expect(new Set(smtp.accepted.map(({ raw }) => /^Message-ID: (.*)$/im.exec(raw)?.[1])).size).toBe(1);
  expect(await getRecord()).toMatchObject({ state: 'sent', attempts: 1 });
});

test('a full mailbox without a status is deferred beside the others, and not refused', async () => {
  smtp.behave((step, line) => (step === 'RCPT' && line.includes('to-1@') ? '552 mailbox full' : undefined));
  const sent = await mail.send({ sendEmailTo: addresses(3) });
  expect(sent.body.data.data).toBe('Email sent, and it is tried again for to-1@example.com');
  expect(await getRecord()).toMatchObject({
    state: 'queued',
    recipients: [{ outcome: 'accepted' }, { outcome: 'deferred', status: '552' }, { outcome: 'accepted' }],
  });
});

test('what the server refuses in a further transaction does not touch the recipients that have the mail', async () => {
  const limits = (reply: string) => {
    let count = 0;
    smtp.behave((step) => {
      if (step === 'MAIL' && count > 0) return reply;
      if (step === 'RCPT') count += 1;
      return step === 'RCPT' && count > 1 ? '452 4.5.3 too many' : undefined;
    });
  };
  limits('451 4.3.2 later');
  const deferred = await mail.send({ sendEmailTo: addresses(2) });
  expect(deferred.body.data.data).toBe('Email sent, and it is tried again for to-1@example.com');
  limits('550 5.7.1 no');
  const refused = await mail.send({ sendEmailTo: addresses(2) });
  expect(refused.body.data.data).toBe('Email sent, but the server refused to-1@example.com');
  expect(smtp.accepted.map(({ to }) => to)).toEqual([['to-0@example.com'], ['to-0@example.com']]);
});

test('a further transaction without a final reply is unknown, and a resend leaves out who has the mail', async () => {
  let messages = 0;
  let count = 0;
  smtp.behave((step, line) => {
    if (step === 'MAIL') count = 0;
    if (step === 'RCPT') count += 1;
    if (step === 'RCPT' && count > 1) return '452 4.5.3 too many';
    if (step === 'MESSAGE' && line !== 'peek') messages += 1;
    return step === 'MESSAGE' && messages === 2 ? 'close' : undefined;
  });
  const sent = await mail.send({
    emailTemplateType: 'accountCreation',
    templateData: {},
    sendEmailTo: addresses(2),
  });
  expect([sent.status, sent.body.error.code]).toEqual([500, 'DELIVERY_UNKNOWN']);
  const record = await getRecord();
  expect(record).toMatchObject({
    state: 'unknown',
    canResend: true,
    recipients: [{ outcome: 'accepted' }, { outcome: 'unknown' }],
  });
  smtp.behave(() => undefined);
  smtp.accepted.length = 0;
  const path = `/api/v1/mail/records/${record.id}/resend`;
  expect((await mail.call('POST', path, { token: mail.session })).status).toBe(200);
  expect(smtp.accepted.map(({ to }) => to)).toEqual([['to-1@example.com']]);
});

test('a queued mail goes to all recipients of a server with a limit in one attempt', async () => {
  limit(2, '552 5.5.3 too many recipients');
  expect((await mail.send({ sendEmailTo: addresses(5) }, { prefer: 'respond-async' })).status).toBe(202);
  await waitFor(async () => (await getRecord()).state === 'sent', { what: 'the outcome' });
  expect(smtp.accepted.map(({ to }) => to.length)).toEqual([2, 2, 1]);
  expect((await getRecord()).attempts).toBe(1);
});

test('a greeting of 421 is temporary, and explained as one', async () => {
  smtp.behave((step) => (step === 'CONNECT' ? '421 4.7.0 too many connections' : undefined));
  // A new configuration opens a new connection.
  await mail.configure({ host: '127.0.0.1', port: smtp.port, fromEmail: 'other@corp.example' });
  const sent = await mail.send();
  expect([sent.status, sent.body.error.code]).toEqual([500, 'SMTP_ERROR']);
  const tested = await mail.call('POST', '/api/v1/mail/testConnection', { token: mail.session });
  expect(tested.body.problem).toMatchObject({
    code: 'EPROTOCOL',
    reply: 421,
    message: expect.stringContaining('takes no connections for now (421 4.7.0)'),
  });
  expect(tested.body.problem.message).not.toContain('as an SMTP server');
});
