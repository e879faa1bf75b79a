import { load } from '../../load/load.js';
import { defineMeasurement } from '../../runner/measurement.js';
import { execute, fillTables } from '../../servers/service.js';
import { startSystem } from '../mail/environment.js';
import { insertRecipients } from '../mail/queue-growth.js';
import { letter } from '../mail/submission.js';
import { describeCosts, measureCosts, readStatementTimes } from './cost.js';
import { measureBackup, measureMibPerMillion, measureVacuum, sizes, waitUntilDeleted } from './upkeep.js';

const ORGANISATIONS = 1_000;
const MAILS_PER_SECOND = 400;
const PAGES = 200;
/** Contents are deleted after 30 days. */
const KEPT_DAYS = 29;
/** Longer than mails are kept. */
const RETENTION_DAYS = 410;

/**
 * Sent mails as they are kept: without their request, and with what administrators may see of their data. They end `$5` days
 * ago, and are spread over the `$4` days before.
 */
const insertSent = `
  insert into mails (id, org_id, state, priority, caller_waits, claim, attempts, next_attempt_at, expires_at, subject,
                     from_address, to_addresses, cc_addresses, template_type, created_at, updated_at, sealed_content)
  select uuidv7(-age), case when number % $2 = 0 then $3::uuid
      else ('0190a0b0-0001-7000-8000-' || lpad((number % $2)::text, 12, '0'))::uuid end,
    'sent', 0, false, 1, 1, now() - age, now() - age + interval '1 day', 'Your code', 'noreply@corp.example',
    array['to' || number || '@example.com'], '{}', 'loginWithOTP', now() - age, now() - age, repeat('x', 200)
  from generate_series(1, $1::int) number,
    lateral (select make_interval(secs => 86400 * ($5::float8 + $4::float8 * ($1::int - number) / $1::int)) as age) ages`;

export const mails = defineMeasurement({
  title: 'mails: what one costs, and the upkeep of the journal',
  limitSeconds: 420,
  values: {
    mails: { note: 'mails in the journal, of 1,000 organisations' },
    mails_mib: { unit: 'MiB', note: 'a million mails with their recipients and indexes' },
    ...describeCosts('mail', 'mail through the API'),
    mails_sent: { unit: '/s', note: 'mails through the API, 20 in flight' },
    mail_p99: { unit: 'ms', note: '99 % of them' },
    insert_mails_ms: { unit: 'ms', note: 'the statement that stores the mails of a moment; mean' },
    records_p99: { unit: 'ms', note: '99 % of the pages of 100 records of an organisation' },
    mails_vacuum: { unit: 's', note: 'vacuum of the mails after a hundredth was rewritten' },
    mails_deleted: { unit: '/s', note: 'old mails deleted by the retention' },
    mails_backup: { unit: 's', note: 'pg_dump -Fc of mail' },
    mails_backup_mib: { unit: 'MiB', note: 'its size' },
  },
  async run(fixture) {
    const { mails: count, ended } = sizes(fixture);
    const { identity, mail, token, useSink, sink } = await fixture.share(startSystem);
    const { databaseUrl } = mail;
    await useSink(sink.port);
    const { user } = await identity.call<{ user: { orgId: string } }>('GET', '/api/v1/users/me');
    const toValues = (rows: number, days: number, endedDays: number) => [
      rows,
      ORGANISATIONS,
      user.orgId,
      days,
      endedDays,
    ];
    fixture.progress(`inserting ${count} mails`);
    await fillTables(
      databaseUrl,
      ['mails', 'mail_recipients'],
      [insertSent, toValues(count, KEPT_DAYS, 0)],
      [insertRecipients],
    );
    const mib = await measureMibPerMillion(databaseUrl, ['mails', 'mail_recipients']);

    const send = (requests: number) =>
      load(mail.sendUrl, [{ bearer: token, body: letter }], { requests }, 20);
    await send(MAILS_PER_SECOND * 4);
    fixture.progress('mails');
    let loaded = { requestsPerSecond: Number.NaN, p99Ms: Number.NaN };
    const costs = await measureCosts(fixture, 'mail', { databaseUrl, server: mail }, async () => {
      const requests = MAILS_PER_SECOND * fixture.seconds;
      loaded = await send(requests);
      return requests;
    });
    const stored = await readStatementTimes(databaseUrl, 'insert into mails (id');
    const list = { path: '/api/v1/mail/records', bearer: identity.session };
    const records = await load(
      mail.url,
      [{ ...list, path: `${list.path}?limit=100` }],
      { requests: PAGES },
      1,
    );
    const vacuum = await measureVacuum(fixture, databaseUrl, 'mails', 'subject');
    await execute(
      databaseUrl,
      ['select pg_stat_statements_reset()'],
      // Without the triggers: what is deleted has no recipients and no facts any more.
      ['set session_replication_role = replica'],
      [insertSent, toValues(ended, 1, RETENTION_DAYS)],
    );
    await waitUntilDeleted(
      fixture,
      databaseUrl,
      `mails where id < uuidv7(-interval '${RETENTION_DAYS - 1} days')`,
    );
    const deletion = await readStatementTimes(databaseUrl, 'delete from mails where id in');
    const backup = await measureBackup(fixture, databaseUrl);
    return {
      mails: count,
      mails_mib: mib,
      ...costs,
      mails_sent: loaded.requestsPerSecond,
      mail_p99: loaded.p99Ms,
      insert_mails_ms: stored.meanMs,
      records_p99: records.p99Ms,
      mails_vacuum: vacuum,
      mails_deleted: (ended * 1_000) / deletion.totalMs,
      mails_backup: backup.seconds,
      mails_backup_mib: backup.mib,
    };
  },
});
