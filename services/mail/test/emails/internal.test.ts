import { createSecretBox } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import PostalMime from 'postal-mime';
import { createRecordService, type RecordService } from '../../src/features/records/service.js';
import { createSuppressionService } from '../../src/features/suppressions/service.js';
import { createFakeIdentity, type FakeIdentity } from '../fake-identity.js';
import { buildApp, createMailDatabase, emailBody, waitForRuntime } from '../mail.js';
import { type SmtpUnderTest, startSmtp } from '../smtp-server.js';

let smtp: SmtpUnderTest;
let identity: FakeIdentity;
let orgId: string;
let mint: FakeIdentity['mint'];
let close: () => Promise<void>;
/** Replaces the service by another replica. */
let restart: () => Promise<void>;
let records: RecordService;
let send: (token: string, body: object, headers?: object) => Promise<{ status: number; body: unknown }>;
let db: Awaited<ReturnType<typeof buildApp>>['resources']['pool'];
let suppress: (address: string) => Promise<unknown>;

beforeAll(async () => {
  smtp = await startSmtp();
  identity = await createFakeIdentity(1, () => smtp.port);
  mint = identity.mint;
  [orgId = ''] = identity.organisations;
  const database = await createMailDatabase();
  const build = () => buildApp(database.url, identity.url, { environment: { SMTP_TIMEOUT_MS: '30000' } });
  let built = await build();
  const { config, resources } = built;
  const box = createSecretBox(config.ENCRYPTION_KEYS);
  records = createRecordService({ ...resources, box, brands: { get: async () => ({}) } });
  await waitForRuntime(built.app);
  const suppressions = createSuppressionService({ pool: resources.pool, clock: Date.now });
  suppress = (address) => suppressions.add(orgId, address);
  db = resources.pool;
  send = async (token, body, headers = {}) => {
    const response = await built.app.inject({
      method: 'POST',
      url: '/api/v1/mail/internal/sendEmail',
      headers: { authorization: `Bearer ${token}`, ...headers },
      payload: body,
    });
    return { status: response.statusCode, body: response.json() };
  };
  const stop = async () => {
    await built.app.close();
    await built.shutdown.run('test done');
  };
  restart = async () => {
    await stop();
    built = await build();
    db = built.resources.pool;
  };
  close = async () => {
    await stop();
    await database.drop();
    await identity.close();
    await smtp.close();
  };
});
afterAll(() => close());

test('a service credential with SEND_MAIL sends for an organisation', async () => {
  const sent = await send(mint('SEND_MAIL'), { orgId, ...emailBody({ isAutoEmail: true }) });
  expect(sent).toEqual({ status: 200, body: { data: { status: true, data: 'Email sent' } } });
  expect(smtp.accepted[0]?.from).toBe('noreply@corp.example');
});

test('a fact about a mail of a service has its key as a reference', async () => {
  const key = 'key-of-a-service';
  await send(mint('SEND_MAIL'), { orgId, ...emailBody() }, { 'idempotency-key': key });
  const { rows } = await db.query(`select type from facts where data ->> 'reference' = $1`, [key]);
  expect(rows).toEqual([{ type: 'mail.sent' }]);
});

test('fails with 403 for another scope, 400 without an organisation, and 404 without a configuration', async () => {
  expect((await send(mint('token:introspect'), { orgId, ...emailBody() })).status).toBe(403);
  expect((await send(mint('SEND_MAIL'), emailBody())).status).toBe(400);
  const other = '0190a0b0-0000-7000-8000-000000000002';
  expect((await send(mint('SEND_MAIL'), { orgId: other, ...emailBody() })).status).toBe(404);
});

test('without a subject, a mail has that of its template, in its language', async () => {
  const body = {
    ...emailBody({
      emailTemplateType: 'appuserInvite',
      language: 'de',
      templateData: { companyName: 'Müller', link: 'https://a.example/' },
    }),
    subject: undefined,
  };
  expect((await send(mint('SEND_MAIL'), { orgId, ...body })).status).toBe(200);
  expect((await PostalMime.parse(smtp.accepted.at(-1)?.raw ?? '')).subject).toBe('Einladung zu Müller');
});

test('a request can name another SMTP server without changing that of the organisation', async () => {
  const other = await startSmtp();
  const through = { host: '127.0.0.1', port: other.port, fromEmail: 'before@corp.example', tls: 'none' };
  const body = emailBody({ emailTemplateType: 'smtpServerChanged', templateData: { changedBy: 'Ada' } });
  const count = smtp.accepted.length;
  expect((await send(mint('SEND_MAIL'), { orgId, smtp: through, ...body })).status).toBe(200);
  // An organisation that has just removed its configuration is notified through the previous one.
  const none = '0190a0b0-0000-7000-8000-000000000003';
  expect((await send(mint('SEND_MAIL'), { orgId: none, smtp: through, ...body })).status).toBe(200);
  expect((await send(mint('SEND_MAIL'), { orgId, ...emailBody() })).status).toBe(200);
  expect(other.accepted.map(({ from }) => from)).toEqual(['before@corp.example', 'before@corp.example']);
  expect(other.accepted[0]?.raw).toContain('Changed by: Ada');
  expect(smtp.accepted.slice(count).map(({ from }) => from)).toEqual(['noreply@corp.example']);
  const incomplete = await send(mint('SEND_MAIL'), { orgId, smtp: { ...through, host: '' }, ...body });
  expect(incomplete).toMatchObject({ status: 400, body: { error: { code: 'SMTP_INCOMPLETE' } } });
  await other.close();
  // Mails that only services may send are listed like all others.
  for (const query of [{ state: 'any' as const }, { emailTemplateType: 'smtpServerChanged' }]) {
    const { data } = await records.list(none, { page: 1, limit: 10, ...query });
    expect(data.map(({ emailTemplateType }) => emailTemplateType)).toEqual(['smtpServerChanged']);
  }
});

test('a notice that this version does not know yet is refused like an unknown template', async () => {
  const body = emailBody({ emailTemplateType: 'tokenAlert', templateData: { notice: 'ofTomorrow' } });
  const refused = await send(mint('SEND_MAIL'), { orgId, ...body });
  expect(refused).toMatchObject({ status: 400, body: { error: { code: 'UNKNOWN_TEMPLATE' } } });
});

test('what the platform itself sends is never suppressed', async () => {
  await suppress('gone@example.com');
  const count = smtp.accepted.length;
  for (const fields of [
    { emailTemplateType: 'passwordChanged' },
    { emailTemplateType: 'suspiciousLoginAttempt' },
    { emailTemplateType: 'tokenAlert', templateData: { notice: 'tokenReused', name: 'CI' } },
  ]) {
    const body = emailBody({ sendEmailTo: ['gone@example.com'], ...fields });
    expect((await send(mint('SEND_MAIL'), { orgId, ...body })).status).toBe(200);
  }
  expect(smtp.accepted.slice(count).flatMap(({ to }) => to)).toEqual(Array(3).fill('gone@example.com'));
});

test('a code does not wait for many mails whose server does not answer', async () => {
  smtp.behave((step, line) => (step === 'RCPT' && line.includes('slow@') ? 'hang' : undefined));
  const count = smtp.accepted.length;
  const enqueue = async (fields: object) => {
    const body = { orgId, ...emailBody({ subject: undefined, ...fields }) };
    expect((await send(mint('SEND_MAIL'), body, { prefer: 'respond-async' })).status).toBe(202);
  };
  for (let sent = 0; sent < 30; sent += 1)
    await enqueue({ emailTemplateType: 'accountCreation', sendEmailTo: ['slow@example.com'] });
  await enqueue({ templateData: { otp: '731902' } });
  const findCode = () => smtp.accepted.find(({ raw }) => raw.includes('731902'));
  await waitFor(findCode, { what: 'the code' });
  await waitFor(() => smtp.count('RCPT') === 6, { what: 'a mail on each connection' });
  const { rows } = await db.query(
    `select distinct state::text from mails where template_type = 'accountCreation' and state <> 'sent' order by 1`,
  );
  expect(rows).toEqual([{ state: 'queued' }, { state: 'sending' }]);
  smtp.behave(() => undefined);
  smtp.say('250 ok');
  const isOver = async () =>
    (await db.query(`select from mails where state in ('queued', 'sending')`)).rowCount === 0;
  await waitFor(isOver, { what: 'the other mails' });
  expect(smtp.accepted.length).toBe(count + 31);
});

test.each([
  ['tokenAlert', { notice: 'tokenReused', name: 'CI' }, true],
  ['passwordChanged', {}, true],
  ['appuserInvite', { link: 'https://a.example/' }, false],
  ['loginWithOTP', { otp: '1' }, false],
])(
  'whether %s is sent once more after an unknown outcome',
  async (emailTemplateType, templateData, isRepeated) => {
    await send(mint('SEND_MAIL'), { orgId, ...emailBody({ emailTemplateType, templateData }) });
    const { rows } = await db.query<{ at_least_once: boolean }>(
      'select at_least_once from mails order by id desc limit 1',
    );
    expect(rows[0]?.at_least_once).toBe(isRepeated);
  },
);

test('an attempt does not count while nobody knows the SMTP configuration', async () => {
  smtp.behave((step) => (step === 'MAIL' ? '451 later' : undefined));
  await send(mint('SEND_MAIL'), { orgId, ...emailBody() }, { prefer: 'respond-async' });
  const read = async () =>
    (
      await db.query(
        `select state::text, attempts, problem ->> 'code' as code from mails order by id desc limit 1`,
      )
    ).rows[0];
  await waitFor(async () => (await read()).code !== null, { what: 'the attempt' });
  expect(await read()).toEqual({ state: 'queued', attempts: 1, code: 'EENVELOPE' });
  smtp.behave(() => undefined);
  identity.isManagerUnavailable = true;
  await restart();
  await db.query('update mails set next_attempt_at = now()');
  await waitFor(async () => (await read()).code === 'ECONFIG', {
    what: 'the question for the configuration',
  });
  expect(await read()).toEqual({ state: 'queued', attempts: 1, code: 'ECONFIG' });
  identity.isManagerUnavailable = false;
  await db.query('update mails set next_attempt_at = now()');
  await waitFor(async () => (await read()).state === 'sent', { what: 'the mail' });
});
