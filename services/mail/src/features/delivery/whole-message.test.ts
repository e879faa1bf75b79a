import { Readable } from 'node:stream';
import type { SendMailOptions } from 'nodemailer';
import MailComposer from 'nodemailer/lib/mail-composer';
import { writeWhole } from './whole-message.js';

const compile = (fields: SendMailOptions) =>
  new MailComposer({
    from: 'noreply@corp.example',
    to: ['to@example.com', 'δοκιμή@παράδειγμα.example'],
    cc: 'cc@example.com',
    subject: 'Código – код – 代码 🎉 '.repeat(9),
    text: 'Hello',
    html: '<p>Hello</p>',
    ...fields,
  }).compile();

const long =
  'A line that is longer than what goes out as it is: it says the same thing twice, the same thing. ';
const attachment = { filename: 'résumé.bin', contentType: 'application/octet-stream' };

test.each<[string, SendMailOptions]>([
  ['plain parts', {}],
  ['long lines', { text: `${long.repeat(3)}\r\n.\r\n..\r\n=20 \t`, html: `<p>${long.repeat(40)}</p>` }],
  ['some letters beyond ASCII', { text: `Zoë and Łukasz say é.\r\n${long}`, html: `<p>ü ${long}</p>` }],
  ['mostly letters beyond ASCII', { text: '株式会社 李 🎉\r\n'.repeat(60) }],
  ['line breaks of every kind', { text: 'one\ntwo\rthree\r\n\r\n\n', html: '<p>one\ntwo</p>\n' }],
  ['an empty part', { text: '' }],
  ['one part only', { html: '' }],
  ['attachments', { attachments: [0, 1, 57, 5_000].map((bytes) => ({ ...attachment, content: Buffer.alloc(bytes, 7) })) }],
  ['an attached text', { attachments: [{ filename: 'a.txt', contentType: 'text/plain', content: Buffer.from(`ü${long}`) }] }],
])('in one piece it is what nodemailer streams: %s', async (_name, fields) => {
  const message = compile(fields);
  expect(writeWhole(message)?.toString()).toBe((await message.build()).toString());
}); // prettier-ignore

test('a message with a stream in it is left to nodemailer', () => {
  const content = Readable.from([Buffer.from('streamed')]);
  const message = compile({ attachments: [{ ...attachment, content }] });
  expect(writeWhole(message)).toBeUndefined();
});

test('an attached message in a character set of its own is left to nodemailer: as text it would be another', () => {
  const content = Buffer.from('Subject: caf\xe9\r\n\r\nna\xefve\r\n', 'latin1');
  const message = compile({ attachments: [{ filename: 'a.eml', contentType: 'message/rfc822', content }] });
  expect(writeWhole(message)).toBeUndefined();
});
