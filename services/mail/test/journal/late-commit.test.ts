import { randomUUID } from 'node:crypto';
import { waitFor } from '@platform/testing';
import { type MailUnderTest, startMail } from '../mail.js';
import { type SmtpUnderTest, startSmtp } from '../smtp-server.js';

const DAY_MS = 24 * 3_600_000;

let mail: MailUnderTest;
let smtp: SmtpUnderTest;
beforeAll(async () => {
  smtp = await startSmtp();
  mail = await startMail({
    environment: { SMTP_TIMEOUT_MS: '10000', DATABASE_TIMEOUT_MS: '1000' },
    journalTimes: { heartbeatMs: 200, senderTimeoutMs: 3_000, keyLifetimeMs: DAY_MS },
  });
  await mail.configure({ host: '127.0.0.1', port: smtp.port, fromEmail: 'noreply@corp.example' });
});
afterAll(async () => {
  await mail.close();
  await smtp.close();
});

const pending = async () => (await mail.db.query(`select from mails where state = 'pending'`)).rowCount;

/** PostgreSQL's statement timeout doesn't apply to a commit: the client gives up, and the row is written anyway. */
const slowCommits = `
  create function commit_slowly() returns trigger language plpgsql as 'begin perform pg_sleep(1.5); return null; end';
  create constraint trigger commit_slowly after insert on mails deferrable initially deferred
    for each row execute function commit_slowly()`;

test('an entry that is committed after its request failed with 503 is deleted, and its key can send a mail', async () => {
  const key = { 'idempotency-key': randomUUID() };
  await mail.db.query(slowCommits);
  expect((await mail.send({}, key)).status).toBe(503);
  await waitFor(async () => (await pending()) === 1, { what: 'the late commit' });
  await mail.db.query('drop function commit_slowly cascade');
  await waitFor(async () => (await mail.send({}, key)).status === 200, {
    what: 'the mail',
    timeoutMs: 20_000,
  });
  expect([await pending(), smtp.accepted.length]).toEqual([0, 1]);
});

test('DATABASE_TIMEOUT_MS sets how long a statement may take', async () => {
  const service = await startMail({ environment: { DATABASE_TIMEOUT_MS: '5000' } });
  await service.configure({ host: '127.0.0.1', port: smtp.port, fromEmail: 'noreply@corp.example' });
  await service.db.query(slowCommits);
  expect((await service.send()).status).toBe(200);
  await service.close();
});

test('a database that accepts no heartbeats does not make other senders count as dead', async () => {
  const other = randomUUID();
  await mail.db.query('insert into senders (id, seen_at) values ($1, now())', [other]);
  await mail.db.query(
    `insert into mails (id, org_id, state, sender_id, subject, from_address, to_addresses, cc_addresses, template_type, created_at, updated_at)
     values ($1, $1, 'pending', $1, 'of another', 'a@b.example', '{}', '{}', 'loginWithOTP', now(), now())`,
    [other],
  );
  const lock = await mail.db.connect();
  await lock.query('begin');
  await lock.query('lock table senders in access exclusive mode');
  await lock.query('select pg_sleep(4)');
  await lock.query('commit');
  lock.release();
  const isSeen = `select from senders where id <> $1 and seen_at > now() - interval '1 second'`;
  const isBeating = async () => (await mail.db.query(isSeen, [other])).rowCount === 1;
  await waitFor(isBeating, { what: 'our next heartbeat' });
  await waitFor(async () => (await mail.db.query('select pg_sleep(0.5)')).rowCount === 1, { what: 'the following heartbeats' });
  expect(await pending()).toBe(1);
  await waitFor(async () => (await pending()) === 0, { what: 'the expiry of the dead sender', timeoutMs: 10_000 });
}); // prettier-ignore

test('a mail in progress is not deleted, however long it takes', async () => {
  smtp.behave((step) => (step === 'MESSAGE' ? 'hang' : undefined));
  const sending = mail.send({ subject: 'takes its time' });
  await waitFor(() => smtp.count('MESSAGE') === 1, { what: 'the message' });
  mail.advance(DAY_MS);
  const lastHeartbeat = async () =>
    String((await mail.db.query('select seen_at from senders')).rows[0].seen_at);
  const before = await lastHeartbeat();
  await waitFor(async () => (await lastHeartbeat()) !== before, { what: 'a heartbeat', timeoutMs: 5_000 });
  const after = await lastHeartbeat();
  await waitFor(async () => (await lastHeartbeat()) !== after, {
    what: 'the next heartbeat',
    timeoutMs: 5_000,
  });
  expect(await pending()).toBe(1);
  smtp.say('250 queued');
  expect((await sending).status).toBe(200);
  const { rows } = await mail.db.query(`select state from mails where subject = 'takes its time'`);
  expect(rows).toEqual([{ state: 'sent' }]);
});
