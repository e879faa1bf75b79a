import { request } from 'node:http';
import { connect } from 'node:net';
import { waitFor } from '@platform/testing';
import { attachment, emailBody, type MailUnderTest } from '../mail.js';
import { startMailWithServer } from '../mail-with-server.js';
import type { SmtpUnderTest } from '../smtp-server.js';

let mail: MailUnderTest;
let smtp: SmtpUnderTest;

beforeAll(async () => {
  // Large mails take long on a busy machine.
  ({ mail, smtp } = await startMailWithServer({ environment: { SMTP_TIMEOUT_MS: '60000' } }));
});
afterAll(() => mail.close());
beforeEach(() => {
  smtp.accepted.length = 0;
});

/** Two mails of it hold more than the half of the memory that one organisation may have. */
const LARGE = Buffer.alloc(22 * 1_048_576).toString('base64');
/** Any mail that reserves memory is refused meanwhile. */
const sendCounted = () =>
  mail.send({ attachments: [attachment({ content: Buffer.alloc(200_000).toString('base64') })] });
const memoryIsFree = () =>
  waitFor(async () => (await sendCounted()).status === 200, { what: 'the release of the memory' });

test('25 MiB of attachments are delivered, and a larger body fails with 413', async () => {
  const bytes = Buffer.alloc(25 * 1_048_576, 'platform');
  const sent = await mail.send({ attachments: [attachment({ content: bytes.toString('base64') })] });
  expect(sent.status).toBe(200);
  const base64 = smtp.accepted[0]?.raw.split('\r\n\r\n').at(-1)?.split('\r\n--')[0] ?? '';
  expect(Buffer.from(base64, 'base64').equals(bytes)).toBe(true);
  const huge = await mail
    .send({ attachments: [attachment({ content: 'A'.repeat(38_000_000) })] })
    .catch(() => undefined);
  // The connection may be closed before the client has read the response.
  expect([undefined, 413]).toContain(huge?.status);
});

test('bodies under 1 MiB reserve memory as soon as their length is announced', async () => {
  const headers = {
    authorization: `Bearer ${mail.token}`,
    'content-type': 'application/json',
    'content-length': 1_000_000,
  };
  const statuses: (number | undefined)[] = [];
  const waiting = Array.from({ length: 120 }, () =>
    request(`${mail.url}/api/v1/mail/emails/sendEmail`, { method: 'POST', headers, agent: false })
      .on('response', ({ statusCode }) => statuses.push(statusCode))
      .on('error', () => undefined),
  );
  for (const announced of waiting) announced.flushHeaders();
  await waitFor(() => statuses.length > 0, { what: 'the first refusal' }).finally(() => {
    for (const announced of waiting) announced.destroy();
  });
  expect(new Set(statuses)).toEqual(new Set([429]));
  expect(await memoryIsFree()).toBe(true);
});

test('a body of unknown length reserves only the memory that it has used so far', async () => {
  const bodies = Array.from({ length: 5 }, () => {
    const started = request(`${mail.url}/api/v1/mail/emails/sendEmail`, {
      method: 'POST',
      headers: { authorization: `Bearer ${mail.token}`, 'content-type': 'application/json' },
      agent: false,
    });
    started.write('{');
    const answered = new Promise<number | undefined>((resolve, reject) => {
      started.on('response', (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      started.on('error', reject);
    });
    return { started, answered };
  });
  // All five requests are open when the first one ends.
  const rest = JSON.stringify(emailBody()).slice(1);
  for (const { started } of bodies) started.end(rest);
  expect(await Promise.all(bodies.map(({ answered }) => answered))).toEqual([200, 200, 200, 200, 200]);
});

test('a large mail keeps its memory reserved until it is delivered, even when its client disconnects', async () => {
  smtp.behave((step) => (step === 'DATA' ? 'hang' : undefined));
  const body = JSON.stringify(emailBody({ attachments: [attachment({ content: LARGE })] }));
  const sendAndLeave = (): ReturnType<typeof request> =>
    request(`${mail.url}/api/v1/mail/emails/sendEmail`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${mail.token}`,
        'content-type': 'application/json',
        'content-length': body.length,
      },
      agent: false,
    })
      .on('error', () => undefined)
      .end(body);
  // One organisation can reserve memory for two such mails.
  const clients = [sendAndLeave(), sendAndLeave()];
  await waitFor(() => smtp.count('DATA') === 2, { what: 'two mails in progress' });
  for (const client of clients) client.destroy();
  // The service has noticed the disconnects by the time that it has answered these requests.
  for (let count = 0; count < 10; count += 1)
    await mail.call('GET', '/api/v1/mail/records', { token: mail.session });
  const refused = await sendCounted();
  expect([refused.status, refused.body.error.message]).toEqual([429, 'Too many large mails at once']);
  smtp.say('354 go on');
  await waitFor(() => smtp.accepted.length === 2, { what: 'both mails' });
  smtp.behave(() => undefined);
  expect(await memoryIsFree()).toBe(true);
});

test('pipelined large mails release their memory when the client has left before their responses began', async () => {
  smtp.behave((step) => (step === 'DATA' ? 'hang' : undefined));
  const toRequest = (fields: object) => {
    const body = JSON.stringify(emailBody(fields));
    const head = [
      'POST /api/v1/mail/emails/sendEmail HTTP/1.1',
      'host: mail',
      `authorization: Bearer ${mail.token}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
    ];
    return `${head.join('\r\n')}\r\n\r\n${body}`;
  };
  const large = toRequest({ attachments: [attachment({ content: LARGE })] });
  const client = connect(Number(new URL(mail.url).port), '127.0.0.1').on('error', () => undefined);
  // The responses to the large mails wait for the response to the first mail, which isn't delivered yet.
  for (const text of [toRequest({}), large, large]) client.write(text);
  await waitFor(() => smtp.count('DATA') === 3, { what: 'three mails in progress' });
  client.destroy();
  smtp.say('354 go on');
  await waitFor(() => smtp.accepted.length === 3, { what: 'the mails' });
  smtp.behave(() => undefined);
  expect(await memoryIsFree()).toBe(true);
});
