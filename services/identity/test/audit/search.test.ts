import { startIdentity } from '../identity.js';

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

interface Entry {
  readonly id: string;
  readonly action: string;
  readonly actorId: string | null;
  readonly subjectId: string;
  readonly createdAt: string;
}
const page = (number: number, limit: number, token: string) =>
  identity.call('GET', `/api/v1/audit?page=${number}&limit=${limit}`, { token });

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
    for (let number = 1; number <= 3; number += 1) {
      const search = new URLSearchParams({ ...query, page: String(number), limit: '2' }).toString();
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
     select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid,
            $1, 'user.changed', $2, $2, at
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
       select (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7000' || '8000' || substr(md5(random()::text), 1, 12))::uuid,
              $1, 'user.changed', at
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
