import { createLogger, DAY_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { mailClientSecret } from '../account-flows/mail-service.js';
import { type Platform, startPlatform } from '../account-flows/platform.js';
import { encryptionKeys, serviceClient, type Member } from '../identity.js';
import { type Process, startServer } from '../process/process.js';
import { createOutbox } from '../../src/features/outgoing-mails/outbox.js';
import { createNoticesJob } from '../../src/features/token-notices/notices.job.js';
import { createSecretBox } from '../../src/secret-box.js';

const path = '/api/v1/personal-access-tokens';
let platform: Platform;
let member: Member;

beforeAll(async () => {
  platform = await startPlatform();
});
beforeEach(async () => {
  member = await platform.identity.createMember(platform.session);
});
afterAll(() => platform.close());

/** Stores a token that was created long ago, as the API cannot. @param expiresIn - in days. */
async function insertToken(
  name: string,
  expiresIn: number,
  { ownerId = member.id, createdAgo = 100, fields = '', now = Date.now() } = {},
): Promise<string> {
  const { rows } = await platform.identity.db.query<{ id: string }>(
    `insert into personal_access_tokens
       (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, created_at, expires_at)
     select gen_random_uuid(), org_id, id, $2, '{user:read}', gen_random_uuid()::text,
       (select id from signing_keys limit 1), $3, $4 from users where id = $1 returning id`,
    [ownerId, name, new Date(now - createdAgo * DAY_MS), new Date(now + expiresIn * DAY_MS)],
  );
  const id = rows[0]?.id ?? '';
  if (fields)
    await platform.identity.db.query(`update personal_access_tokens set ${fields} where id = $1`, [id]);
  return id;
}

/** Stores the same for a service account. */
async function insertAccountToken(name: string, expiresIn: number, accountName = 'deployer'): Promise<void> {
  const created = await platform.identity.call('POST', '/api/v1/service-accounts', {
    token: platform.session,
    body: { name: accountName, role: 'member' },
  });
  expect(created.status).toBe(201);
  await platform.identity.db.query(
    `insert into personal_access_tokens
       (id, org_id, service_account_id, name, scopes, token_hash, signing_key_id, created_at, expires_at)
     select gen_random_uuid(), org_id, id, $2, '{crawl:read}', gen_random_uuid()::text,
       (select id from signing_keys limit 1), now() - interval '100 days', now() + make_interval(days => $3)
     from service_accounts where id = $1`,
    [created.body.serviceAccount.id, name, expiresIn],
  );
}

/** The job of a replica whose clock is set. Its mails stay in the outbox of a database without a sender. */
function createReplica(now: () => number) {
  const pool = platform.identity.db;
  const log = createLogger('identity', 'silent', { write: () => undefined });
  const outbox = createOutbox(() => undefined, createSecretBox([{ id: 'k1', key: Buffer.alloc(32, 1) }]));
  return createNoticesJob({ pool, outbox, clock: now, log });
}
const readDigests = (email: string) =>
  platform
    .mailsTo(email)
    .filter(({ text = '' }) => text.includes('What uses these access tokens'))
    .map(({ subject }) => subject ?? '');

test('a token is mailed about 14, 7 and 1 days before it expires and afterwards, each once', async () => {
  // The start of a day, so that the notices of each day are due at its first run.
  const start = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
  await insertToken('CI', 20.5, { now: start });
  await insertToken('muted', 20.5, { now: start, fields: 'mutes_notices = true' });
  await insertToken('revoked', 20.5, { now: start, fields: `status = 'revoked', revoked_at = now()` });
  let now = start;
  const replicas = [createReplica(() => now), createReplica(() => now)];
  const days: number[] = [];
  for (let day = 0; day <= 23; day += 1) {
    now = start + day * DAY_MS;
    for (let turn = 0; turn < 2; turn += 1) await Promise.all(replicas.map((job) => job.run()));
    const { rowCount } = await platform.identity.db.query(
      `delete from outgoing_mails where kind = 'token_expiring' and user_id = $1 and detail->>'headline' like '%"CI"%'`,
      [member.id],
    );
    if (rowCount) days.push(day * 10 + rowCount);
  }
  expect(days).toEqual([61, 131, 191, 211]);
});

test('the notices of a day are one mail per person, with the tokens that expire first on top', async () => {
  const other = await platform.identity.createMember(platform.session);
  const muted = await insertToken('muted', 6.5, { fields: 'mutes_notices = true' });
  await insertToken('in a week', 6.5);
  await insertToken('in two weeks', 13.5);
  await insertToken('later', 20);
  await insertToken('just expired', -0.1);
  await insertToken('long expired', -10, { fields: `status = 'expired'` });
  await insertToken('for five days', 4.5, { createdAgo: 0.5 });
  await insertToken('of another', 6.5, { ownerId: other.id });
  const now = Date.now();
  await Promise.all([createReplica(() => now).run(), createReplica(() => now).run()]);
  const mail = await platform.mailTo(member.email, /^3 access tokens expire soon or have expired$/);
  expect(mail.text).toMatch(
    /\njust expired\n  expired on .* UTC\n\nin a week\n  expires on .* UTC\n\nin two weeks\n/,
  );
  expect(mail.text).not.toMatch(/muted|later|long expired|for five days|of another/);
  expect(mail.text).toContain('/account/tokens\n');
  expect(mail.html).toContain('in two weeks');
  await platform.mailTo(other.email, /^The access token "of another" expires soon$/);
  // What is due later on the same day waits for the digest of the next.
  await insertToken('late', 6.5);
  await createReplica(() => now).run();
  await platform.drained();
  expect(readDigests(member.email)).toHaveLength(1);
  await createReplica(() => now + DAY_MS).run();
  // It is not due before tomorrow.
  const { rows } = await platform.identity.db.query(
    `delete from outgoing_mails where user_id = $1 returning detail->>'headline' as headline`,
    [member.id],
  );
  expect(rows).toEqual([{ headline: 'The access token "late" expires soon' }]);
  const shown = await platform.identity.call('GET', `${path}/${muted}`, { token: member.session });
  expect(shown.body.token.noticesMuted).toBe(true);
});

const replicas: Process[] = [];
afterEach(async () => {
  for (const { child, exit } of replicas.splice(0)) {
    child.kill('SIGKILL');
    await exit;
  }
});
/** Starts another replica, as a process that can be killed. */
async function startReplica(): Promise<Process> {
  const replica = await startServer({
    DATABASE_URL: platform.identity.databaseUrl,
    ENCRYPTION_KEYS: encryptionKeys,
    HOST: '127.0.0.1',
    PORT: '0',
    MAIL_URL: platform.mail.url,
    SERVICE_CLIENTS: `${serviceClient.id}:${serviceClient.secret},mail:${mailClientSecret}`,
  });
  replicas.push(replica);
  return replica;
}

test('each person gets one mail although the sending replica is killed again and again', async () => {
  const members: Member[] = [];
  for (let count = 0; count < 12; count += 1)
    members.push(await platform.identity.createMember(platform.session));
  for (const { id } of members)
    for (const name of ['a', 'b', 'c']) await insertToken(name, 6.5, { ownerId: id });
  const countDone = async () =>
    (
      await platform.identity.db.query('select from token_digests where holder_id = any($1)', [
        members.map(({ id }) => id),
      ])
    ).rowCount ?? 0;
  // Digests beyond the limit wait, so that the replica dies in the middle of one.
  await platform.identity.db.query(`
    create table digest_limit (count integer);
    insert into digest_limit values (0);
    create function limit_digests() returns trigger language plpgsql as $$ begin
      while (select count(*) from token_digests) >= (select count from digest_limit) loop perform pg_sleep(0.02); end loop;
      return new;
    end $$;
    create trigger limit_digests before insert on token_digests for each row execute function limit_digests()`);
  const before = await platform.identity.db.query('select from token_digests');
  const setLimit = (count: number) =>
    platform.identity.db.query('update digest_limit set count = $1', [(before.rowCount ?? 0) + count]);
  try {
    for (const limit of [2, 5]) {
      await setLimit(limit);
      const replica = await startReplica();
      await waitFor(async () => (await countDone()) === limit, {
        what: `${limit} digests`,
        timeoutMs: 30_000,
      });
      replica.child.kill('SIGKILL');
      await replica.exit;
    }
    expect(await countDone()).toBe(5);
    await setLimit(members.length);
    await Promise.all([startReplica(), startReplica()]);
    await waitFor(async () => (await countDone()) === members.length, {
      what: 'all digests',
      timeoutMs: 30_000,
    });
    // The leases of mails that a killed replica was sending expire.
    platform.identity.advance(31_000);
    await platform.drained();
    expect(members.map(({ email }) => readDigests(email))).toEqual(
      members.map(() => ['3 access tokens expire soon']),
    );
  } finally {
    await platform.identity.db.query('drop function limit_digests cascade');
  }
});

test('administrators are told about the tokens of service accounts, with their own in one mail', async () => {
  const administrator = await platform.identity.createMember(platform.session, 'admin');
  await insertAccountToken('deploy', 6);
  await insertToken('own', 6.5, { ownerId: administrator.id });
  await insertToken('of a member', 6.5);
  const now = Date.now();
  await Promise.all([createReplica(() => now).run(), createReplica(() => now).run()]);
  const mail = await platform.mailTo(administrator.email, /^2 access tokens expire soon$/);
  expect(mail.text).toContain('deploy (service account deployer)');
  await platform.mailTo(
    'admin@example.com',
    /^The access token "deploy \(service account deployer\)" expires soon$/,
  );
  await platform.mailTo(member.email, /^The access token "of a member" expires soon$/);
  await platform.drained();
  for (const email of [administrator.email, 'admin@example.com', member.email])
    expect(readDigests(email)).toHaveLength(1);
});

test('an owner mutes the notices of a token, and a rotation keeps that', async () => {
  const token = await platform.identity.createToken(member.session, { name: 'quiet' });
  const edit = (noticesMuted: unknown) =>
    platform.identity.call('PATCH', `${path}/${token.id}`, { token: member.session, body: { noticesMuted } });
  expect((await edit('yes')).status).toBe(400);
  const edited = await edit(true);
  expect([edited.status, edited.body.token.noticesMuted]).toEqual([200, true]);
  const rotated = await platform.identity.call('POST', `${path}/${token.id}/rotate`, {
    token: member.session,
  });
  const shown = await platform.identity.call('GET', `${path}/${rotated.body.token.id}`, {
    token: member.session,
  });
  expect(shown.body.token.noticesMuted).toBe(true);
  const { rows } = await platform.identity.db.query(
    `select changes from audit_entries where action = 'token.changed' and subject_id = $1`,
    [token.id],
  );
  expect(rows).toEqual([{ changes: { noticesMuted: { from: 'false', to: 'true' } } }]);
});

test('a creation is mailed to the owner, and so is a revocation by somebody else', async () => {
  const token = await platform.identity.createToken(member.session, { name: 'nightly' });
  const created = await platform.mailTo(member.email, /^A new access token was created$/);
  expect(created.text).toContain('"nightly"');
  expect(created.text).toMatch(/^Address: +127\.0\.0\.1$/m);
  expect(created.text).not.toContain(token.accessToken.slice(4, 60));
  const reason = 'left\r\nthe project';
  await platform.identity.call('DELETE', `${path}/admin/${token.id}`, {
    token: platform.session,
    body: { reason },
  });
  const revoked = await platform.mailTo(member.email, /^An access token of yours was revoked$/);
  expect(revoked.text).toContain('(admin@example.com) revoked the access token "nightly".');
  expect(revoked.text).toContain('left the project');
  const own = await platform.identity.createToken(member.session, { name: 'own' });
  await platform.identity.call('DELETE', `${path}/${own.id}`, { token: member.session });
  await platform.drained();
  expect(
    platform.mailsTo(member.email).filter(({ subject }) => /was revoked/.test(subject ?? '')),
  ).toHaveLength(1);
});

test('a policy that revokes tokens is mailed to each owner once', async () => {
  for (const name of ['first', 'second'])
    await platform.identity.createToken(member.session, { name, expiryDays: 'never' });
  const policy = { allowList: [], maxLifetimeDays: null, deniedScopes: [], revokeFamilyOnReuse: false };
  const put = (body: object) =>
    platform.identity.call('PUT', '/api/v1/organisation/token-policy', { token: platform.session, body });
  const saved = await put({ ...policy, allowsNever: false, existingTokens: 'revoke' });
  expect(saved.body.revokedCount).toBe(2);
  const mail = await platform.mailTo(member.email, /^Access tokens of yours were revoked$/);
  expect(mail.text).toMatch(/"second",\s"first"/);
  await put({ ...policy, allowsNever: true });
  await platform.drained();
  expect(
    platform.mailsTo(member.email).filter(({ subject }) => /were revoked/.test(subject ?? '')),
  ).toHaveLength(1);
});

test('the job reads the index of what is due, not all tokens', async () => {
  const { db } = platform.identity;
  const { rows } = await db
    .query<{ 'QUERY PLAN': string }>(
      `
    set enable_seqscan = off;
    explain select owner_id from personal_access_tokens
    where expires_at is not null and expiry_notices < 4 and status <> 'revoked' and successor_id is null
      and ((expires_at at time zone 'UTC')::date - (case expiry_notices when 0 then 14 when 1 then 7 when 2 then 1 else 0 end))
        between current_date - 30 and current_date`,
    )
    .then((results: unknown) => (results as { rows: { 'QUERY PLAN': string }[] }[])[1] ?? { rows: [] });
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('tokens_to_tell');
});

test('a digest arrives whatever the names of its tokens, which are cut to what the mail service takes', async () => {
  const administrator = await platform.identity.createMember(platform.session, 'admin');
  const name = '\u{1F600}'.repeat(100);
  await insertToken(name, 6.5);
  await insertToken('\u00a0\u2003', -0.1);
  await insertAccountToken(name, 6, name);
  await platform.identity.db.query('delete from token_digests');
  await createReplica(Date.now).run();
  const mail = await platform.mailTo(member.email, /^2 access tokens /);
  expect(mail.text).toContain('\u{1F600}'.repeat(50));
  await platform.mailTo(administrator.email, /^The access token "\u{1F600}{20,}…" expires soon$/u);
});

test('ten creations an hour are mailed, then one mail says that there are more', async () => {
  for (let count = 0; count < 13; count += 1)
    await platform.identity.createToken(member.session, { name: `number ${count}` });
  await platform.mailTo(member.email, /^Many access tokens were created$/);
  await platform.drained();
  const count = (subject: string) =>
    platform.mailsTo(member.email).filter((mail) => mail.subject === subject).length;
  expect([count('A new access token was created'), count('Many access tokens were created')]).toEqual([
    10, 1,
  ]);
});

test('alerts about tokens delay no other notices', async () => {
  const { db } = platform.identity;
  const arrivedBefore = platform.inbox.mails.length;
  await db.query(
    `insert into outgoing_mails (id, kind, user_id, detail, created_at, expires_at, next_attempt_at)
     select gen_random_uuid(), kind, $1, detail, now(), now() + interval '1 hour', now() - make_interval(secs => 60 - turn)
     from (
       select 'token_alert' as kind, turn, '{"headline": "Alert", "message": "An alert."}'::jsonb as detail
       from generate_series(1, 40) turn
       union all
       select 'password_changed', 50, '{"time": "now", "device": "a device", "ipAddress": "127.0.0.1"}'
     ) mails`,
    [member.id],
  );
  await platform.drained();
  const subjects = platform.inbox.mails.slice(arrivedBefore).map(({ subject }) => subject);
  expect(subjects.filter((subject) => subject === 'Alert')).toHaveLength(40);
  expect(subjects.indexOf('Your password was changed')).toBeLessThan(20);
});

test('administrators are mailed about a new token of a service account', async () => {
  const { identity, session } = platform;
  const administrator = await identity.createMember(session, 'admin');
  const account = await identity.call('POST', '/api/v1/service-accounts', {
    token: session,
    body: { name: 'Mirror', role: 'member' },
  });
  const tokensPath = `/api/v1/service-accounts/${account.body.serviceAccount.id}/tokens`;
  for (let count = 0; count < 12; count += 1) {
    const body = { name: `mirror ${count}`, scopes: ['crawl:read'] };
    expect((await identity.call('POST', tokensPath, { token: session, body })).status).toBe(201);
  }
  for (const email of [administrator.email, 'admin@example.com']) {
    const subject = /^A new access token of a service account was created$/;
    const mail = await platform.mailTo(email, subject, 10);
    expect(mail.text).toMatch(/acts\s+as\s+the\s+service\s+account\s+"Mirror"/);
    await platform.mailTo(email, /^Many access tokens were created$/);
    expect(platform.mailsTo(email).filter((sent) => subject.test(sent.subject ?? ''))).toHaveLength(10);
  }
});
