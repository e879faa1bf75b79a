import PostalMime from 'postal-mime';
import { attachment, type MailUnderTest } from '../mail.js';
import { startMailWithServer } from '../mail-with-server.js';
import { type SmtpUnderTest, toConfiguration } from '../smtp-server.js';

let mail: MailUnderTest;
let smtp: SmtpUnderTest;
let configured = 0;
/** What the commands after MAIL and RCPT said. */
let commands: string[] = [];
beforeAll(async () => {
  ({ mail, smtp } = await startMailWithServer());
});
afterAll(() => mail.close());

/** Configures a server that offers these extensions; no connection is reused. */
async function offer(extensions: readonly string[], fields: object = {}): Promise<void> {
  configured += 1;
  commands = [];
  smtp.accepted.length = 0;
  await mail.db.query('delete from mails');
  await mail.configure(toConfiguration(smtp, { fromEmail: `from-${configured}@corp.example`, ...fields }));
  smtp.behave((step, line) => {
    if (step === 'MAIL' || step === 'RCPT') commands.push(line);
    return step === 'EHLO'
      ? ['250-test', ...extensions.map((one) => `250-${one}`), '250 HELP'].join('\r\n')
      : undefined;
  });
}

const getRecord = async () => {
  const { body } = await mail.call('GET', '/api/v1/mail/records?state=any&limit=1', { token: mail.session });
  return body.data[0] as { state: string; recipients: object[]; failure: object | null };
};

const both = { sendEmailTo: ['ada@example.com', 'jörg@bücher.example'], sendCcTo: ['åsa@example.com'] };

test('an international recipient fails with 5.6.7 when the server lacks SMTPUTF8, and the others get ASCII headers', async () => {
  await offer(['8BITMIME']);
  const sent = await mail.send(both);
  expect([sent.status, sent.body.data.data]).toEqual([
    200,
    'Email sent, but the server refused jörg@xn--bcher-kva.example, åsa@example.com',
  ]);
  expect(smtp.accepted.map(({ to }) => to)).toEqual([['ada@example.com']]);
  const [first] = smtp.accepted;
  expect(/^[\0-\x7f]*$/.test(first?.bytes.toString('latin1') ?? '\x80')).toBe(true);
  expect(first?.raw).toContain('To: ada@example.com');
  expect(await getRecord()).toMatchObject({
    state: 'sent',
    recipients: [{ outcome: 'accepted' }, { outcome: 'refused', status: '5.6.7' }, { outcome: 'refused' }],
  });
});

test('a mail to international recipients alone is refused for good when the server lacks SMTPUTF8', async () => {
  await offer(['8BITMIME']);
  const sent = await mail.send({ sendEmailTo: ['jörg@example.com'] });
  expect([sent.status, sent.body.error.code]).toEqual([500, 'SMTP_REFUSED']);
  expect(sent.body.error.details[0].message).toContain('SMTPUTF8');
  expect([smtp.count('MAIL'), smtp.accepted]).toEqual([0, []]);
  expect(await getRecord()).toMatchObject({
    state: 'failed',
    recipients: [{ outcome: 'refused', status: '5.6.7' }],
  });
});

test('a server with SMTPUTF8 gets one message with all addresses, announced as that', async () => {
  await offer(['SMTPUTF8', '8BITMIME']);
  expect((await mail.send(both)).body.data.data).toBe('Email sent');
  expect(smtp.accepted).toHaveLength(1);
  expect(commands[0]).toContain(' SMTPUTF8');
  expect(smtp.accepted[0]?.raw).toContain('åsa@example.com');
});

test('an international address that the server refuses is named as it was given', async () => {
  await offer(['SMTPUTF8']);
  smtp.behave((step, line) => {
    if (step === 'EHLO') return '250-test\r\n250 SMTPUTF8';
    return step === 'RCPT' && line.includes('jörg@') ? '550 5.1.1 unknown' : undefined;
  });
  expect((await mail.send(both)).body.data.data).toBe(
    'Email sent, but the server refused jörg@xn--bcher-kva.example',
  );
});

test('headers are ASCII where the recipients of a transaction are, because nothing announces another', async () => {
  await offer(['SMTPUTF8']);
  let count = 0;
  smtp.behave((step, line) => {
    if (step === 'EHLO') return '250-test\r\n250 SMTPUTF8';
    if (step === 'MAIL') {
      count = 0;
      commands.push(line);
    }
    if (step === 'RCPT') count += 1;
    return step === 'RCPT' && count > 1 ? '452 4.5.3 too many' : undefined;
  });
  await mail.send({ sendEmailTo: ['jörg@example.com', 'ada@example.com'] });
  expect(commands.map((line) => line.includes('SMTPUTF8'))).toEqual([true, false]);
  expect(smtp.accepted.map(({ raw }) => raw.includes('jörg@'))).toEqual([true, false]);
});

test('an international sender is a fault of the configuration when the server lacks SMTPUTF8', async () => {
  await offer(['8BITMIME'], { fromEmail: 'jörg@corp.example' });
  const sent = await mail.send();
  expect([sent.body.error.code, smtp.count('MAIL')]).toEqual(['SMTP_ERROR', 0]);
  expect((await getRecord()).failure).toMatchObject({ kind: 'temporary', code: 'ESMTPUTF8' });
  const tested = await mail.call('POST', '/api/v1/mail/testConnection', { token: mail.session });
  expect(tested.body).toMatchObject({ ok: false, problem: { code: 'ESMTPUTF8' } });
});

test('a message above the limit of the server is refused before it is handed over', async () => {
  await offer(['SIZE 1500000']);
  const content = Buffer.alloc(1_200_000, 'x').toString('base64');
  const sent = await mail.send({ attachments: [attachment({ content })] });
  expect([sent.status, sent.body.error.code]).toEqual([500, 'SMTP_REFUSED']);
  expect(sent.body.error.details[0].message).toContain('too large');
  expect([smtp.count('MAIL'), smtp.accepted]).toEqual([0, []]);
  await offer(['SIZE 1700000']);
  expect((await mail.send({ attachments: [attachment({ content })] })).status).toBe(200);
});

test.each([
  ['a short ASCII one', 'Subject: hi\r\n\r\nhello\r\n', 'message/rfc822'],
  ['one with 8-bit text', 'Subject: hi\r\n\r\nhellö\r\n', 'application/octet-stream'],
  ['one with a long line', `Subject: hi\r\n\r\n${'x'.repeat(1_500)}\r\n`, 'application/octet-stream'],
  ['one with a lone CR', 'Subject: hi\r\n\r\nhello\rworld\r\n', 'application/octet-stream'],
  ['a large one', `Subject: hi\r\n\r\n${'hello\r\n'.repeat(60_000)}`, 'message/rfc822'],
])(
  'a message as an attachment, %s, keeps its bytes in lines that every server takes',
  async (_name, text, type) => {
    await offer([]);
    const content = Buffer.from(text);
    const attached = attachment({
      filename: 'old.eml',
      content: content.toString('base64'),
      contentType: 'message/rfc822',
    });
    for (const headers of [{}, { prefer: 'respond-async, wait=30' }]) {
      smtp.accepted.length = 0;
      expect((await mail.send({ attachments: [attached] }, headers)).status).toBe(200);
      const [accepted] = smtp.accepted;
      const raw = accepted?.bytes.toString('latin1') ?? '';
      expect(raw.split('\r\n').every((line) => line.length <= 998)).toBe(true);
      expect(/^[\0-\x7f]*$/.test(raw)).toBe(true);
      expect(raw).not.toMatch(/Content-Disposition: inline/i);
      const parsed = await PostalMime.parse(accepted?.bytes ?? '', { forceRfc822Attachments: true });
      expect(
        parsed.attachments.map(({ filename, mimeType, disposition }) => [filename, mimeType, disposition]),
      ).toEqual([['old.eml', type, 'attachment']]);
      const read = Buffer.from(parsed.attachments[0]?.content as ArrayBuffer).toString();
      // The parser writes the lines of a message in its own way.
      const toLines = (message: string) =>
        type === 'message/rfc822' ? message.trimEnd().split(/\r?\n/) : message;
      expect(toLines(read)).toEqual(toLines(text));
    }
  },
);
