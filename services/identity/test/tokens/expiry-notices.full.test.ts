import { DAY_MS } from '@platform/service-kit';
import { startPlatform } from '../sign-in/account-flows/platform.js';
import type { Member } from '../identity.js';
import { createReplica, insertAccountToken, insertToken as storeToken, readDigests } from './notices.js';

const path = '/api/v1/personal-access-tokens';
let member: Member;

const platform = await startPlatform();
beforeEach(async () => {
  member = await platform.identity.createMember(platform.session);
});
afterAll(() => platform.close());

const insertToken = (name: string, expiresIn: number, fields: object = {}) =>
  storeToken(platform, name, expiresIn, { ownerId: member.id, ...fields });

test('a token is mailed about 14, 7 and 1 days before it expires and afterwards, each once', async () => {
  // The start of a day, so that the notices of each day are due at its first run.
  const start = Math.ceil(Date.now() / DAY_MS) * DAY_MS;
  await insertToken('CI', 20.5, { now: start });
  await insertToken('muted', 20.5, { now: start, fields: 'mutes_notices = true' });
  await insertToken('revoked', 20.5, { now: start, fields: `status = 'revoked', revoked_at = now()` });
  let now = start;
  const replicas = [createReplica(platform, () => now), createReplica(platform, () => now)];
  const days: number[] = [];
  for (let day = 0; day <= 23; day += 1) {
    now = start + day * DAY_MS;
    for (let turn = 0; turn < 2; turn += 1) await Promise.all(replicas.map((job) => job.run()));
    const { rowCount } = await platform.identity.db.query(
      `delete from outgoing_mails where kind = 'token_expiring' and user_id = $1 and detail->>'name' = 'CI'`,
      [member.id],
    );
    if (rowCount) days.push(day * 10 + rowCount);
  }
  expect(days).toEqual([61, 131, 191, 211]);
  const { rows } = await platform.identity.db.query(
    `select event -> 'data' -> 'detail' ->> 'name' as name, count(*)::int from outbox.events
     where event ->> 'type' = 'token.expiring' group by 1`,
  );
  expect(rows).toEqual([{ name: 'CI', count: 4 }]);
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
  await Promise.all([createReplica(platform, () => now).run(), createReplica(platform, () => now).run()]);
  const mail = await platform.mailTo(member.email, /^3 access tokens expire soon or have expired$/);
  expect(mail.text).toMatch(
    /\njust expired\n  expired on .* UTC\n\nin a week\n  expires on .* UTC\n\nin two weeks\n/,
  );
  expect(mail.text).not.toMatch(/muted|later|long expired|for five days|of another/);
  expect(mail.text).toContain('/account/tokens\n');
  expect(mail.html).toContain('in two weeks');
  await platform.mailTo(other.email, /^The access token “of another” expires soon$/);
  // What is due later on the same day waits for the digest of the next.
  await insertToken('late', 6.5);
  await createReplica(platform, () => now).run();
  await platform.drained();
  expect(readDigests(platform, member.email)).toHaveLength(1);
  await createReplica(platform, () => now + DAY_MS).run();
  // It is not due before tomorrow.
  const { rows } = await platform.identity.db.query(
    `delete from outgoing_mails where user_id = $1 returning detail->>'notice' as notice, detail->>'name' as name`,
    [member.id],
  );
  expect(rows).toEqual([{ notice: 'tokensExpire', name: 'late' }]);
  const shown = await platform.identity.call('GET', `${path}/${muted}`, { token: member.session });
  expect(shown.body.token.noticesMuted).toBe(true);
});

test('administrators are told about the tokens of service accounts, with their own in one mail', async () => {
  const administrator = await platform.identity.createMember(platform.session, 'admin');
  await insertAccountToken(platform, 'deploy', 6);
  await insertToken('own', 6.5, { ownerId: administrator.id });
  await insertToken('of a member', 6.5);
  const now = Date.now();
  await Promise.all([createReplica(platform, () => now).run(), createReplica(platform, () => now).run()]);
  const mail = await platform.mailTo(administrator.email, /^2 access tokens expire soon$/);
  expect(mail.text).toContain('deploy\n  service account deployer, expires on ');
  // The own tokens are among those of the organisation.
  expect(mail.text).toContain('/organisation/tokens\n');
  await platform.mailTo('admin@example.com', /^The access token “deploy” expires soon$/);
  const ofMember = await platform.mailTo(member.email, /^The access token “of a member” expires soon$/);
  expect(ofMember.text).toContain('/account/tokens\n');
  await platform.drained();
  for (const email of [administrator.email, 'admin@example.com', member.email])
    expect(readDigests(platform, email)).toHaveLength(1);
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
  await insertAccountToken(platform, name, 6, name);
  await platform.identity.db.query('delete from token_digests');
  await createReplica(platform, Date.now).run();
  const mail = await platform.mailTo(member.email, /^2 access tokens /);
  expect(mail.text).toContain('\u{1F600}'.repeat(50));
  await platform.mailTo(administrator.email, /^The access token “\u{1F600}{20,}…” expires soon$/u);
});
