import { startMail } from '../mail.js';
import { type Behaviour, type SmtpUnderTest, startSmtp, type Step, toConfiguration } from '../smtp-server.js';

let smtp: SmtpUnderTest;
const secret = 's3cret-Value-of-the-server';

/** Long enough for a busy machine, and short, as a dozen tests wait for it. */
const mail = await startMail({ environment: { SMTP_TIMEOUT_MS: '1500' } });
afterAll(() => mail.close());
beforeEach(async () => {
  smtp = await startSmtp();
  await mail.configure(toConfiguration(smtp));
});
afterEach(() => smtp.close());

const at =
  (step: Step, reply: string, times = Number.POSITIVE_INFINITY): Behaviour =>
  (current, _line, count) =>
    current === step && count <= times ? reply : undefined;

const lastState = async (): Promise<string> =>
  (await mail.db.query('select state from mails order by id desc limit 1')).rows[0].state as string;

async function sentRecords(): Promise<number> {
  const records = await mail.call('GET', '/api/v1/mail/records', { token: mail.session });
  return records.body.pagination.total as number;
}

/** Sends a mail, and returns the error of the API together with the stored state. */
async function outcome() {
  const recordsBefore = await sentRecords();
  const { status, body } = await mail.send();
  return {
    status,
    message: body.error?.message as unknown,
    code: body.error?.code as unknown,
    state: await lastState(),
    isRecorded: (await sentRecords()) > recordsBefore,
  };
}

const failed = {
  status: 500,
  message: 'Error sending mail',
  code: 'SMTP_ERROR',
  state: 'failed',
  isRecorded: false,
};
const refused = { ...failed, code: 'SMTP_REFUSED' };
const unknown = { ...failed, code: 'DELIVERY_UNKNOWN', state: 'unknown' };

test.each<[string, Behaviour, number]>([
  ['refuses the connection politely', at('CONNECT', '554 no'), 1],
  ['wants a login first', at('MAIL', '530 5.7.0 authentication required'), 1],
  ['has a full mailbox', at('RCPT', '552 5.2.2 full'), 1],
  ['rejects the recipient temporarily by its enhanced status', at('RCPT', '550 4.2.1 not now'), 3],
  ['contradicts itself', at('RCPT', '450 5.1.1 unknown user'), 3],
  ['has a full mailbox, without a status', at('RCPT', '552 quota exceeded'), 1],
  ['sends garbage', at('CONNECT', '\u0001\u0002 garbage'), 1],
  ['never finishes its greeting', at('CONNECT', '220-well\r\n'.repeat(400_000)), 1],
  ['closes at once', at('CONNECT', 'close'), 3],
  ['closes instead of accepting DATA', at('DATA', 'close'), 3],
  ['always rejects the message temporarily', at('MESSAGE', '451 later'), 3],
])(
  'a mail fails and is not recorded as sent when the server %s',
  async (_name, behaviour, maxConnections) => {
    smtp.behave(behaviour);
    expect(await outcome()).toEqual(failed);
    expect(smtp.accepted).toEqual([]);
    expect(smtp.connections()).toBeLessThanOrEqual(maxConnections);
  },
);

test.each<[string, Behaviour]>([
  ['the sender', at('MAIL', '550 no')],
  ['every recipient', at('RCPT', '550 5.1.1 unknown user')],
  ['the message', at('MESSAGE', '554 5.7.1 spam')],
])(
  'a mail fails with SMTP_REFUSED after one attempt when the server permanently refuses %s',
  async (_name, behaviour) => {
    smtp.behave(behaviour);
    expect(await outcome()).toEqual(refused);
    expect([smtp.accepted, smtp.connections()]).toEqual([[], 1]);
  },
);

test('a mail fails with SMTP_ERROR when only some of its recipients are refused permanently', async () => {
  smtp.behave((step, line) =>
    step === 'RCPT' ? (line.includes('bad@') ? '550 5.1.1 unknown' : '451 4.7.1 greylisted') : undefined,
  );
  const { body } = await mail.send({ sendEmailTo: ['new@example.com', 'bad@example.com'] });
  expect(body.error.code).toBe('SMTP_ERROR');
});

/** A server that supports PIPELINING receives the envelope and DATA in one piece (RFC 2920), as most servers do. */
const pipelining =
  (replies: Partial<Record<Step, string>>): Behaviour =>
  (step) =>
    step === 'EHLO' ? '250-test\r\n250-PIPELINING\r\n250 8BITMIME' : replies[step];

test.each<[string, Partial<Record<Step, string>>, object]>([
  ['refuses the sender', { MAIL: '550 no', RCPT: '503 no sender', DATA: '503 no' }, refused],
  ['refuses every recipient', { RCPT: '550 no', DATA: '554 no recipients' }, refused],
  ['refuses DATA', { DATA: '554 no' }, refused],
  ['closes instead of accepting DATA', { DATA: 'close' }, failed],
  ['refuses the message', { MESSAGE: '554 spam' }, refused],
  ['closes while it reads the message', { CHUNK: 'close' }, unknown],
  ['closes after the message', { MESSAGE: 'close' }, unknown],
])('a mail gets the right outcome when a server with PIPELINING %s', async (_name, replies, expected) => {
  smtp.behave(pipelining(replies));
  expect(await outcome()).toEqual(expected);
});

test.each<[string, Behaviour]>([
  ['before its greeting', at('CONNECT', 'hang')],
  ['at a recipient', at('RCPT', 'hang')],
  ['at the login', (step) => ({ EHLO: '250-test\r\n250 AUTH PLAIN', AUTH: 'hang' })[step as string]],
  ['in the TLS handshake', (step) => (step === 'EHLO' ? '250-test\r\n250 STARTTLS' : undefined)],
  ['at DATA, with PIPELINING', pipelining({ DATA: 'hang' })],
])('a mail fails after the timeout and one attempt when the server hangs %s', async (_name, behaviour) => {
  await mail.configure(toConfiguration(smtp, { username: 'user', password: secret }));
  smtp.behave(behaviour);
  expect(await outcome()).toEqual(failed);
  expect(smtp.connections()).toBe(1);
  expect(mail.logged()).not.toContain(secret);
});

test.each<[string, Behaviour]>([
  ['closes during the message', at('CHUNK', 'close')],
  ['closes after the message', at('MESSAGE', 'close')],
  ['hangs after the message', at('MESSAGE', 'hang')],
  ['answers the message with garbage', at('MESSAGE', 'what')],
])('a mail becomes unknown and is not retried when the server %s', async (_name, behaviour) => {
  smtp.behave(behaviour);
  const result = await outcome();
  expect(result).toEqual(unknown);
  expect(smtp.count('DATA')).toBe(1);
  expect(smtp.accepted.length).toBeLessThanOrEqual(1);
});

test.each<[string, Behaviour]>([
  ['the connection breaks before DATA', at('RCPT', 'close', 1)],
  ['the sender is rejected temporarily', at('MAIL', '451 greylisted', 1)],
  ['the message is rejected temporarily twice', at('MESSAGE', '451 later', 2)],
])('a retry delivers exactly one mail when %s', async (_name, behaviour) => {
  smtp.behave(behaviour);
  const sent = await mail.send();
  expect([sent.status, await lastState()]).toEqual([200, 'sent']);
  expect(smtp.accepted).toHaveLength(1);
});

test('a connection that the server closes while idle is replaced without an error', async () => {
  await mail.send();
  smtp.behave(at('MAIL', 'close', 1));
  expect((await mail.send()).status).toBe(200);
  expect(smtp.accepted).toHaveLength(2);
});

test.each<[string, Behaviour]>([
  ['', () => undefined],
  [' with PIPELINING', pipelining({})],
])(
  'a mail with one recipient that a server%s refuses reaches the others, and the response and the record name it',
  async (_name, behaviour) => {
    smtp.behave((step, line, count) =>
      step === 'RCPT' && line.includes('bad@') ? '550 unknown user' : behaviour(step, line, count),
    );
    const sent = await mail.send({ sendEmailTo: ['a@example.com', 'bad@example.com', 'c@example.com'] });
    expect([sent.status, sent.body.data]).toEqual([
      200,
      { status: true, data: 'Email sent, but the server refused bad@example.com' },
    ]);
    expect(smtp.accepted[0]?.to).toEqual(['a@example.com', 'c@example.com']);
    const records = await mail.call('GET', '/api/v1/mail/records?limit=1', { token: mail.session });
    expect(records.body.data[0].refused).toEqual(['bad@example.com']);
  },
);

test('a password that the server repeats in its reply appears in no response and no log line', async () => {
  const encoded = Buffer.from(`\u0000user\u0000${secret}`).toString('base64');
  smtp.behave((step, line) => {
    if (step === 'EHLO') return '250-test\r\n250 AUTH PLAIN';
    return step === 'AUTH' ? `535 bad login ${line} ${secret}` : undefined;
  });
  await mail.configure(toConfiguration(smtp, { username: 'user', password: secret }));
  expect(await outcome()).toEqual(failed);
  const tested = await mail.call('POST', '/api/v1/mail/testConnection', { token: mail.session });
  expect(tested.body).toMatchObject({ ok: false, problem: { code: 'EAUTH', reply: 535 } });
  expect(smtp.count('AUTH')).toBe(2);
  for (const text of [tested.text, mail.logged()])
    for (const word of [secret, encoded]) expect(text).not.toContain(word);
});

test('a mail fails and the log says why when nothing listens at the address of the server', async () => {
  await smtp.close();
  expect(await outcome()).toEqual(failed);
  expect(mail.logged()).toContain('ECONNREFUSED');
});
