import { randomUUID } from 'node:crypto';
import { createAdministrator, emailBody, type MailUnderTest, startMail } from '../mail.js';
import { type SmtpUnderTest, startSmtp, toConfiguration } from '../smtp-server.js';

let mail: MailUnderTest;
let smtp: SmtpUnderTest;
/** The administrator of the second organisation. */
let other: Awaited<ReturnType<typeof createAdministrator>>;
let otherToken: string;
/** The records of the first organisation: one was sent, and one can be resent. */
let sentId: string;
let failedId: string;

const key = randomUUID();
const list = async (token: string, query = '') =>
  (await mail.call('GET', `/api/v1/mail/records?state=any${query}`, { token })).body.data as {
    readonly id: string;
  }[];

beforeAll(async () => {
  mail = await startMail();
  smtp = await startSmtp();
  const configuration = toConfiguration(smtp);
  await mail.configure(configuration);
  await mail.send({ subject: 'sent' }, { 'idempotency-key': key });
  smtp.behave((step) => (step === 'MESSAGE' ? '554 no' : undefined));
  const templateData = { inviteLink: 'https://app.example/invite#token=1' };
  await mail.send({ subject: 'failed', emailTemplateType: 'appuserInvite', templateData });
  smtp.behave(() => undefined);
  [failedId = '', sentId = ''] = (await list(mail.session)).map(({ id }) => id);
  other = await createAdministrator();
  otherToken = await other.createToken(['SEND_MAIL']);
  const path = '/api/v1/configurationManager/smtpConfig';
  await mail.identity('POST', path, { token: other.session, body: configuration });
});
afterAll(async () => {
  await mail.close();
  await smtp.close();
});
beforeEach(() => {
  smtp.accepted.length = 0;
});

describe.each([
  ['a session', () => other.session],
  ['a token', () => otherToken],
])("%s of another organisation's administrator", (_kind, credential) => {
  test('lists none of the records with any filter', async () => {
    for (const query of [
      '',
      '&recipient=to@example.com',
      '&emailTemplateType=appuserInvite',
      `&since=${encodeURIComponent('2020-01-01T00:00:00Z')}`,
    ])
      expect(await list(credential(), query)).toEqual([]);
    const { body } = await mail.call('GET', '/api/v1/mail/records', { token: credential() });
    expect([body.data, body.pagination.total]).toEqual([[], 0]);
  });

  test('gets the same 404 for them as for a record that does not exist', async () => {
    const get = (id: string) => mail.call('GET', `/api/v1/mail/records/${id}`, { token: credential() });
    const missing = await get(randomUUID());
    expect(missing.status).toBe(404);
    for (const id of [sentId, failedId]) {
      const foreign = await get(id);
      expect([foreign.status, foreign.body]).toEqual([404, missing.body]);
    }
  });

  test('cannot resend them, and does not use up their stored requests', async () => {
    const resend = (id: string) =>
      mail.call('POST', `/api/v1/mail/records/${id}/resend`, { token: credential() });
    const missing = await resend(randomUUID());
    for (const id of [sentId, failedId]) {
      const foreign = await resend(id);
      expect([foreign.status, foreign.body]).toEqual([409, missing.body]);
    }
    expect(smtp.accepted).toEqual([]);
    const { body } = await mail.call('GET', `/api/v1/mail/records/${failedId}`, { token: mail.session });
    expect(body.data.canResend).toBe(true);
  });

  test('cannot erase their recipients', async () => {
    const path = '/api/v1/mail/records?recipient=to@example.com';
    const erased = await mail.call('DELETE', path, { token: credential() });
    expect(erased.body).toMatchObject({ deleted: 0, changed: 0, pending: 0 });
    expect((await list(mail.session, '&recipient=to@example.com')).map(({ id }) => id)).toEqual([
      failedId,
      sentId,
    ]);
  });
});

// prettier-ignore
test('an idempotency key has no effect in another organisation', async () => {
  const path = '/api/v1/mail/emails/sendEmail';
  const options = { token: otherToken, body: emailBody({ subject: 'other' }), headers: { 'idempotency-key': key } };
  expect((await mail.call('POST', path, options)).status).toBe(200);
  expect((await list(other.session)).length).toBe(1);
  const again = await mail.send({ subject: 'sent' }, { 'idempotency-key': key });
  expect([again.status, smtp.accepted.length]).toEqual([200, 1]);
});

test('the first organisation can still resend its mail', async () => {
  const path = `/api/v1/mail/records/${failedId}/resend`;
  expect((await mail.call('POST', path, { token: mail.session })).status).toBe(200);
  expect(smtp.accepted).toHaveLength(1);
});
