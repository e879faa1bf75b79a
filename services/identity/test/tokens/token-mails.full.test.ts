import { createLogger, createSecretBox } from '@platform/service-kit';
import { startPlatform } from '../sign-in/account-flows/platform.js';
import type { Member } from '../identity.js';
import { claimMails } from '../../src/mails/outbox/claim.queries.js';
import { createOutbox } from '../../src/mails/outbox/outbox.js';
import { addNotice } from '../../src/sign-in/second-factor/notices.js';
import { createNoticesJob } from '../../src/tokens/watch/notices/notices.job.js';
import { mailClientSecret } from '../sign-in/account-flows/mail-service.js';
import { serviceClient } from '../identity.js';
import { startReplica } from '../replica.js';
import { insertToken } from './organisation.js';
import { createTokens, type Tokens, TOKENS } from './tokens.js';

/* The mails about tokens as they arrive. */

let member: Member;
let tokens: Tokens;

const platform = await startPlatform();
const { identity, session } = platform;
beforeEach(async () => {
  member = await identity.createMember(session);
  tokens = createTokens(identity, member.session);
});
afterAll(() => platform.close());

const outbox = createOutbox(() => undefined, createSecretBox([{ id: 'k1', key: Buffer.alloc(32, 1) }]));
const readSubjects = (email: string, pattern: RegExp): string[] =>
  platform
    .mailsTo(email)
    .map(({ subject }) => subject ?? '')
    .filter((subject) => pattern.test(subject));
const readText = ({ text = '' }: { text?: string | undefined }) => text.replaceAll(/\s+/g, ' ');

async function createAccount(name: string): Promise<string> {
  const body = { name, role: 'member' };
  const answer = await identity.call('POST', '/api/v1/service-accounts', { token: session, body });
  return answer.body.serviceAccount.id as string;
}

test('PAT-52 a creation is mailed to the owner, and so is a revocation by somebody else', async () => {
  const token = await tokens.make(undefined, { name: 'nightly' });
  await platform.drained();
  const created = await platform.mailTo(member.email, /^A new access token was created$/);
  expect(created.text).toContain('“nightly”');
  expect(created.text).toMatch(/^IP address: +127\.0\.0\.1$/m);
  expect(created.text).not.toContain(token.accessToken.slice(4, 60));
  expect(created.text).toContain('/account/tokens\n');
  const reason = 'left\r\nthe project';
  await identity.call('DELETE', `${TOKENS}/admin/${token.id}`, { token: session, body: { reason } });
  const revoked = await platform.mailTo(member.email, /^An access token of yours was revoked$/);
  expect(revoked.text).toContain('(admin@example.com) revoked the access token “nightly”.');
  expect(revoked.text).toContain('left the project');
  const own = await tokens.make();
  await tokens.revoke(own.id);
  await platform.drained();
  expect(readSubjects(member.email, /was revoked/)).toHaveLength(1);
});

test('PAT-52 tokens that are created within a minute are one mail, also when two replicas send', async () => {
  const replica = await startReplica(identity.databaseUrl, {
    MAIL_URL: platform.mail.url,
    SERVICE_CLIENTS: `${serviceClient.id}:${serviceClient.secret},mail:${mailClientSecret}`,
  });
  try {
    const members = [member, await identity.createMember(session)];
    for (const name of ['first', 'second', 'third'])
      for (const { session: by } of members) await tokens.make(by, { name });
    const { rows } = await identity.db.query(
      `select distinct next_attempt_at - created_at = interval '1 minute' as "isHeld", attempts from outgoing_mails
       where user_id = any($1)`,
      [members.map(({ id }) => id)],
    );
    expect(rows).toEqual([{ isHeld: true, attempts: 0 }]);
    await platform.drained();
    for (const { email } of members) {
      const mail = await platform.mailTo(email, /^3 new access tokens were created$/);
      expect(readSubjects(email, /created$/)).toEqual([mail.subject]);
      expect(readText(mail)).toMatch(
        /first expires on [^,]+ second expires on [^,]+ third expires on .* If you did not/,
      );
    }
  } finally {
    await replica.close();
  }
});

test('PAT-23 rotations that tokens make are mailed to their owner, the rotations of a minute in one mail', async () => {
  const [agent, other] = [await tokens.make(undefined, { name: 'agent' }), await tokens.make()];
  const second = await tokens.rotated('self', {}, agent.accessToken);
  await tokens.rotated('self', {}, second.accessToken);
  await tokens.rotated(other.id);
  await platform.drained();
  const mail = await platform.mailTo(member.email, /^2 access tokens were rotated$/);
  expect(readText(mail)).toMatch(
    /agent rotated on .* UTC agent rotated on .* UTC Time: .* If no program of yours does that/,
  );
  expect(readSubjects(member.email, /rotated/)).toHaveLength(1);
});

test('PAT-35 the mails about ten creations an hour are followed by a mail that says that there are more', async () => {
  const path = `/api/v1/service-accounts/${await createAccount('Mirror')}/tokens`;
  for (let count = 0; count < 12; count += 1) {
    await tokens.make(undefined, { name: `number ${count} ${'x'.repeat(80)}` });
    const body = { name: `mirror ${count}`, scopes: ['crawl:read'] };
    expect((await identity.call('POST', path, { token: session, body })).status).toBe(201);
  }
  await platform.drained();
  expect(readSubjects(member.email, /created$/).toSorted()).toEqual([
    '10 new access tokens were created',
    'Many access tokens were created',
  ]);
  const ofAccount = await platform.mailTo(
    'admin@example.com',
    /^10 new access tokens of service accounts were created$/,
  );
  expect(ofAccount.text).toMatch(/\nmirror 0\n  service account Mirror, expires on /);
  expect(readSubjects('admin@example.com', /^Many/)).toEqual(['Many access tokens were created']);
});

test('PAT-32 a digest arrives whatever the names of its tokens, which are cut to what the mail service takes', async () => {
  const administrator = await identity.createMember(session, 'admin');
  const name = '\u{1F600}'.repeat(100);
  const { orgId } = identity;
  await insertToken(identity, name, { orgId, ownerId: member.id, expiresIn: 6.5 });
  await insertToken(identity, '\u00a0\u2003', { orgId, ownerId: member.id, expiresIn: -0.1 });
  await insertToken(identity, name, { orgId, accountId: await createAccount(name), expiresIn: 6 });
  const log = createLogger('identity', 'silent', { write: () => undefined });
  await createNoticesJob({ pool: identity.db, outbox, clock: Date.now, log }).run();
  const mail = await platform.mailTo(member.email, /^2 access tokens expire soon or have expired$/);
  expect(mail.text).toContain('\u{1F600}'.repeat(50));
  expect(mail.text).toContain('/account/tokens\n');
  const ofAccount = await platform.mailTo(
    administrator.email,
    /^The access token “\u{1F600}{20,}…” expires soon$/u,
  );
  expect(ofAccount.text).toContain('/organisation/tokens\n');
});

test('PAT-27 PAT-31 alerts about a reused and a leaked token say when, from where, and what was revoked', async () => {
  const token = await tokens.make(undefined, { name: 'found' });
  const current = await tokens.rotated(token.id);
  const headers = { 'x-forwarded-for': '203.0.113.9', 'user-agent': 'curl/8.5.0' };
  await identity.call('GET', '/api/v1/users/me', { token: token.accessToken, headers });
  const reused = await platform.mailTo(member.email, /^A replaced access token was used$/);
  expect(reused.text).toContain('“found”');
  expect(reused.text).toMatch(
    /Time: +\d+ \w+ \d{4} at \d\d:\d\d UTC\nDevice: +curl\nIP address: +203\.0\.113\.9\n/,
  );
  await tokens.call('POST', '/leaked', { tokens: [{ token: current.accessToken }] });
  for (const [email, page] of [
    [member.email, '/account/tokens\n'],
    ['admin@example.com', '/organisation/tokens\n'],
  ] as const) {
    const leaked = await platform.mailTo(email, /^A leaked access token was revoked$/);
    expect(leaked.text).toContain(page);
    expect(leaked.text).toContain('“found” of Ada Member');
    expect(leaked.text).not.toContain(current.accessToken.slice(4, 60));
  }
});

test('PAT-35 an account causes ten alerts of a kind an hour, then an alert that says so, and others of another kind', async () => {
  const { prisma, db } = identity;
  const add = (notice: 'recoveryCodesReplaced' | 'authenticatorRemoved') =>
    prisma.$transaction((tx) =>
      addNotice({ outbox }, tx, member.id, notice, { client: null, at: new Date() }),
    );
  const read = async () =>
    (
      await db.query<{ notice: string; count: number }>(
        `select detail->>'notice' as notice, count(*)::int as count from outgoing_mails where user_id = $1
         group by 1 order by 2 desc, 1`,
        [member.id],
      )
    ).rows;
  await db.query(`create function pause() returns trigger language plpgsql as $$ begin
      new.next_attempt_at := new.created_at + interval '30 minutes'; return new; end $$;
    create trigger pause before insert on outgoing_mails for each row execute function pause()`);
  try {
    await Promise.all(Array.from({ length: 14 }, () => add('recoveryCodesReplaced')));
    await add('authenticatorRemoved');
    expect(await read()).toEqual([
      { notice: 'recoveryCodesReplaced', count: 10 },
      { notice: 'authenticatorRemoved', count: 1 },
      { notice: 'moreAlerts', count: 1 },
    ]);
  } finally {
    await db.query('drop function pause cascade');
    await db.query('delete from outgoing_mails where user_id = $1', [member.id]);
  }
});

test('PAT-35 alerts about thefts are claimed first, then codes, then other notices, and other alerts last', async () => {
  const { db, prisma } = identity;
  // The running job doesn't claim what is due in a hundred years.
  await db.query(
    `insert into outgoing_mails (id, kind, user_id, created_at, expires_at, next_attempt_at, reports_theft)
     select gen_random_uuid(), kind, $1, now(), '2200-01-01', '2150-01-01'::date + turn::int, kind = 'token_alert' and turn = 4
     from unnest(array['token_alert', 'password_changed', 'login_code', 'token_alert']) with ordinality as mails (kind, turn)`,
    [member.id],
  );
  const claimed: { kind: string; isUrgent: boolean }[] = [];
  for (const urgency of ['urgent', 'urgent', 'urgent', 'any', 'any'] as const) {
    const [now, leasedUntil] = [new Date('2160-01-01'), new Date('2190-01-01')];
    for (const { kind } of await claimMails(prisma, { urgency, now, leasedUntil, limit: 1 }))
      claimed.push({ kind, isUrgent: urgency === 'urgent' });
  }
  await db.query('delete from outgoing_mails where user_id = $1', [member.id]);
  expect(claimed).toEqual([
    { kind: 'token_alert', isUrgent: true },
    { kind: 'login_code', isUrgent: true },
    { kind: 'password_changed', isUrgent: false },
    { kind: 'token_alert', isUrgent: false },
  ]);
});
