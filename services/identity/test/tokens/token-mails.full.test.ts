import { createSecretBox } from '@platform/service-kit';
import { startPlatform } from '../sign-in/account-flows/platform.js';
import type { Member } from '../identity.js';
import { claimMails } from '../../src/mails/outbox/claim.queries.js';
import { createOutbox } from '../../src/mails/outbox/outbox.js';
import { addNotice } from '../../src/sign-in/second-factor/notices.js';
import { killReplica, startReplica } from './notices.js';

const path = '/api/v1/personal-access-tokens';
let member: Member;

const platform = await startPlatform();
beforeEach(async () => {
  member = await platform.identity.createMember(platform.session);
});
afterAll(() => platform.close());

/** Returns the subjects of the mails about new tokens. */
const readSubjects = (email: string): string[] =>
  platform
    .mailsTo(email)
    .map(({ subject }) => subject ?? '')
    .filter((subject) => subject.endsWith('created'));

test('a creation is mailed to the owner, and so is a revocation by somebody else', async () => {
  const token = await platform.identity.createToken(member.session, { name: 'nightly' });
  await platform.releaseHeld();
  const created = await platform.mailTo(member.email, /^A new access token was created$/);
  expect(created.text).toContain('“nightly”');
  expect(created.text).toMatch(/^IP address: +127\.0\.0\.1$/m);
  expect(created.text).not.toContain(token.accessToken.slice(4, 60));
  expect(created.text).toContain('/account/tokens\n');
  const reason = 'left\r\nthe project';
  await platform.identity.call('DELETE', `${path}/admin/${token.id}`, {
    token: platform.session,
    body: { reason },
  });
  const revoked = await platform.mailTo(member.email, /^An access token of yours was revoked$/);
  expect(revoked.text).toContain('(admin@example.com) revoked the access token “nightly”.');
  expect(revoked.text).toContain('left the project');
  expect(revoked.text).toContain('/account/tokens\n');
  const own = await platform.identity.createToken(member.session, { name: 'own' });
  await platform.identity.call('DELETE', `${path}/${own.id}`, { token: member.session });
  await platform.drained();
  expect(
    platform.mailsTo(member.email).filter(({ subject }) => /was revoked/.test(subject ?? '')),
  ).toHaveLength(1);
});

test('tokens that are created within a minute are one mail, also when two replicas send', async () => {
  const replica = await startReplica(platform);
  try {
    const members = [member, await platform.identity.createMember(platform.session)];
    for (const name of ['first', 'second', 'third'])
      for (const { session } of members) await platform.identity.createToken(session, { name });
    const { rows } = await platform.identity.db.query(
      `select distinct next_attempt_at - created_at = interval '1 minute' as "isHeld", attempts from outgoing_mails
       where user_id = any($1)`,
      [members.map(({ id }) => id)],
    );
    expect(rows).toEqual([{ isHeld: true, attempts: 0 }]);
    await platform.drained();
    for (const { email } of members) {
      const mail = await platform.mailTo(email, /^3 new access tokens were created$/);
      expect(readSubjects(email)).toEqual([mail.subject]);
      const text = mail.text?.replaceAll(/\s+/g, ' ');
      expect(text).toMatch(
        /first expires on [^,]+ second expires on [^,]+ third expires on .* If you did not/,
      );
      expect(text).toMatch(/IP address: 127\.0\.0\.1/);
    }
  } finally {
    await killReplica(replica);
  }
});

test('PAT-32 rotations that tokens make are mailed to their owner, those of a minute in one mail', async () => {
  const rotate = (token: string, id: string) =>
    platform.identity.call('POST', `${path}/${id}/rotate`, { token });
  const scopes = ['pat:write', 'user:read'];
  const agent = await platform.identity.createToken(member.session, {
    name: 'agent',
    scopes,
  });
  const other = await platform.identity.createToken(member.session, {
    name: 'other',
    scopes,
  });
  const first = await rotate(agent.accessToken, 'self');
  await rotate(first.body.token.accessToken, 'self');
  await rotate(member.session, other.id);
  await platform.drained();
  const mail = await platform.mailTo(member.email, /^2 access tokens were rotated$/);
  const text = mail.text?.replaceAll(/\s+/g, ' ');
  expect(text).toMatch(
    /agent rotated on .* UTC agent rotated on .* UTC Time: .* If no program of yours does that/,
  );
  expect(text).toMatch(/IP address: 127\.0\.0\.1/);
  const subjects = platform.mailsTo(member.email).map(({ subject }) => subject);
  expect(subjects.filter((subject) => subject?.includes('rotated'))).toHaveLength(1);
});

test('the mails about ten creations an hour are followed by one that says that there are more', async () => {
  for (let count = 0; count < 13; count += 1)
    await platform.identity.createToken(member.session, { name: `number ${count} ${'x'.repeat(80)}` });
  await platform.drained();
  expect(readSubjects(member.email).toSorted()).toEqual([
    '10 new access tokens were created',
    'Many access tokens were created',
  ]);
});

test('an account causes ten alerts of a kind an hour, then one that says so, and others of another kind', async () => {
  const { prisma, db } = platform.identity;
  const outbox = createOutbox(() => undefined, createSecretBox([{ id: 'k1', key: Buffer.alloc(32, 1) }]));
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

test('an alert about a theft waits for no other alert', async () => {
  const arrivedBefore = platform.inbox.mails.length;
  await platform.identity.db.query(
    `insert into outgoing_mails (id, kind, user_id, detail, created_at, expires_at, next_attempt_at, reports_theft)
     select gen_random_uuid(), 'token_alert', $1, jsonb_build_object('notice', notice),
       now(), now() + interval '1 hour', now() - make_interval(secs => 160 - turn), notice = 'passkeyCopied'
     from (select 'passkeyAdded' as notice, turn from generate_series(1, 100) turn union all select 'passkeyCopied', 150) mails`,
    [member.id],
  );
  await platform.drained();
  const subjects = platform.inbox.mails.slice(arrivedBefore).map(({ subject }) => subject);
  expect(subjects.filter((subject) => subject?.startsWith('A passkey was added'))).toHaveLength(100);
  // It is due last, and handed over among the first; a busy machine delivers them in another order.
  expect(subjects.findIndex((subject) => subject?.includes('copied'))).toBeLessThan(80);
});

test('alerts about thefts are claimed first, then codes, then other notices, and other alerts last', async () => {
  const { db, prisma } = platform.identity;
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
  await platform.drained();
  for (const email of [administrator.email, 'admin@example.com']) {
    const mail = await platform.mailTo(email, /^10 new access tokens of service accounts were created$/);
    expect(mail.text).toMatch(/\nmirror 0\n  service account Mirror, expires on /);
    await platform.mailTo(email, /^Many access tokens were created$/);
  }
});
