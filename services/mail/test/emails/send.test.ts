import PostalMime from 'postal-mime';
import { templateTypes } from '../../src/features/templates/template-types.js';
import { attachment } from '../mail.js';
import { startMailWithServer } from '../mail-with-server.js';

const { mail, smtp } = await startMailWithServer();
afterAll(() => mail.close());
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
const arrived = () => Promise.all(smtp.accepted.map(({ raw }) => PostalMime.parse(raw)));

test.each(templateTypes)(
  '%s is delivered with HTML and text, all recipients and attachments',
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

test('fromEmailDomain replaces the domain of the sender, and isAutoEmail sets Auto-Submitted', async () => {
  await mail.send({ fromEmailDomain: 'bücher.example', isAutoEmail: true });
  expect(smtp.accepted[0]?.from).toBe('noreply@xn--bcher-kva.example');
  expect(smtp.accepted[0]?.raw).toContain('Auto-Submitted: auto-generated\r\n');
  await mail.send();
  expect(smtp.accepted[1]?.raw).not.toContain('Auto-Submitted');
});

test('Unicode in names, subjects, file names, addresses and domains is preserved', async () => {
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

test('template values are escaped in the HTML', async () => {
  await mail.send({
    templateData: { userName: '<img src=x onerror=alert(1)>"\'', otp: '1' },
    productName: '</title><script>alert(1)</script>',
  });
  const [parsed] = await arrived();
  expect(parsed?.html).not.toMatch(/<script|<img/);
});

test('an attached message is delivered byte for byte, whatever its character set', async () => {
  const bytes = Buffer.from('Subject: caf\xe9\r\n\r\nna\xefve\r\n', 'latin1');
  const sent = await mail.send({
    attachments: [attachment({ contentType: 'message/rfc822', content: bytes.toString('base64') })],
  });
  expect(sent.status).toBe(200);
  const [parsed] = await arrived();
  expect(Buffer.from(parsed?.attachments[0]?.content as ArrayBuffer).equals(bytes)).toBe(true);
});
