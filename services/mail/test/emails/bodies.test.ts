import { request } from 'node:http';
import PostalMime from 'postal-mime';
import { attachment, emailBody } from '../mail.js';
import { startMailWithServer } from '../mail-with-server.js';

const { mail, smtp } = await startMailWithServer();
afterAll(() => mail.close());
beforeEach(() => {
  smtp.accepted.length = 0;
});

test('a body that is not a JSON object, or contains text that cannot be stored, is refused', async () => {
  const path = '/api/v1/mail/emails/sendEmail';
  for (const raw of ['{', '', '[]', 'null', '"x"'])
    expect((await mail.call('POST', path, { token: mail.token, raw })).status).toBe(400);
  const raw = JSON.stringify(emailBody()).replace('Your code', String.raw`\u0000`);
  expect((await mail.call('POST', path, { token: mail.token, raw })).status).toBe(400);
  const authorization = `Bearer ${mail.token}`;
  const latin1 = await fetch(mail.url + path, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(emailBody()).replace('Your code', 'caf\xe9'), 'latin1'),
  });
  expect([latin1.status, await latin1.json()]).toMatchObject([400, { error: { code: 'INVALID_JSON' } }]);
  const text = await mail.call('POST', path, {
    token: mail.token,
    raw: 'x',
    headers: { 'content-type': 'text/plain' },
  });
  expect(text.status).toBe(415);
});

// prettier-ignore
test('a compressed body fails with 415, and is not decompressed', async () => {
  const [path, headers] = ['/api/v1/mail/emails/sendEmail', { 'content-encoding': 'gzip' }];
  const refused = await mail.call('POST', path, { token: mail.token, body: emailBody(), headers });
  expect([refused.status, refused.headers.get('accept-encoding'), refused.body]).toEqual([
    415,
    'identity',
    { error: { code: 'UNSUPPORTED_MEDIA_TYPE', message: 'Unsupported content encoding: send the body uncompressed' } },
  ]);
  expect((await mail.call('POST', path, { body: emailBody(), headers })).status).toBe(401);
  expect(smtp.accepted).toEqual([]);
  expect((await mail.send({}, { 'content-encoding': 'identity' })).status).toBe(200);
});

// prettier-ignore
test('a client that disconnects in the middle of a body is not logged as a failure', async () => {
  const headers = {
    authorization: `Bearer ${mail.token}`,
    'content-type': 'application/json',
    'x-request-id': 'leaves-early',
  };
  const leaving = request(`${mail.url}/api/v1/mail/emails/sendEmail`, { method: 'POST', headers });
  leaving.on('error', () => undefined);
  await new Promise((resolve) => leaving.write('{"subject":', resolve));
  leaving.destroy();
  const lines = () => mail.logged().split('\n').filter((line) => line.includes('"leaves-early"'));
  // Nothing signals that the service noticed the disconnect, but sending a whole mail takes longer.
  expect((await mail.send()).status).toBe(200);
  expect(lines().filter((line) => !line.includes('"level":"debug"'))).toEqual([]);
});

test('a large body with too many values or levels is refused before it is parsed', async () => {
  for (const [part, message] of [
    ['[', /64 levels/],
    ['1,', /10000 values/],
  ] as const) {
    const raw = `{"templateData":[${part.repeat(30_000_000 / part.length)}`;
    const refused = await mail.call('POST', '/api/v1/mail/emails/sendEmail', { token: mail.token, raw });
    expect([refused.status, refused.body.error.details[0].message]).toEqual([
      400,
      expect.stringMatching(message),
    ]);
  }
});

test('long attachments are sent unchanged, with and without escapes, and other long texts are refused', async () => {
  const call = (raw: string) =>
    mail.call('POST', '/api/v1/mail/emails/sendEmail', { token: mail.token, raw });
  // In base64, `++++////`.
  const bytes = Buffer.alloc(600_000, Buffer.from([0xfb, 0xef, 0xbe, 0xff, 0xff, 0xff]));
  const content = bytes.toString('base64');
  const raw = JSON.stringify(emailBody({ attachments: [attachment({ content }), attachment()] }));
  const ofPhp = raw.replaceAll('/', String.raw`\/`);
  const ofDotNet = raw.replaceAll('+', String.raw`\u002B`);
  for (const [index, text] of [raw, ofPhp, ofDotNet].entries()) {
    expect((await call(text)).status).toBe(200);
    const { attachments } = await PostalMime.parse(smtp.accepted[index]?.raw ?? '');
    expect(attachments).toHaveLength(2);
    expect(Buffer.from(attachments[0]?.content as ArrayBuffer).equals(bytes)).toBe(true);
  }
  const long = 'x'.repeat(300_000);
  for (const [fields, field] of [
    [{ subject: long }, 'subject'],
    [{ subject: long, attachments: [attachment({ content })] }, 'subject'],
    [{ attachments: [attachment({ content, filename: long })] }, 'attachments.0.filename'],
    [{ attachments: [attachment({ content: `${content}*` })] }, 'attachments.0.content'],
    [{ attachments: [attachment({ content: `${content.slice(0, -4)}é===` })] }, 'attachments.0.content'],
  ] as const) {
    const { status, body } = await call(JSON.stringify(emailBody(fields)));
    expect([status, body.error.details[0].field]).toEqual([400, field]);
  }
});
