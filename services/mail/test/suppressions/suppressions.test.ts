import { createHmac, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { waitFor } from '@platform/testing';
import { v7 as uuidv7 } from 'uuid';
import { createSuppressionService } from '../../src/features/suppressions/service.js';
import type { MailUnderTest } from '../mail.js';
import { startMailWithServer } from '../mail-with-server.js';
import type { SmtpUnderTest } from '../smtp-server.js';

let mail: MailUnderTest;
let smtp: SmtpUnderTest;
beforeAll(async () => {
  ({ mail, smtp } = await startMailWithServer({ environment: { QUEUED_PER_ORG_MAX: '20' } }));
});
afterAll(() => mail.close());
beforeEach(async () => {
  smtp.behave(() => undefined);
  smtp.accepted.length = 0;
  await mail.db.query('delete from mails');
  await mail.db.query('delete from suppressions');
});

const PATH = '/api/v1/mail/suppressions';
const notice = { emailTemplateType: 'accountCreation', templateData: { userName: 'Ada' } };
const both = { ...notice, sendEmailTo: ['ada@example.com', 'Gone@example.com'] };

const list = async (query = '') =>
  (await mail.call('GET', PATH + query, { token: mail.session })).body as {
    data: { id: string; address: string; reason: string; status: string | null; expiresAt: string }[];
    nextCursor: string | null;
  };
const report = (bounces: object[]) =>
  mail.call('POST', '/api/v1/mail/bounces', { token: mail.token, body: { bounces } });
const suppress = (address: string) => mail.call('POST', PATH, { token: mail.session, body: { address } });
const refuse = (reply: string) => {
  smtp.behave((step, line) => (step === 'RCPT' && line.includes('Gone@') ? reply : undefined));
};
const getOutcomes = async (id: string) => {
  const { body } = await mail.call('GET', `/api/v1/mail/records/${id}`, { token: mail.session });
  return (body.data.recipients as { address: string; outcome: string }[]).map(
    ({ address, outcome }) => `${address} ${outcome}`,
  );
};
const enqueue = async (fields: object): Promise<string> => {
  const { status, body } = await mail.send(fields, { prefer: 'respond-async' });
  expect(status).toBe(202);
  const id = body.data.id as string;
  const isOver = async () =>
    (await mail.db.query(`select from mails where id = $1 and state in ('sent', 'failed')`, [id]))
      .rowCount === 1;
  await waitFor(isOver, { what: 'the outcome' });
  return id;
};

test.each(['5.1.1', '5.1.2', '5.1.10', '5.2.1'])(
  'an address that the server refuses with %s is left out of the next mail, and shown as suppressed',
  async (status) => {
    refuse(`550 ${status} no`);
    await enqueue(both);
    const { data } = await list();
    expect(data).toEqual([
      expect.objectContaining({ address: 'gone@example.com', reason: 'refused', status }),
    ]);
    const days = (Date.parse(data[0]?.expiresAt ?? '') - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(90);

    smtp.behave(() => undefined);
    smtp.accepted.length = 0;
    const id = await enqueue(both);
    expect(smtp.accepted.map(({ to }) => to)).toEqual([['ada@example.com']]);
    expect(await getOutcomes(id)).toEqual(['ada@example.com accepted', 'Gone@example.com suppressed']);
  },
);

test.each(['550 5.7.1 policy', '552 5.2.2 full', '450 4.1.1 later', '550 no'])(
  'an address that the server refuses with "%s" is not suppressed',
  async (reply) => {
    refuse(reply);
    expect((await mail.send(both)).status).toBe(200);
    expect((await list()).data).toEqual([]);
  },
);

test('a caller that waits gets to know who was left out, also when it repeats its request', async () => {
  await suppress('gone@example.com');
  const key = { 'idempotency-key': randomUUID() };
  for (let time = 0; time < 2; time += 1) {
    const { status, body } = await mail.send(both, key);
    expect([status, body.data.data]).toEqual([200, 'Email sent, without the suppressed Gone@example.com']);
  }
  expect(smtp.accepted.map(({ to }) => to)).toEqual([['ada@example.com']]);
});

test('a mail to suppressed addresses alone fails without a connection', async () => {
  await suppress('gone@example.com');
  const fields = { ...notice, sendEmailTo: ['gone@example.com'] };
  const sent = await mail.send(fields);
  expect([sent.status, sent.body.error]).toMatchObject([
    500,
    { code: 'SMTP_REFUSED', details: [{ message: expect.stringContaining('remove its suppression') }] },
  ]);
  const id = await enqueue(fields);
  const { body } = await mail.call('GET', `/api/v1/mail/records/${id}`, { token: mail.session });
  expect(body.data).toMatchObject({
    state: 'failed',
    attempts: 1,
    failure: { kind: 'permanent', code: 'ESUPPRESSED' },
    recipients: [{ address: 'gone@example.com', outcome: 'suppressed' }],
  });
  expect(smtp.count('MAIL')).toBe(0);
});

test.each([
  ['loginWithOTP', { otp: '1' }],
  ['resetPassword', { resetLink: 'https://example.com' }],
  ['appuserInvite', { inviteLink: 'https://example.com' }],
])('%s is tried for a suppressed address', async (emailTemplateType, templateData) => {
  await suppress('gone@example.com');
  const fields = { emailTemplateType, templateData, sendEmailTo: ['gone@example.com'] };
  expect((await mail.send(fields)).status).toBe(200);
  await enqueue(fields);
  expect(smtp.accepted).toHaveLength(2);
});

test('a provider reports bounces and complaints; what may arrive later is ignored', async () => {
  const answer = await report([
    { address: 'Bounced@Example.com', type: 'bounce', status: '5.1.1' },
    { address: 'bounced@example.com', type: 'bounce' },
    { address: 'full@example.com', type: 'bounce', status: '5.2.2' },
    { address: 'angry@bücher.example', type: 'complaint', status: '5.7.1' },
  ]);
  expect([answer.status, answer.body]).toEqual([200, { suppressed: 2, ignored: 1 }]);
  const found = (await list()).data.map(({ address, reason }) => `${address} ${reason}`);
  expect(found.toSorted()).toEqual(['angry@xn--bcher-kva.example complaint', 'bounced@example.com bounce']);
  expect((await report([{ address: 'bounced@example.com', type: 'complaint' }])).status).toBe(200);
  expect((await list('?search=bounced')).data.map(({ reason }) => reason)).toEqual(['complaint']);
});

test('MAIL-47 the fact of a bounce names the mails of callers to the address, and who sent them', async () => {
  const { body } = await mail.identity('GET', '/api/v1/users/me', { token: mail.session });
  const senderId = body.user.id as string;
  const first = await enqueue(both);
  const second = await enqueue({ ...notice, sendEmailTo: ['gone@example.com'] });
  await enqueue({ ...notice, sendEmailTo: ['ada@example.com'] });
  const old = await enqueue({ ...notice, sendEmailTo: ['gone@example.com'] });
  await mail.db.query(`update mails set created_at = created_at - interval '8 days' where id = $1`, [old]);
  await report([{ address: 'gone@example.com', type: 'bounce', status: '5.1.1' }]);
  const listFacts = async () => {
    const answer = await mail.identity('GET', '/api/v1/events?types=mail.suppressed&limit=500', { token: mail.session });
    const facts = answer.body.data as { data: { reason: string; mails: object[] } }[];
    return facts.map(({ data }) => data).filter(({ mails }) => JSON.stringify(mails).includes(first));
  };
  const facts = await waitFor(async () => ((await listFacts()).length > 0 ? listFacts() : undefined), { what: 'the fact' });
  expect(facts).toMatchObject([
    { reason: 'bounce', mails: [{ mailId: second, senderId }, { mailId: first, senderId }] },
  ]);
}); // oxfmt-ignore

test.each(['5.1.0', '5.1.6', '5.4.1', '5.4.310', '5.0.0', ' 5.1.1 ', '550 5.1.1 unknown', '', null])(
  'a permanent bounce that a provider reports with the status %j suppresses as one without a status does',
  async (status) => {
    const answer = await report([{ address: 'gone@example.com', type: 'bounce', status }]);
    expect([answer.status, answer.body]).toEqual([200, { suppressed: 1, ignored: 0 }]);
    const [, stored] = /(5\.\d+\.\d+)/.exec(status ?? '') ?? [];
    expect((await list()).data[0]?.status).toBe(stored ?? null);
  },
);

test('what cannot be read in a report is ignored, and the rest of it counts', async () => {
  const good = Array.from({ length: 494 }, (_one, index) => `gone-${index}@example.com`);
  const addresses = [
    ' spaces@example.com\n',
    '<angle@example.com>',
    'Ada Lovelace <name@example.com>',
    '"Lovelace, Ada" <quoted@example.com>',
  ];
  const unreadable = ['no address', null];
  const answer = await report(
    [...good, ...addresses, ...unreadable].map((address) => ({ address, type: 'bounce' })),
  );
  expect([answer.status, answer.body]).toEqual([200, { suppressed: 498, ignored: 2 }]);
  const { rows } = await mail.db.query<{ address: string }>(
    `select address from suppressions where address not like 'gone-%' order by address`,
  );
  expect(rows.map(({ address }) => address)).toEqual([
    'angle@example.com',
    'name@example.com',
    'quoted@example.com',
    'spaces@example.com',
  ]);
  const missing = await report([
    { type: 'bounce' },
    { address: 'later@example.com', type: 'bounce', status: '452' },
    { address: 'two@example.com, three@example.com', type: 'bounce' },
  ]);
  expect([missing.status, missing.body]).toEqual([200, { suppressed: 0, ignored: 3 }]);
});

test('suppressions are listed by cursor, searched, exported as CSV and removed', async () => {
  for (const address of ['first@example.com', '=second@example.com', 'third@elsewhere.example'])
    expect((await suppress(address)).status).toBe(201);
  const first = await list('?limit=2');
  expect(first.data.map(({ address }) => address)).toEqual([
    'third@elsewhere.example',
    '=second@example.com',
  ]);
  const rest = await list(`?limit=2&cursor=${first.nextCursor ?? ''}`);
  expect([rest.data.map(({ address }) => address), rest.nextCursor]).toEqual([['first@example.com'], null]);
  expect((await list('?search=ELSEWHERE')).data).toHaveLength(1);

  const csv = await mail.call('GET', `${PATH}/export`, { token: mail.session });
  expect(csv.text.split('\r\n').map((line) => line.split(',').slice(0, 3).join(','))).toEqual([
    'address,reason,status',
    'third@elsewhere.example,administrator,',
    "'=second@example.com,administrator,",
    'first@example.com,administrator,',
    '',
  ]);

  const path = `${PATH}/${rest.data[0]?.id ?? ''}`;
  expect((await mail.call('DELETE', path, { token: mail.session })).status).toBe(200);
  expect((await mail.call('DELETE', path, { token: mail.session })).status).toBe(404);
  expect((await list()).data).toHaveLength(2);
  expect((await suppress('no address')).status).toBe(400);
});

test('a suppression is not seen, removed or applied by another organisation', async () => {
  const id = uuidv7();
  await mail.db.query(
    `insert into suppressions values ($1, $2, 'gone@example.com', 'bounce', null, now(), now() + interval '1 day')`,
    [id, uuidv7()],
  );
  expect((await list()).data).toEqual([]);
  expect((await mail.call('GET', `${PATH}/export`, { token: mail.session })).text).not.toContain('gone@');
  expect((await mail.call('DELETE', `${PATH}/${id}`, { token: mail.session })).status).toBe(404);
  expect((await mail.send(both)).body.data.data).toBe('Email sent');
});

test('changes of the suppressions are logged, without the addresses', async () => {
  const { body } = await suppress('logged@example.com');
  await report([{ address: 'logged-2@example.com', type: 'bounce' }]);
  await mail.call('DELETE', `${PATH}/${body.data.id}`, { token: mail.session });
  const written = mail.logged();
  for (const message of ['suppression added', 'bounces reported', 'suppression removed'])
    expect(written).toContain(`"msg":"${message}"`);
  expect(written).toContain(`"suppression":"${body.data.id}"`);
  expect(written).not.toContain('logged@example.com');
});

test('an organisation has a limited number of suppressions', async () => {
  const service = createSuppressionService({ pool: mail.db, clock: Date.now, maxSuppressions: 2 });
  for (const address of ['one@example.com', 'two@example.com']) await service.add(mail.orgId, address);
  await expect(service.add(mail.orgId, 'three@example.com')).rejects.toMatchObject({ statusCode: 409 });
  // Its existing ones are renewed.
  await service.add(mail.orgId, 'Two@example.com');
  expect((await list()).data).toHaveLength(2);
});

test('a suppression ends by itself, and is deleted', async () => {
  await suppress('gone@example.com');
  await mail.db.query(`update suppressions set expires_at = now() - interval '1 s'`);
  expect((await list()).data).toEqual([]);
  expect((await mail.send(both)).body.data.data).toBe('Email sent');
  const isEmpty = async () => (await mail.db.query('select from suppressions')).rowCount === 0;
  await waitFor(isEmpty, { what: 'the deletion' });
});

test('erasing a recipient deletes its suppression', async () => {
  await suppress('gone@example.com');
  const path = '/api/v1/mail/records?recipient=Gone@example.com';
  expect((await mail.call('DELETE', path, { token: mail.session })).status).toBe(200);
  expect((await list()).data).toEqual([]);
});

test('an organisation with too many mails in the queue gets 429 until there is room', async () => {
  smtp.behave((step) => (step === 'MAIL' ? '451 later' : undefined));
  const enqueueOne = () => mail.send(notice, { prefer: 'respond-async' });
  const answers = [await enqueueOne()];
  while (answers.at(-1)?.status === 202) answers.push(await enqueueOne());
  // Mails in progress take no place in the queue. It is measured once a second, so it may count mails of the tests before.
  expect(answers.length).toBeGreaterThan(10);
  expect(answers.length).toBeLessThan(60);
  const refused = answers.at(-1);
  expect([refused?.status, refused?.body.error.code, refused?.headers.get('retry-after')]).toEqual([
    429,
    'RATE_LIMITED',
    '30',
  ]);
  // A caller that waits takes no place in the queue.
  expect((await mail.send(notice)).status).toBe(500);
  await mail.db.query(`delete from mails where state <> 'sending'`);
  await waitFor(async () => (await enqueueOne()).status === 202, { what: 'room in the queue' });
});

describe('the recipes of docs/connect/bounces.md', () => {
  type Handler = (...args: unknown[]) => unknown;
  let folder: string;
  const load = async (name: string) =>
    (await import(pathToFileURL(join(folder, name)).href)) as Record<'handle' | 'handler', Handler>;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'platform-bounces-'));
    const text = readFileSync(new URL('../../../../docs/connect/bounces.md', import.meta.url), 'utf8');
    const programs = [...text.matchAll(/^```js\n([\s\S]*?)^```/gm)].map(([, program]) => program ?? '');
    for (const [index, name] of ['report.mjs', 'ses.mjs', 'postmark.mjs', 'mailgun.mjs'].entries())
      writeFileSync(join(folder, name), programs[index] ?? '');
    Object.assign(process.env, {
      PLATFORM_URL: mail.url,
      PLATFORM_TOKEN: mail.token,
      WEBHOOK_LOGIN: 'postmark:secret',
      MAILGUN_SIGNING_KEY: 'key',
    });
  });
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });
  const listed = async () =>
    (await list()).data.map(({ address, reason, status }) => [address, reason, status]);

  test('SES: permanent bounces and complaints of an SNS event', async () => {
    const { handler } = await load('ses.mjs');
    const bounced = (bounceType: string, emailAddress: string) => ({
      notificationType: 'Bounce',
      bounce: { bounceType, bouncedRecipients: [{ emailAddress, action: 'failed', status: '5.1.1' }] },
    });
    const complaint = {
      notificationType: 'Complaint',
      complaint: { complainedRecipients: [{ emailAddress: 'angry@example.com' }] },
    };
    const messages = [
      bounced('Permanent', 'Gone@example.com'),
      bounced('Transient', 'full@example.com'),
      complaint,
    ];
    await handler({ Records: messages.map((message) => ({ Sns: { Message: JSON.stringify(message) } })) });
    expect(await listed()).toEqual(
      expect.arrayContaining([
        ['gone@example.com', 'bounce', '5.1.1'],
        ['angry@example.com', 'complaint', null],
      ]),
    );
    expect(await listed()).toHaveLength(2);
  });

  test('Postmark: a hard bounce with the login of the webhook', async () => {
    const { handle } = await load('postmark.mjs');
    const login = `Basic ${Buffer.from('postmark:secret').toString('base64')}`;
    const body = { RecordType: 'Bounce', Type: 'HardBounce', Email: 'gone@example.com' };
    expect(await handle('Basic x', body)).toBe(401);
    expect(await handle(login, { ...body, Type: 'SoftBounce' })).toBe(200);
    expect(await listed()).toEqual([]);
    expect(await handle(login, body)).toBe(200);
    expect(await listed()).toEqual([['gone@example.com', 'bounce', null]]);
  });

  test('Mailgun: a signed permanent failure', async () => {
    const { handle } = await load('mailgun.mjs');
    const [timestamp, token] = ['1795000000', 'a'.repeat(50)];
    const signature = createHmac('sha256', 'key')
      .update(timestamp + token)
      .digest('hex');
    const event = {
      event: 'failed',
      severity: 'permanent',
      recipient: 'gone@example.com',
      'delivery-status': { code: 550, 'enhanced-code': '5.1.1' },
    };
    const forged = {
      timestamp,
      token,
      signature: signature.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
    };
    expect(await handle({ signature: forged, 'event-data': event })).toBe(401);
    expect(await listed()).toEqual([]);
    expect(await handle({ signature: { timestamp, token, signature }, 'event-data': event })).toBe(200);
    expect(await listed()).toEqual([['gone@example.com', 'bounce', '5.1.1']]);
  });
});
