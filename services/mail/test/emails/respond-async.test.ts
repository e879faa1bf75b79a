import { randomUUID } from 'node:crypto';
import { startStopwatch, waitFor } from '@platform/testing';
import { startMail } from '../mail.js';
import { type SmtpUnderTest, startSmtp, toConfiguration } from '../smtp-server.js';

let smtp: SmtpUnderTest;
const mail = await startMail({ environment: { SEND_DEADLINE_MS: '4000', SMTP_TIMEOUT_MS: '30000' } });
afterAll(() => mail.close());
beforeEach(async () => {
  smtp = await startSmtp();
  await mail.configure(toConfiguration(smtp));
});
afterEach(() => smtp.close());

const hang = () => {
  smtp.behave((step) => (step === 'MESSAGE' ? 'hang' : undefined));
};
const record = (location: string | null) =>
  mail.call('GET', location ?? '', { token: mail.session }).then(({ body }) => body.data);

test('respond-async responds with 202 immediately, and the record shows the outcome later', async () => {
  hang();
  const sent = await mail.send({}, { prefer: 'respond-async' });
  expect([sent.status, sent.headers.get('preference-applied'), sent.body.data]).toEqual([
    202,
    'respond-async',
    { status: true, data: 'Email accepted', id: expect.any(String) },
  ]);
  const location = sent.headers.get('location');
  expect(location).toBe(`/api/v1/mail/records/${sent.body.data.id}`);
  expect(['queued', 'sending']).toContain((await record(location)).state);
  await waitFor(() => smtp.count('MESSAGE') === 1, { what: 'the message' });
  smtp.say('250 queued');
  await waitFor(async () => (await record(location)).state === 'sent', { what: 'the outcome' });
});

test('respond-async with wait responds with the outcome when it is known in time', async () => {
  const sent = await mail.send({}, { prefer: 'respond-async, wait=60' });
  expect([sent.status, sent.body.data.data]).toEqual([200, 'Email sent']);
  smtp.behave((step) => (step === 'RCPT' ? '550 5.1.1 unknown' : undefined));
  const refused = await mail.send({}, { prefer: 'respond-async, wait=60' });
  expect([refused.status, refused.body.error.code]).toEqual([500, 'SMTP_REFUSED']);
});

test('a repeated key responds with 202 and the same record while the mail is in progress, then with its outcome', async () => {
  hang();
  const key = { 'idempotency-key': randomUUID(), prefer: 'respond-async' };
  const first = await mail.send({}, key);
  const again = await mail.send({}, key);
  expect([again.status, again.body]).toEqual([202, first.body]);
  await waitFor(() => smtp.count('MESSAGE') === 1, { what: 'the message' });
  smtp.say('250 queued');
  await waitFor(async () => (await mail.send({}, key)).status === 200, { what: 'the outcome' });
  expect([smtp.count('MESSAGE'), smtp.accepted.length]).toEqual([1, 1]);
});

test('a request without the preference gets a response by the deadline, even if the outcome is unknown', async () => {
  hang();
  const startedAt = performance.now();
  const stopwatch = startStopwatch();
  const sent = await mail.send();
  expect([sent.status, sent.body.error.code]).toEqual([500, 'DELIVERY_UNKNOWN']);
  expect(performance.now() - startedAt).toBeGreaterThan(3_500);
  // No step of the SMTP dialogue times out before this.
  expect(stopwatch.stop()).toBeLessThan(25_000);
});

test('wait shortens the deadline of a request', async () => {
  smtp.behave((step) => (step === 'CONNECT' ? 'hang' : undefined));
  const stopwatch = startStopwatch();
  const sent = await mail.send({}, { prefer: 'wait=1' });
  expect([sent.status, sent.body.error.code]).toEqual([500, 'SMTP_ERROR']);
  expect(stopwatch.stop()).toBeLessThan(3_500);
});

// This test must be the last one, because it doesn't start the service again.
test('a shutdown gives accepted mails an outcome within the deadline', async () => {
  hang();
  const sent = await mail.send({}, { prefer: 'respond-async' });
  await waitFor(() => smtp.count('MESSAGE') === 1, { what: 'the message' });
  await mail.stop();
  const { rows } = await mail.db.query('select state from mails where id = $1', [sent.body.data.id]);
  expect(rows).toEqual([{ state: 'unknown' }]);
});
