import { request } from 'node:http';
import { waitFor } from '@platform/testing';
import PostalMime from 'postal-mime';
import { templateTypes } from '../../src/features/templates/view.js';
import { letter, type MailUnderTest, startMail } from '../mail.js';
import { type SmtpUnderTest, startSmtp } from '../smtp-server.js';

let mail: MailUnderTest;
let smtp: SmtpUnderTest;

beforeAll(async () => {
  // Large mails on a busy machine take their time.
  mail = await startMail({ environment: { SMTP_TIMEOUT_MS: '20000' } });
  smtp = await startSmtp();
  await mail.configure({ host: '127.0.0.1', port: smtp.port, fromEmail: 'noreply@corp.example' });
});
afterAll(async () => {
  await mail.close();
  await smtp.close();
});
beforeEach(() => {
  smtp.accepted.length = 0;
});

const data = {
  userName: 'Ada',
  companyName: 'Example',
  otp: '493817',
  resetLink: 'https://app.example/reset?t=1',
  inviteLink: 'https://app.example/invite?t=1',
};
const attachment = (fields: object = {}) => ({
  filename: 'note.txt',
  content: Buffer.from('hello').toString('base64'),
  contentType: 'text/plain',
  ...fields,
});
const arrived = () => Promise.all(smtp.accepted.map(({ raw }) => PostalMime.parse(raw)));

test.each(templateTypes)(
  '%s arrives with HTML and text, recipients, copies and attachments',
  async (type) => {
    const sent = await mail.send({
      emailTemplateType: type,
      templateData: data,
      sendCcTo: ['cc@example.com'],
      productName: 'Atlas',
      attachments: [attachment()],
    });
    expect([sent.status, sent.body]).toEqual([200, { data: { status: true, data: 'Email sent' } }]);
    const [parsed] = await arrived();
    expect(smtp.accepted[0]).toMatchObject({
      from: 'noreply@corp.example',
      to: ['to@example.com', 'cc@example.com'],
    });
    expect(parsed?.subject).toBe('Your code');
    expect(parsed?.html).toContain('Hello Ada,');
    expect(parsed?.html).toContain('lang="en"');
    expect(parsed?.text).toContain('Atlas');
    expect(parsed?.attachments.map(({ filename, mimeType }) => [filename, mimeType])).toEqual([
      ['note.txt', 'text/plain'],
    ]);
    expect(parsed?.messageId).toMatch(/^<[0-9a-f-]{36}@corp\.example>$/);
  },
);

test('a mail is recorded once it was sent', async () => {
  await mail.send({ subject: 'For the record', sendCcTo: ['cc@example.com'] });
  const records = await mail.call('GET', '/api/v1/mail/records?limit=1', { token: mail.session });
  expect(records.body.data[0]).toMatchObject({
    orgId: mail.orgId,
    subject: 'For the record',
    from: 'noreply@corp.example',
    to: ['to@example.com'],
    cc: ['cc@example.com'],
    emailTemplateType: 'loginWithOTP',
  });
});

test('the sender domain can be replaced, and an automatic mail says so', async () => {
  await mail.send({ fromEmailDomain: 'bücher.example', isAutoEmail: true });
  expect(smtp.accepted[0]?.from).toBe('noreply@xn--bcher-kva.example');
  expect(smtp.accepted[0]?.raw).toContain('Auto-Submitted: auto-generated\r\n');
  await mail.send();
  expect(smtp.accepted[1]?.raw).not.toContain('Auto-Submitted');
});

test('Unicode names, subjects, file names, addresses and domains arrive whole', async () => {
  const sent = await mail.send({
    subject: 'Código – код – 代码 🎉',
    sendEmailTo: ['δοκιμή@παράδειγμα.example'],
    sendCcTo: ['info@bücher.example'],
    templateData: { userName: 'Zoë Łukasz 李', companyName: '株式会社', otp: '1' },
    productName: 'Ätlas',
    attachments: [attachment({ filename: 'résumé – 履歴.txt' })],
  });
  expect(sent.status).toBe(200);
  const [parsed] = await arrived();
  expect(smtp.accepted[0]?.to).toEqual(['δοκιμή@παράδειγμα.example', 'info@xn--bcher-kva.example']);
  expect(parsed?.subject).toBe('Código – код – 代码 🎉');
  expect(parsed?.text).toContain('Hello Zoë Łukasz 李,');
  expect(parsed?.html).toContain('&#26446;');
  expect(parsed?.attachments[0]?.filename).toBe('résumé – 履歴.txt');
});

test('values can not leave their place in the HTML', async () => {
  await mail.send({
    templateData: { userName: '<img src=x onerror=alert(1)>"\'', otp: '1' },
    productName: '</title><script>alert(1)</script>',
  });
  const [parsed] = await arrived();
  expect(parsed?.html).not.toMatch(/<script|<img/);
});

test('50 recipients and 50 copies are sent to, 51 are refused', async () => {
  const people = (count: number, name: string) =>
    Array.from({ length: count }, (_, i) => `${name}${i}@example.com`);
  expect((await mail.send({ sendEmailTo: people(50, 'to'), sendCcTo: people(50, 'cc') })).status).toBe(200);
  expect(smtp.accepted[0]?.to).toHaveLength(100);
  expect((await mail.send({ sendEmailTo: people(51, 'to') })).status).toBe(400);
  expect((await mail.send({ sendCcTo: people(51, 'cc') })).status).toBe(400);
});

const injection = 'x\r\nBcc: all@example.com';
test.each([
  ['the subject', { subject: injection }, 'subject'],
  ['a bare line feed of the subject', { subject: 'x\nBcc: all@example.com' }, 'subject'],
  ['a line separator of the subject', { subject: 'x\u2028y' }, 'subject'],
  ['a recipient', { sendEmailTo: [`to@example.com${injection}`] }, 'sendEmailTo.0'],
  ['a second address in one', { sendEmailTo: ['a@example.com, b@example.com'] }, 'sendEmailTo.0'],
  ['a display name', { sendEmailTo: ['Ada <a@example.com>'] }, 'sendEmailTo.0'],
  ['a copy', { sendCcTo: ['cc@example.com\u0000'] }, 'sendCcTo.0'],
  ['the sender domain', { fromEmailDomain: 'corp.example>\r\nBcc: all@example.com' }, 'fromEmailDomain'],
  ['the product name', { productName: injection }, 'productName'],
  ['template data', { templateData: { otp: '1', userName: injection } }, 'templateData.userName'],
  ['a file name', { attachments: [attachment({ filename: `a"${injection}` })] }, 'attachments.0.filename'],
  [
    'a content type',
    { attachments: [attachment({ contentType: `text/plain${injection}` })] },
    'attachments.0.contentType',
  ],
])('a header can not be injected through %s', async (_name, fields, field) => {
  const refused = await mail.send(fields);
  expect(refused.status).toBe(400);
  const where = refused.body.error.details?.[0].field as string;
  expect([field, field.split('.')[0]]).toContain(where);
  expect(smtp.accepted).toEqual([]);
});

test.each([
  [
    'an attachment by path',
    { attachments: [{ filename: 'a', path: '/etc/passwd', contentType: 'text/plain' }] },
  ],
  ['an attachment by address', { attachments: [attachment({ href: 'http://127.0.0.1/' })] }],
  ['content that is an object', { attachments: [attachment({ content: { path: '/etc/passwd' } })] }],
  [
    'content that is a data address',
    { attachments: [attachment({ content: 'data:text/plain;base64,aGVsbG8=' })] },
  ],
  ['base64 of another alphabet', { attachments: [attachment({ content: 'aG-_' })] }],
  ['a lone character', { attachments: [attachment({ content: 'aGVsb' })] }],
  ['eleven attachments', { attachments: Array.from({ length: 11 }, () => attachment()) }],
  [
    'a script link',
    { emailTemplateType: 'resetPassword', templateData: { resetLink: 'javascript:alert(1)' } },
  ],
  ['a data link', { emailTemplateType: 'appuserInvite', templateData: { inviteLink: 'data:text/html,x' } }],
  ['a server of its own', { smtp: { host: '127.0.0.1', port: 25, fromEmail: 'a@b.example', tls: 'none' } }],
  ['no link', { emailTemplateType: 'resetPassword', templateData: {} }],
  ['no code', { templateData: { otp: '' } }],
  ['a code that is an object', { templateData: { otp: {} } }],
  ['an inherited key', { templateData: JSON.parse('{"__proto__": {"otp": "1"}}') as object }],
  ['a field that is not known', { bcc: ['x@example.com'] }],
])('%s is refused with 400 and sends nothing', async (_name, fields) => {
  const refused = await mail.send(fields);
  expect(refused.status).toBe(400);
  expect(refused.body.error.details.length).toBeGreaterThan(0);
  expect(smtp.accepted).toEqual([]);
});

test('the other names of template keys are taken, unknown keys are left alone', async () => {
  const sent = await mail.send({
    emailTemplateType: 'appuserInvite',
    templateData: { name: 'Ada', orgName: 'Example', link: 'https://app.example/i', nonsense: { deep: [1] } },
  });
  expect(sent.status).toBe(200);
  const [parsed] = await arrived();
  expect(parsed?.text).toContain('https://app.example/i');
});

test('an attached message arrives byte by byte, whatever its character set', async () => {
  const bytes = Buffer.from('Subject: caf\xe9\r\n\r\nna\xefve\r\n', 'latin1');
  const sent = await mail.send({
    attachments: [attachment({ contentType: 'message/rfc822', content: bytes.toString('base64') })],
  });
  expect(sent.status).toBe(200);
  expect(smtp.accepted[0]?.bytes.includes(bytes)).toBe(true);
});

test('a missing template, an unknown one and one of another type are 400', async () => {
  const missing = await mail.send({ emailTemplateType: undefined });
  expect([missing.status, missing.body.error.details]).toEqual([
    400,
    [{ field: 'emailTemplateType', message: 'is required' }],
  ]);
  for (const emailTemplateType of [
    'newsletter',
    'smtpServerChanged',
    'toString',
    '',
    5,
    null,
    ['loginWithOTP'],
  ]) {
    const refused = await mail.send({ emailTemplateType, sendEmailTo: 'also wrong' });
    expect([refused.status, refused.body.error.message]).toEqual([400, 'Unknown Template']);
  }
});

test('a body that is no JSON, or holds text that nobody can store, is 400', async () => {
  const path = '/api/v1/mail/emails/sendEmail';
  for (const raw of ['{', '', '[]', 'null', '"x"'])
    expect((await mail.call('POST', path, { token: mail.token, raw })).status).toBe(400);
  const raw = JSON.stringify(letter()).replace('Your code', String.raw`\u0000`);
  expect((await mail.call('POST', path, { token: mail.token, raw })).status).toBe(400);
  const authorization = `Bearer ${mail.token}`;
  const latin1 = await fetch(mail.url + path, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify(letter()).replace('Your code', 'caf\xe9'), 'latin1'),
  });
  expect([latin1.status, await latin1.json()]).toMatchObject([400, { error: { code: 'INVALID_JSON' } }]);
  const text = await mail.call('POST', path, {
    token: mail.token,
    raw: 'x',
    headers: { 'content-type': 'text/plain' },
  });
  expect(text.status).toBe(415);
});

test('a compressed body is 415, which says what to send; it is not unpacked', async () => {
  const [path, headers] = ['/api/v1/mail/emails/sendEmail', { 'content-encoding': 'gzip' }];
  const refused = await mail.call('POST', path, { token: mail.token, body: letter(), headers });
  expect([refused.status, refused.headers.get('accept-encoding'), refused.body]).toEqual([
    415,
    'identity',
    { error: { code: 'UNSUPPORTED_MEDIA_TYPE', message: 'Unsupported content encoding: send the body uncompressed' } },
  ]);
  expect((await mail.call('POST', path, { body: letter(), headers })).status).toBe(401);
  expect(smtp.accepted).toEqual([]);
  expect((await mail.send({}, { 'content-encoding': 'identity' })).status).toBe(200);
}); // prettier-ignore

test('a client that leaves in the middle of a body is no fault of ours', async () => {
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
  // Nothing tells of its end; a whole mail takes longer.
  expect((await mail.send()).status).toBe(200);
  expect(lines().filter((line) => !line.includes('"level":"debug"'))).toEqual([]);
}); // prettier-ignore

test('25 MiB of attachments arrive, one byte more is 400, a longer body is 413', async () => {
  const bytes = Buffer.alloc(25 * 1_048_576, 'platform');
  const sent = await mail.send({ attachments: [attachment({ content: bytes.toString('base64') })] });
  expect(sent.status).toBe(200);
  const [parsed] = await arrived();
  expect(Buffer.from(parsed?.attachments[0]?.content as ArrayBuffer).equals(bytes)).toBe(true);
  const more = Buffer.alloc(25 * 1_048_576 + 1).toString('base64');
  const refused = await mail.send({ attachments: [attachment({ content: more })] });
  expect([refused.status, refused.body.error.details[0].field]).toEqual([400, 'attachments']);
  const huge = await mail
    .send({ attachments: [attachment({ content: 'A'.repeat(38_000_000) })] })
    .catch(() => undefined);
  // The connection may be closed before the client has read the answer.
  expect([undefined, 413]).toContain(huge?.status);
});

test('a large body of millions of parts is refused before it is parsed', async () => {
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

test('a key that a body has twice is refused, beside a large attachment too', async () => {
  for (const bytes of [10, 20 * 1_048_576]) {
    const body = JSON.stringify(
      letter({ attachments: [attachment({ content: Buffer.alloc(bytes).toString('base64') })] }),
    );
    const raw = `${body.slice(0, -1)},"subject":"Another"}`;
    const refused = await mail.call('POST', '/api/v1/mail/emails/sendEmail', { token: mail.token, raw });
    expect([refused.status, refused.body.error.details]).toEqual([
      400,
      [{ field: 'body', message: 'has a key twice' }],
    ]);
  }
  expect(smtp.accepted).toHaveLength(0);
});

test('large mails at once are sent or put off, and their places come back', async () => {
  const content = Buffer.alloc(20 * 1_048_576).toString('base64');
  const sendLarge = () => mail.send({ attachments: [attachment({ content })] });
  const answers = await Promise.all(Array.from({ length: 6 }, sendLarge));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
  expect(smtp.accepted).toHaveLength(answers.filter(({ status }) => status === 200).length);
  expect((await sendLarge()).status).toBe(200);
});

test('bodies under 1 MiB count as well, as soon as they are announced', async () => {
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
  await waitFor(() => statuses.length > 0, { what: 'the first that is put off' }).finally(() => {
    for (const announced of waiting) announced.destroy();
  });
  expect(new Set(statuses)).toEqual(new Set([429]));
  const content = Buffer.alloc(600_000).toString('base64');
  const send = () => mail.send({ attachments: [attachment({ content })] });
  await waitFor(async () => (await send()).status === 200, { what: 'a place' });
});

test('a body of unknown length takes what it is, not what it could be', async () => {
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
  // All five are open when the first one ends.
  const rest = JSON.stringify(letter()).slice(1);
  for (const { started } of bodies) started.end(rest);
  expect(await Promise.all(bodies.map(({ answered }) => answered))).toEqual([200, 200, 200, 200, 200]);
});
