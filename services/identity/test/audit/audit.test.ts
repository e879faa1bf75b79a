import { waitFor } from '@platform/testing';
import { auditActions } from '../../src/audit/actions.js';
import { startIdentity } from '../identity.js';

const tokensPath = '/api/v1/personal-access-tokens';

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

interface Entry {
  id: string;
  action: string;
  actorId: string | null;
  subjectId: string;
  reason: string | null;
  detail: object;
  changes: object;
  credential: { kind: string; id: string } | null;
  address: string | null;
  userAgent: string | null;
  createdAt: string;
}
const page = (number: number, limit: number, token = session) =>
  identity.call('GET', `/api/v1/audit?page=${number}&limit=${limit}`, { token });

test('records each action once, with the actor, the subject and what changed', async () => {
  const { id: adminId } = (await identity.call('GET', '/api/v1/users/me', { token: session })).body.user;
  const member = await identity.createMember(session);
  const token = await identity.createToken(member.session, { name: 'ci', scopes: ['user:read'] });
  for (let use = 0; use < 3; use += 1)
    await identity.call('GET', '/api/v1/users/me', { token: token.accessToken });
  const change = (body: object) =>
    identity.call('PATCH', `/api/v1/users/${member.id}`, { token: session, body });
  await change({ fullName: 'Other' });
  await change({ role: 'admin', fullName: 'Another' });
  await identity.call('DELETE', `${tokensPath}/admin/${token.id}`, {
    token: session,
    body: { reason: 'leak' },
  });
  const smtp = { host: 'smtp.example.com', fromEmail: 'noreply@example.com' };
  const smtpPath = '/api/v1/configurationManager/smtpConfig';
  await identity.call('POST', smtpPath, { token: session, body: smtp });
  await identity.call('DELETE', smtpPath, { token: session });
  await identity.call('POST', '/api/v1/configurationManager/signInConfig', {
    token: session,
    body: { codesEnabled: false },
  });
  await identity.call('POST', '/api/v1/auth/logout', { token: member.session });
  await identity.call('DELETE', `/api/v1/users/${member.id}`, { token: session });

  const readAll = async () => (await page(1, 100)).body.data as Entry[];
  await waitFor(async () => (await readAll()).some(({ action }) => action === 'token.first_used'), {
    what: 'the audit of the first use',
  });
  // The page in which it appeared may have been counted before, and be one entry short.
  const entries = await readAll();
  const of = (action: string, subjectId: string) =>
    entries
      .filter((entry) => entry.action === action && entry.subjectId === subjectId)
      .map(({ actorId, reason, detail, changes }) => ({ actorId, reason, detail, changes }));
  const by = (actorId: string | null, detail: object = {}, reason: string | null = null, changes = {}) => [
    { actorId, reason, detail, changes },
  ];
  expect(of('organisation.created', identity.orgId)).toEqual(by(null));
  expect(of('user.created', member.id)).toEqual(
    by(adminId, {}, null, {
      email: { from: null, to: member.email },
      fullName: { from: null, to: 'Ada Member' },
      role: { from: null, to: 'member' },
    }),
  );
  expect(of('user.changed', member.id)).toEqual(
    by(adminId, {}, null, { fullName: { from: 'Ada Member', to: 'Other' } }),
  );
  expect(of('user.role_changed', member.id)).toEqual(
    by(adminId, {}, null, {
      fullName: { from: 'Other', to: 'Another' },
      role: { from: 'member', to: 'admin' },
    }),
  );
  expect(of('user.removed', member.id)).toEqual(by(adminId));
  expect(of('token.created', token.id)).toEqual(
    by(member.id, { name: 'ci', scopes: 'user:read', expiresAt: token.expiresAt }),
  );
  expect(of('token.first_used', token.id)).toEqual(by(member.id));
  expect(of('token.revoked', token.id)).toEqual(by(adminId, {}, 'leak'));
  const { rows } = await identity.db.query<{ id: string }>('select id from sessions where user_id = $1', [
    member.id,
  ]);
  expect(of('session.created', rows[0]?.id ?? '')).toEqual(by(member.id, { method: 'password' }));
  expect(of('session.ended', rows[0]?.id ?? '')).toEqual(by(member.id));
  expect(of('configuration.sign_in_saved', identity.orgId)).toEqual(
    by(adminId, {}, null, { codesEnabled: { from: 'true', to: 'false' } }),
  );
  expect(Object.keys(auditActions)).toEqual(expect.arrayContaining(entries.map(({ action }) => action)));
});

test('does not record a rejected change as done', async () => {
  const before = (await page(1, 1)).body.pagination.total as number;
  const unknown = '01900000-0000-7000-8000-000000000000';
  await identity.call('DELETE', `${tokensPath}/${unknown}`, { token: session });
  await identity.call('DELETE', `/api/v1/users/${unknown}`, { token: session });
  await identity.call('POST', tokensPath, { token: session, body: { name: 'x', scopes: ['no'] } });
  expect((await page(1, 1)).body.pagination.total).toBe(before);
});

test.each(["update audit_entries set reason = 'x'", 'delete from audit_entries', 'truncate audit_entries'])(
  'the database rejects: %s',
  async (statement) => {
    await expect(identity.db.query(statement)).rejects.toThrow('audit_entries is append-only');
  },
);

test('every entry contains the credential, the address and the user agent', async () => {
  const agent = 'audit-probe/1.0';
  const call = (method: string, path: string, token: string, body?: object) =>
    identity.call(method, path, { token, headers: { 'user-agent': agent }, ...(body && { body }) });
  const parent = await identity.createToken(session, { scopes: ['pat:write', 'user:write', 'user:read'] });
  const member = await identity.createMember(session);
  await call('PATCH', `/api/v1/users/${member.id}`, parent.accessToken, { fullName: 'By Token' });
  const child = await call('POST', tokensPath, parent.accessToken, { name: 'child', scopes: ['user:read'] });
  await call('DELETE', `${tokensPath}/${parent.id}`, session);
  const { data } = (await page(1, 100)).body as { data: Entry[] };
  const { rows } = await identity.db.query<{ id: string }>(
    'select id from sessions where org_id = $1 order by id limit 1',
    [identity.orgId],
  );
  const byToken = { kind: 'pat', id: parent.id };
  const bySession = { kind: 'session', id: rows[0]?.id };
  for (const [action, subjectId, credential] of [
    ['user.changed', member.id, byToken],
    ['token.created', child.body.token.id, byToken],
    ['token.revoked', parent.id, bySession],
    ['token.revoked', child.body.token.id, bySession],
  ] as const) {
    const entry = data.find((candidate) => candidate.action === action && candidate.subjectId === subjectId);
    expect(entry).toMatchObject({ credential, address: '127.0.0.1', userAgent: agent });
  }
  const firstUse = `/api/v1/audit?action=token.first_used&subjectId=${parent.id}`;
  await waitFor(async () => (await identity.call('GET', firstUse, { token: session })).body.data.length > 0, {
    what: 'the audit of the first use, which must not come between the pages of a later test',
  });
});

test('records a failed sign-in in the audit of the account, and none for an unknown account', async () => {
  const member = await identity.createMember(session);
  const unknown = `nobody-${member.email}`;
  const login = (email: string, fields: object) =>
    identity.call('POST', '/api/v1/auth/login', {
      body: { email, ...fields },
      headers: { 'user-agent': 'curl/8.5.0' },
    });
  for (const email of [member.email.toUpperCase(), unknown]) {
    expect((await login(email, { password: 'a-wrong-password' })).status).toBe(401);
    expect((await login(email, { otp: '000000' })).status).toBe(401);
  }
  const failed = await waitFor(
    async () => {
      const { body } = await identity.call('GET', '/api/v1/audit?action=sign_in.failed&limit=100', {
        token: session,
      });
      const found = (body.data as Entry[]).filter(({ subjectId }) => subjectId === member.id);
      return found.length >= 2 && { found, all: body.data as Entry[], text: JSON.stringify(body) };
    },
    { what: 'the failed sign-ins' },
  );
  expect(
    failed.found.map(({ detail, actorId, address, userAgent }) => [detail, actorId, address, userAgent]),
  ).toEqual([
    [{ method: 'code' }, null, '127.0.0.1', 'curl/8.5.0'],
    [{ method: 'password' }, null, '127.0.0.1', 'curl/8.5.0'],
  ]);
  expect(failed.text).not.toMatch(/a-wrong-password|000000|nobody-/);
});

test('the pages contain every entry of the organisation once, newest first, and no other', async () => {
  const other = await identity.createOrganisation('other@example.com');
  await identity.createToken(other.session);
  const { rows } = await identity.db.query<{ id: string }>(
    'select id from audit_entries where org_id = $1 order by id desc',
    [identity.orgId],
  );
  for (const limit of [7, 100]) {
    const pages = Math.ceil(rows.length / limit);
    const seen: string[] = [];
    for (let number = pages; number > 0; number -= 1) {
      const { body } = await page(number, limit);
      expect(body.pagination).toEqual({ page: number, limit, total: rows.length, totalPages: pages });
      seen.unshift(...(body.data as Entry[]).map(({ id }) => id));
    }
    expect(seen).toEqual(rows.map(({ id }) => id));
  }
  expect((await page(1, 100, other.session)).body.pagination.total).toBe(3);
});

test('finds exactly the entries that match filters by actor, action, target and time, alone and combined', async () => {
  const { orgId, session: own } = await identity.createOrganisation('filters@example.com');
  const adminId = (await identity.call('GET', '/api/v1/users/me', { token: own })).body.user.id as string;
  const member = await identity.createMember(own);
  for (let count = 0; count < 3; count += 1) await identity.createToken(member.session);
  identity.advance(1_000);
  const middle = new Date(Date.parse((await identity.createToken(own)).createdAt));
  await identity.call('PATCH', `/api/v1/users/${member.id}`, { token: own, body: { role: 'admin' } });
  const { data: all } = (await page(1, 100, own)).body as { data: Entry[] };
  const filters: [query: Record<string, string>, fits: (entry: Entry) => boolean][] = [
    [{ actorId: member.id }, ({ actorId }) => actorId === member.id],
    [{ action: 'token.created' }, ({ action }) => action === 'token.created'],
    [{ subjectId: member.id }, ({ subjectId }) => subjectId === member.id],
    [{ from: middle.toISOString() }, ({ createdAt }) => Date.parse(createdAt) >= middle.getTime()],
    [{ to: middle.toISOString() }, ({ createdAt }) => Date.parse(createdAt) < middle.getTime()],
    [
      { actorId: adminId, action: 'token.created' },
      ({ actorId, action }) => actorId === adminId && action === 'token.created',
    ],
    [
      { subjectId: member.id, actorId: adminId, action: 'user.role_changed', from: middle.toISOString() },
      ({ subjectId, action }) => subjectId === member.id && action === 'user.role_changed',
    ],
    [{ action: 'no.such' }, () => false],
    [{ actorId: identity.orgId }, () => false],
  ];
  for (const [query, fits] of filters) {
    const expected = all.filter(fits).map(({ id }) => id);
    const seen: string[] = [];
    for (let number = 1; number <= 2; number += 1) {
      const search = new URLSearchParams({ ...query, page: String(number), limit: '3' }).toString();
      const { status, body } = await identity.call('GET', `/api/v1/audit?${search}`, { token: own });
      expect([status, body.pagination.total, body.searchedFrom]).toEqual([200, expected.length, null]);
      seen.push(...(body.data as Entry[]).map(({ id }) => id));
    }
    expect(seen).toEqual(expected.slice(0, 6));
  }
  // Members and tokens of another organisation match nothing.
  const foreign = await identity.call('GET', `/api/v1/audit?actorId=${adminId}`, { token: session });
  expect([orgId === identity.orgId, foreign.body.pagination.total]).toEqual([false, 0]);
  for (const wrong of ['actorId=x', 'subjectId=1', 'from=yesterday', 'to=1969-01-01T00:00:00Z', 'who=me'])
    expect((await identity.call('GET', `/api/v1/audit?${wrong}`, { token: own })).status).toBe(400);
});

test('follows the cursor through every entry once, and names only actors and subjects of the own organisation', async () => {
  const { orgId, session: own } = await identity.createOrganisation('cursor@example.com');
  const member = await identity.createMember(own);
  const token = await identity.createToken(member.session, { name: 'ci' });
  const { rows: all } = await identity.db.query<{ id: string }>(
    'select id from audit_entries where org_id = $1 order by id desc',
    [orgId],
  );
  for (const filter of ['', '&from=2020-01-01T00:00:00Z']) {
    const seen: string[] = [];
    let cursor = '';
    for (let pages = 0; cursor !== 'none'; pages += 1) {
      expect(pages).toBeLessThan(all.length);
      const { body } = await identity.call('GET', `/api/v1/audit?limit=2${filter}${cursor}`, { token: own });
      seen.push(...(body.data as Entry[]).map(({ id }) => id));
      cursor = body.nextCursor === null ? 'none' : `&cursor=${(body.nextCursor as string).toUpperCase()}`;
    }
    expect(seen).toEqual(all.map(({ id }) => id));
  }
  await identity.call('DELETE', `/api/v1/users/${member.id}`, { token: own });
  const { body } = await identity.call('GET', '/api/v1/audit?limit=100', { token: own });
  expect(body.names).toMatchObject({
    [orgId]: { kind: 'organisation', name: expect.any(String) },
    [member.id]: { kind: 'member', name: 'Ada Member' },
    [token.id]: { kind: 'token', name: 'ci' },
  });
  const { credential } = (body.data as { action: string; credential: { id: string } }[]).find(
    ({ action }) => action === 'token.created',
  ) ?? { credential: { id: '' } };
  expect(body.names[credential.id]).toEqual({ kind: 'session', name: 'Ada Member' });
  // The ids of a filter are named, too, but not those of another organisation.
  const filtered = await identity.call('GET', `/api/v1/audit?actorId=${member.id}&action=no.such`, {
    token: own,
  });
  expect(filtered.body).toMatchObject({ data: [], names: { [member.id]: { name: 'Ada Member' } } });
  const foreign = await identity.call('GET', `/api/v1/audit?actorId=${member.id}&subjectId=${token.id}`, {
    token: session,
  });
  expect(foreign.body).toMatchObject({ data: [], names: {} });
});

test('a search reads a bounded range of one index and reports where it stopped', async () => {
  const { orgId, session: own } = await identity.createOrganisation('long@example.com');
  const adminId = (await identity.call('GET', '/api/v1/users/me', { token: own })).body.user.id as string;
  await identity.db.query(
    `insert into audit_entries (id, org_id, action, actor_id, subject_id, created_at)
     select uuid_v7(at), $1, 'user.changed', $2, $2, at
     from generate_series(1, 25000) n, lateral (select now() - interval '60 days' + n * interval '1 minute' as at) as times`,
    [orgId, adminId],
  );
  await identity.db.query('analyze audit_entries');
  const search = `/api/v1/audit?actorId=${adminId}&action=user.changed&limit=5`;
  const { body } = await identity.call('GET', search, { token: own });
  expect(body.pagination.total).toBeLessThanOrEqual(20_000);
  expect(body.pagination.total).toBeGreaterThan(19_000);
  // The next search continues where this one stopped.
  const older = await identity.call('GET', `${search}&to=${body.searchedFrom as string}`, { token: own });
  expect(older.body.searchedFrom).toBeNull();
  expect(body.pagination.total + older.body.pagination.total).toBe(25_000);
});

test('the retention deletes older entries and corrects the count, but entries of the last 30 days cannot be deleted', async () => {
  const { orgId, session: own } = await identity.createOrganisation('old@example.com');
  const getTotal = async () => (await page(1, 1, own)).body.pagination.total as number;
  const before = await getTotal();
  const insert = (days: number) =>
    identity.db.query(
      `insert into audit_entries (id, org_id, action, created_at)
       select uuid_v7(at), $1, 'user.changed', at
       from (select now() - $2 * interval '1 day' as at) as times`,
      [orgId, days],
    );
  for (const days of [731, 800, 729]) await insert(days);
  expect(await getTotal()).toBe(before + 3);
  await identity.sweep();
  expect(await getTotal()).toBe(before + 1);
  await expect(
    identity.db.query(
      `delete from audit_entries where org_id = $1 and created_at > now() - interval '29 days'`,
      [orgId],
    ),
  ).rejects.toThrow('entries of the last 30 days are kept');
});
