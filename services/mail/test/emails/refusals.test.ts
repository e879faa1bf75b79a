import { request } from 'node:http';
import PostalMime from 'postal-mime';
import { attachment, emailBody, startMail } from '../mail.js';
import { startSmtp, toConfiguration } from '../smtp-server.js';

const sendPath = '/api/v1/mail/emails/sendEmail';
const reloadPath = '/api/v1/mail/updateSmtpConfig';

const [mail, smtp] = [await startMail(), await startSmtp()];
afterAll(async () => {
  await mail.close();
  await smtp.close();
});
beforeEach(() => {
  smtp.accepted.length = 0;
});

// packages/e2e/test/authority has every route with every credential.
test('MAIL-3: the checks come in the order 401, 403, 404 of the configuration, and then the body', async () => {
  const other = await mail.createToken(['kb:read']);
  for (const [path, scope] of [
    [sendPath, 'SEND_MAIL'],
    [reloadPath, 'FETCH_CONFIG'],
  ] as const) {
    const refuse = async (token?: string, raw = 'not even JSON') => {
      const refused = await mail.call('POST', path, { ...(token && { token }), ...(raw && { raw }) });
      const challenge = refused.headers.get('www-authenticate');
      return [refused.status, refused.body.error.message, challenge];
    };
    expect(await refuse()).toEqual([401, 'Authorization header not found', 'Bearer realm="platform"']);
    for (const token of [other, mail.session])
      expect(await refuse(token)).toEqual([
        403,
        'Invalid token scope',
        expect.stringContaining(`error="insufficient_scope", scope="${scope}"`),
      ]);
    // The reload takes no body.
    const missing = path === sendPath ? await refuse(mail.token) : await refuse(mail.token, '');
    expect(missing).toEqual([404, 'Smtp Configuration not set', null]);
  }
});

test('the internal route refuses tokens and sessions of users', async () => {
  const path = '/api/v1/mail/internal/sendEmail';
  const body = { orgId: mail.orgId, ...emailBody() };
  for (const token of [mail.token, mail.session])
    expect((await mail.call('POST', path, { token, body })).status).toBe(403);
  expect((await mail.call('POST', path, { body })).status).toBe(401);
});

describe('with an SMTP server', () => {
  beforeAll(() => mail.configure(toConfiguration(smtp)));

  test('a body that is not a JSON object, or contains text that cannot be stored, is refused', async () => {
    for (const raw of ['{', '', '[]', 'null', '"x"'])
      expect((await mail.call('POST', sendPath, { token: mail.token, raw })).status).toBe(400);
    const raw = JSON.stringify(emailBody()).replace('Your code', String.raw`\u0000`);
    expect((await mail.call('POST', sendPath, { token: mail.token, raw })).status).toBe(400);
    const authorization = `Bearer ${mail.token}`;
    const latin1 = await fetch(mail.url + sendPath, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(emailBody()).replace('Your code', 'caf\xe9'), 'latin1'),
    });
    expect([latin1.status, await latin1.json()]).toMatchObject([400, { error: { code: 'INVALID_JSON' } }]);
    const text = await mail.call('POST', sendPath, {
      token: mail.token,
      raw: 'x',
      headers: { 'content-type': 'text/plain' },
    });
    expect(text.status).toBe(415);
  });

  // oxfmt-ignore
  test('a compressed body fails with 415, and is not decompressed', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const refused = await mail.call('POST', sendPath, { token: mail.token, body: emailBody(), headers });
    expect([refused.status, refused.headers.get('accept-encoding'), refused.body]).toEqual([
      415,
      'identity',
      { error: { code: 'UNSUPPORTED_MEDIA_TYPE', message: 'Unsupported content encoding: send the body uncompressed' } },
    ]);
    expect((await mail.call('POST', sendPath, { body: emailBody(), headers })).status).toBe(401);
    expect(smtp.accepted).toEqual([]);
    expect((await mail.send({}, { 'content-encoding': 'identity' })).status).toBe(200);
  });

  // oxfmt-ignore
  test('a client that disconnects in the middle of a body is not logged as a failure', async () => {
    const headers = {
      authorization: `Bearer ${mail.token}`,
      'content-type': 'application/json',
      'x-request-id': 'leaves-early',
    };
    const leaving = request(mail.url + sendPath, { method: 'POST', headers });
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
      const raw = `{"templateData":[${part.repeat(2_000_000)}`;
      const refused = await mail.call('POST', sendPath, { token: mail.token, raw });
      expect([refused.status, refused.body.error.details[0].message]).toEqual([
        400,
        expect.stringMatching(message),
      ]);
    }
  });

  test('long attachments are sent unchanged, with and without escapes, and other long texts are refused', async () => {
    const call = (raw: string) => mail.call('POST', sendPath, { token: mail.token, raw });
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

  const injection = 'x\r\nBcc: all@example.com';
  test.each([
    ['the subject', { subject: injection }, 'subject'],
    ['a bare line feed in the subject', { subject: 'x\nBcc: all@example.com' }, 'subject'],
    ['a line separator in the subject', { subject: 'x\u2028y' }, 'subject'],
    ['a recipient', { sendEmailTo: [`to@example.com${injection}`] }, 'sendEmailTo.0'],
    ['a second address in a recipient', { sendEmailTo: ['a@example.com, b@example.com'] }, 'sendEmailTo.0'],
    ['a display name', { sendEmailTo: ['Ada <a@example.com>'] }, 'sendEmailTo.0'],
    ['a Cc recipient', { sendCcTo: ['cc@example.com\u0000'] }, 'sendCcTo.0'],
    ['the sender domain', { fromEmailDomain: 'corp.example>\r\nBcc: all@example.com' }, 'fromEmailDomain'],
    ['the product name', { productName: injection }, 'productName'],
    ['template data', { templateData: { otp: '1', userName: injection } }, 'templateData.userName'],
    [
      'an encoded word in a file name',
      { attachments: [attachment({ filename: '=?utf-8?Q?exe=E2=80=AEfdp?=' })] },
      'attachments.0.filename',
    ],
    ['a file name', { attachments: [attachment({ filename: `a"${injection}` })] }, 'attachments.0.filename'],
    [
      'a content type',
      { attachments: [attachment({ contentType: `text/plain${injection}` })] },
      'attachments.0.contentType',
    ],
  ])('a header cannot be injected through %s', async (_name, fields, field) => {
    const refused = await mail.send(fields);
    expect(refused.status).toBe(400);
    const where = refused.body.error.details?.[0].field as string;
    expect([field, field.split('.')[0]]).toContain(where);
    expect(smtp.accepted).toEqual([]);
  });

  // attachments.test.ts and view.test.ts have what is wrong with contents, links and codes.
  test.each([
    [
      'an attachment by path',
      { attachments: [{ filename: 'a', path: '/etc/passwd', contentType: 'text/plain' }] },
    ],
    ['an attachment by URL', { attachments: [attachment({ href: 'http://127.0.0.1/' })] }],
    ['content that is an object', { attachments: [attachment({ content: { path: '/etc/passwd' } })] }],
    ['base64 of an impossible length', { attachments: [attachment({ content: 'aGVsb' })] }],
    ['eleven attachments', { attachments: Array.from({ length: 11 }, () => attachment()) }],
    [
      'a script link',
      { emailTemplateType: 'resetPassword', templateData: { resetLink: 'javascript:alert(1)' } },
    ],
    [
      'an SMTP configuration',
      { smtp: { host: '127.0.0.1', port: 25, fromEmail: 'a@b.example', tls: 'none' } },
    ],
    ['an inherited key', { templateData: JSON.parse('{"__proto__": {"otp": "1"}}') as object }],
    ['an unknown field', { bcc: ['x@example.com'] }],
  ])('%s fails with 400 and sends nothing', async (_name, fields) => {
    const refused = await mail.send(fields);
    expect(refused.status).toBe(400);
    expect(refused.body.error.details.length).toBeGreaterThan(0);
    expect(smtp.accepted).toEqual([]);
  });

  test.each(['1234567890123456789', '1e400', '0.12345678901234567890', '-9007199254740993'])(
    'template data with the number %s, which JavaScript cannot read exactly, fails with 400',
    async (number) => {
      const raw = JSON.stringify(emailBody()).replace('"493817"', number);
      const refused = await mail.call('POST', sendPath, { token: mail.token, raw });
      expect([refused.status, refused.body.error.details]).toEqual([
        400,
        [{ field: 'templateData.otp', message: expect.stringContaining('must be a text') }],
      ]);
      const nested = JSON.stringify(emailBody({ templateData: { otp: '1', more: [{ a: '493817' }] } }));
      const more = await mail.call('POST', sendPath, {
        token: mail.token,
        raw: nested.replace('"493817"', number),
      });
      expect([more.status, more.body.error.details[0].field]).toEqual([400, 'templateData.more']);
      const preview = JSON.stringify({ emailTemplateType: 'loginWithOTP', templateData: { otp: '493817' } });
      const previewed = await mail.call('POST', '/api/v1/mail/preview', {
        token: mail.session,
        raw: preview.replace('"493817"', number),
      });
      expect([previewed.status, previewed.body.error.details[0].field]).toEqual([400, 'templateData.otp']);
      expect(smtp.accepted).toEqual([]);
    },
  );

  test('a subject that looks like an encoded word is read as it was given', async () => {
    const subject = '=?utf-8?Q?Paid=0D=0ABcc:_all@example.com?= =?utf-8?B?4oCu?=';
    expect((await mail.send({ subject })).status).toBe(200);
    const raw = smtp.accepted[0]?.raw ?? '';
    expect(raw).not.toContain('=0D=0A');
    expect((await PostalMime.parse(raw)).subject).toBe(subject);
  });

  test('a template that is missing, unknown or not a string fails with 400', async () => {
    const missing = await mail.send({ emailTemplateType: undefined });
    expect([missing.status, missing.body.error.details]).toEqual([
      400,
      [{ field: 'emailTemplateType', message: 'is required' }],
    ]);
    for (const emailTemplateType of [
      'newsletter',
      'smtpServerChanged',
      'passwordChanged',
      'tokenAlert',
      'tokenExpiring',
      'crawlFailures',
      'connectedService',
      'smtpTest',
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
});
