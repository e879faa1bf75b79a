import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { DAY_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { type MailUnderTest, startMail } from '../mail.js';
import { type SmtpUnderTest, startSmtp, toConfiguration } from '../smtp-server.js';

let mail: MailUnderTest;
let smtp: SmtpUnderTest;
beforeAll(async () => {
  smtp = await startSmtp();
  mail = await startMail({
    // A message hangs for as long as several heartbeats take.
    environment: { SMTP_TIMEOUT_MS: '60000' },
    journalTimes: { heartbeatMs: 200, senderTimeoutMs: 3_000, keyLifetimeMs: DAY_MS },
  });
  await mail.configure(toConfiguration(smtp));
});
afterAll(async () => {
  await mail.close();
  await smtp.close();
});

const pending = async () => (await mail.db.query(`select from mails where state = 'pending'`)).rowCount;

/**
 * Makes every commit of a mail wait for a lock that the test can hold. PostgreSQL's statement timeout doesn't apply to a
 * commit: the client gives up, and the row is written anyway.
 */
const COMMIT_LOCK = 1;
const lockableCommits = `
  create function wait_for_lock() returns trigger language plpgsql as
    'begin perform pg_advisory_xact_lock_shared(${COMMIT_LOCK}); return null; end';
  create constraint trigger wait_for_lock after insert on mails deferrable initially deferred
    for each row execute function wait_for_lock()`;

/** Holds all commits of mails until it is called to let them go. */
async function holdCommits(): Promise<() => Promise<void>> {
  const holder = await mail.db.connect();
  await holder.query('select pg_advisory_lock($1)', [COMMIT_LOCK]);
  return async () => {
    await holder.query('select pg_advisory_unlock($1)', [COMMIT_LOCK]);
    holder.release();
  };
}

const isCommitHeld = async () =>
  (
    await mail.db.query(
      `select from pg_locks where locktype = 'advisory' and not granted
       and database = (select oid from pg_database where datname = current_database())`,
    )
  ).rowCount !== 0;

const deletedLate = () => mail.logged().split('Deleted mails that were committed after').length - 1;

test('an entry that is committed after its request failed with 503 is deleted, and its key can send a mail', async () => {
  const key = { 'idempotency-key': randomUUID() };
  await mail.db.query(lockableCommits);
  const letGo = await holdCommits();
  // On a busy machine the statement may fail before its commit begins.
  const sendUntilHeld = async () => {
    expect((await mail.send({}, key)).status).toBe(503);
    return isCommitHeld();
  };
  await waitFor(sendUntilHeld, { what: 'a commit that outlives its request' });
  await letGo();
  await waitFor(() => deletedLate() === 1, { what: 'the deletion of the late entry' });
  await waitFor(async () => (await mail.send({}, key)).status === 200, { what: 'the mail' });
  await waitFor(async () => (await pending()) === 0, { what: 'the outcome of the mail' });
  expect(smtp.accepted.length).toBe(1);
});

test('DATABASE_TIMEOUT_MS sets how long a statement may take', async () => {
  const letGo = await holdCommits();
  const sending = mail.send();
  await waitFor(isCommitHeld, { what: 'the commit' });
  // Longer than the default of the setting.
  await delay(1_500);
  await letGo();
  expect((await sending).status).toBe(200);
});

// prettier-ignore
test('a database that accepts no heartbeats does not make other senders count as dead', async () => {
  const other = randomUUID();
  const lock = await mail.db.connect();
  await lock.query('begin');
  await lock.query('lock table senders in access exclusive mode');
  // While the heartbeats wait, the other sender's last one becomes older than senderTimeoutMs.
  await lock.query('insert into senders (id, seen_at) values ($1, now())', [other]);
  await lock.query(
    `insert into mails (id, org_id, state, sender_id, subject, from_address, to_addresses, cc_addresses, template_type, created_at, updated_at)
     values ($1, $1, 'pending', $1, 'of another', 'a@b.example', '{}', '{}', 'loginWithOTP', now(), now())`,
    [other],
  );
  // The other sender beats once the service has sent three heartbeats again.
  await lock.query(`
    create sequence beats;
    create function revive_other() returns trigger language plpgsql as $$
      begin
        if nextval('beats') = 3 then update senders set seen_at = clock_timestamp() where id = '${other}'; end if;
        return null;
      end $$;
    create trigger revive_other after insert or update on senders for each row
      when (new.id <> '${other}') execute function revive_other()`);
  await lock.query('select pg_sleep(4)');
  await lock.query('commit');
  lock.release();
  const beats = async () =>
    Number((await mail.db.query<{ last_value: string }>('select last_value from beats')).rows[0]?.last_value);
  await waitFor(async () => (await beats()) >= 5, { what: 'our next heartbeats' });
  expect(await pending()).toBe(1);
  await waitFor(async () => (await pending()) === 0, { what: 'the expiry of the dead sender' });
});

test('a mail in progress is not deleted, however long it takes', async () => {
  smtp.behave((step) => (step === 'MESSAGE' ? 'hang' : undefined));
  const sending = mail.send({ subject: 'takes its time' });
  await waitFor(() => smtp.count('MESSAGE') === 1, { what: 'the message' });
  mail.advance(DAY_MS);
  const lastHeartbeat = async () =>
    String((await mail.db.query('select seen_at from senders')).rows[0].seen_at);
  const before = await lastHeartbeat();
  await waitFor(async () => (await lastHeartbeat()) !== before, { what: 'a heartbeat' });
  const after = await lastHeartbeat();
  await waitFor(async () => (await lastHeartbeat()) !== after, {
    what: 'the next heartbeat',
  });
  expect(await pending()).toBe(1);
  smtp.say('250 queued');
  expect((await sending).status).toBe(200);
  const { rows } = await mail.db.query(`select state from mails where subject = 'takes its time'`);
  expect(rows).toEqual([{ state: 'sent' }]);
});
