import { attachment } from '../mail.js';
import { startMailWithServer } from '../mail-with-server.js';

const { mail, smtp } = await startMailWithServer();
afterAll(() => mail.close());
beforeEach(() => {
  smtp.accepted.length = 0;
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

test.each([
  [
    'an attachment by path',
    { attachments: [{ filename: 'a', path: '/etc/passwd', contentType: 'text/plain' }] },
  ],
  ['an attachment by URL', { attachments: [attachment({ href: 'http://127.0.0.1/' })] }],
  ['content that is an object', { attachments: [attachment({ content: { path: '/etc/passwd' } })] }],
  [
    'content that is a data URL',
    { attachments: [attachment({ content: 'data:text/plain;base64,aGVsbG8=' })] },
  ],
  ['base64url content', { attachments: [attachment({ content: 'aG-_' })] }],
  ['base64 of an impossible length', { attachments: [attachment({ content: 'aGVsb' })] }],
  ['eleven attachments', { attachments: Array.from({ length: 11 }, () => attachment()) }],
  [
    'a script link',
    { emailTemplateType: 'resetPassword', templateData: { resetLink: 'javascript:alert(1)' } },
  ],
  ['a data link', { emailTemplateType: 'appuserInvite', templateData: { inviteLink: 'data:text/html,x' } }],
  ['an SMTP configuration', { smtp: { host: '127.0.0.1', port: 25, fromEmail: 'a@b.example', tls: 'none' } }],
  ['a missing link', { emailTemplateType: 'resetPassword', templateData: {} }],
  ['an empty code', { templateData: { otp: '' } }],
  ['a code that is an object', { templateData: { otp: {} } }],
  ['an inherited key', { templateData: JSON.parse('{"__proto__": {"otp": "1"}}') as object }],
  ['an unknown field', { bcc: ['x@example.com'] }],
])('%s fails with 400 and sends nothing', async (_name, fields) => {
  const refused = await mail.send(fields);
  expect(refused.status).toBe(400);
  expect(refused.body.error.details.length).toBeGreaterThan(0);
  expect(smtp.accepted).toEqual([]);
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
