import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { callUrl, type OwnPostgres, startOwnPostgres, waitFor } from '@platform/testing';
import { createAdministrator, createMailDatabase, emailBody, mailEnvironment, startMail } from '../mail.js';
import { startService } from '../service-process.js';
import { type Behaviour, startSmtp, toConfiguration } from '../smtp-server.js';

const mailFolder = fileURLToPath(new URL('../..', import.meta.url));
const sendPath = '/api/v1/mail/emails/sendEmail';

/** Runs after each test in reverse order, even when the test failed, so that no process is left running. */
const cleanUps: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

/** Prepares everything that a mail process and its client need. */
async function prepare(behaviour?: Behaviour) {
  const database = await createMailDatabase();
  cleanUps.push(() => database.drop());
  const smtp = await startSmtp(behaviour);
  cleanUps.push(() => smtp.close());
  const administrator = await createAdministrator();
  await administrator.identity('POST', '/api/v1/configurationManager/smtpConfig', {
    token: administrator.session,
    body: toConfiguration(smtp),
  });
  return {
    smtp,
    token: await administrator.createToken(['SEND_MAIL']),
    async start(environment: NodeJS.ProcessEnv = {}) {
      const service = await startService(mailFolder, {
        ...mailEnvironment(database.url, administrator.identityUrl),
        ...environment,
      });
      cleanUps.push(() => service.stop());
      return service;
    },
  };
}

describe('when PostgreSQL becomes unavailable', () => {
  let postgres: OwnPostgres;
  beforeAll(async () => {
    postgres = await startOwnPostgres();
  });
  afterAll(() => postgres.close());

  test('a mail that the SMTP server has accepted is reported as sent, and its record is stored when PostgreSQL is back', async () => {
    const smtp = await startSmtp();
    const mail = await startMail({
      adminUrl: postgres.url(),
      environment: { SMTP_TIMEOUT_MS: '20000' },
    });
    await mail.configure(toConfiguration(smtp));
    smtp.behave((step) => (step === 'MESSAGE' ? 'hang' : undefined));
    const sending = mail.send({ subject: 'in between' });
    await waitFor(() => smtp.count('MESSAGE') === 1, { what: 'the message' });
    await postgres.stop();
    smtp.say('250 queued');
    expect((await sending).body).toEqual({ data: { status: true, data: 'Email sent' } });
    // A new mail must not be sent, because it can't be journalled first.
    const refused = await mail.send();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(refused.body.error.code).toBe('NOTHING_DONE');
    expect(smtp.accepted).toHaveLength(1);
    await postgres.start();
    const record = await waitFor(
      async () => (await mail.call('GET', '/api/v1/mail/records', { token: mail.session })).body?.data?.[0],
      { what: 'the record' },
    );
    expect(record).toMatchObject({ subject: 'in between' });
    await mail.close();
    await smtp.close();
  });
});

test('every mail is sent once or reported as unknown when the process is killed and the requests are repeated', async () => {
  const { smtp, token, start } = await prepare();
  const states = new Map(Array.from({ length: 400 }, () => [randomUUID() as string, 'none']));
  async function sendOne(url: string, key: string): Promise<void> {
    const options = { token, body: emailBody({ subject: key }), headers: { 'idempotency-key': key } };
    const response = await callUrl(url + sendPath, 'POST', options).catch(() => undefined);
    states.set(key, response?.status === 200 ? 'sent' : (response?.body?.error?.code ?? 'none'));
  }
  /** Sends the mails whose state matches the predicate, sixty at a time. */
  async function sendAll(url: string, isWanted: (state: string) => boolean): Promise<void> {
    const waiting = [...states].filter(([, state]) => isWanted(state)).map(([key]) => key);
    const work = async () => {
      for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) await sendOne(url, key);
    };
    await Promise.all(Array.from({ length: 60 }, work));
  }
  const isFinal = (state: string) => state === 'sent' || state === 'DELIVERY_UNKNOWN';

  // A generous timeout, so that mails which only wait for their turn on a slow machine don't fail.
  const environment = { SMTP_TIMEOUT_MS: '20000' };
  const first = await start(environment);
  const interrupted = sendAll(first.url, () => true);
  await waitFor(() => smtp.accepted.length > 100, { what: 'some mails' });
  await first.stop('SIGKILL');
  await interrupted;
  expect(smtp.accepted.length).toBeLessThan(400);

  const second = await start(environment);
  // Includes the mails that were already sent: their keys must return the same result and send nothing.
  await sendAll(second.url, () => true);
  await waitFor(
    async () => {
      await sendAll(second.url, (state) => !isFinal(state));
      return [...states.values()].every(isFinal);
    },
    { what: 'an outcome for every key', intervalMs: 500 },
  );
  const arrivals = new Map<string, number>();
  for (const { raw } of smtp.accepted) {
    const subject = /^Subject: (.*)\r$/m.exec(raw)?.[1] ?? '';
    arrivals.set(subject, (arrivals.get(subject) ?? 0) + 1);
  }
  const found = [...states].map(([key, state]) => ({ key, state, count: arrivals.get(key) ?? 0 }));
  expect(found.filter(({ count }) => count > 1)).toEqual([]);
  expect(found.filter(({ state, count }) => state === 'sent' && count !== 1)).toEqual([]);
  expect([...states.values()].filter((state) => state === 'sent').length).toBeGreaterThan(300);
});

test.each([
  ['before its message was begun is sent by the next one', 'DATA', 'sent', 1],
  ['after its message was begun is unknown, and not sent again', 'MESSAGE', 'unknown', 0],
] as const)(
  'MAIL-51 a queued mail of a replica that is killed %s',
  async (_what, step, state, sent) => {
    const { smtp, token, start } = await prepare((one) => (one === step ? 'hang' : undefined));
    const environment = { SMTP_TIMEOUT_MS: '60000' };
    const first = await start(environment);
    const headers = { prefer: 'respond-async' };
    const body = emailBody({ emailTemplateType: 'accountCreation', templateData: {} });
    const accepted = await callUrl(first.url + sendPath, 'POST', { token, body, headers });
    expect(accepted.status).toBe(202);
    await waitFor(() => smtp.count(step) === 1, { what: 'the handover' });
    await first.stop('SIGKILL');
    smtp.behave(() => undefined);
    smtp.accepted.length = 0;
    const second = await start(environment);
    const path = `/api/v1/mail/records/${accepted.body.data.id as string}`;
    const read = async () => (await callUrl(second.url + path, 'GET', { token })).body.data.state as string;
    // On a busy machine, an attempt of the next replica may fail, and is made again a minute later.
    await waitFor(async () => (await read()) === state, { what: `the state ${state}`, patienceMs: 150_000 });
    expect(smtp.accepted).toHaveLength(sent);
  },
  200_000,
);

test('SIGTERM lets a mail in progress finish before the process exits', async () => {
  const { smtp, token, start } = await prepare((step) => (step === 'MESSAGE' ? 'hang' : undefined));
  const service = await start({ SMTP_TIMEOUT_MS: '20000' });
  const sending = callUrl(service.url + sendPath, 'POST', { token, body: emailBody() });
  await waitFor(() => smtp.count('MESSAGE') === 1, { what: 'the message' });
  const stopping = service.stop();
  smtp.say('250 queued');
  expect((await sending).status).toBe(200);
  await stopping;
});
