import { createLogger, DAY_MS } from '@platform/service-kit';
import { createExpiryJob } from '../../src/jobs/expiry.job.js';
import { type CreatedToken, type Member, startIdentity } from '../identity.js';

const path = '/api/v1/personal-access-tokens';

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

type Item = Record<string, unknown> & { id: string };
const ownList = async (token: string): Promise<Item[]> =>
  (await identity.call('GET', path, { token })).body.tokens;
const adminPage = (page: number, limit: number, token = session) =>
  identity.call('GET', `${path}/admin?page=${page}&limit=${limit}`, { token });
const createMany = async (token: string, count: number, fields: object = {}): Promise<CreatedToken[]> => {
  const created: CreatedToken[] = [];
  for (let done = 0; done < count; done += 20)
    created.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(20, count - done) }, () => identity.createToken(token, fields)),
      )),
    );
  return created;
};

/** Fetches all pages, and checks each of them. */
async function walk(limit: number, order: 'forward' | 'backward', token = session): Promise<Item[]> {
  const { total, totalPages } = (await adminPage(1, limit, token)).body.pagination as {
    total: number;
    totalPages: number;
  };
  expect(totalPages).toBe(Math.ceil(total / limit));
  const numbers = Array.from({ length: totalPages }, (_, index) => index + 1);
  const pages = new Map<number, Item[]>();
  for (const page of order === 'forward' ? numbers : numbers.toReversed()) {
    const { body } = await adminPage(page, limit, token);
    expect(body.pagination).toEqual({ page, limit, total, totalPages });
    pages.set(page, body.data);
  }
  return numbers.flatMap((page) => pages.get(page) ?? []);
}

test('the own list contains the 100 newest active tokens, newest first, and none of others', async () => {
  const member = await identity.createMember(session);
  const other = await identity.createMember(session);
  await createMany(other.session, 3);
  const created = await createMany(member.session, 105);
  const newest = created
    .map(({ id }) => id)
    .toSorted()
    .toReversed();
  const list = await ownList(member.session);
  expect(list.map(({ id }) => id)).toEqual(newest.slice(0, 100));
  for (const item of list)
    expect(Object.keys(item).toSorted()).toEqual([
      'allowList',
      'createdAt',
      'description',
      'expiresAt',
      'id',
      'lastUse',
      'lastUsedAt',
      'name',
      'noticesMuted',
      'parentId',
      'replacedBy',
      'revokedAt',
      'revokedReason',
      'scopes',
      'state',
    ]);
  await identity.call('DELETE', `${path}/${newest[0] ?? ''}`, { token: member.session });
  expect((await ownList(member.session)).map(({ id }) => id)).toEqual(newest.slice(1, 101));
});

test('the admin list shows every active token of the organisation exactly once, from both ends, with its owner', async () => {
  const { rows } = await identity.db.query<{ id: string }>(
    `select id from personal_access_tokens where status = 'active' order by id desc`,
  );
  for (const limit of [7, 20, 100])
    for (const order of ['forward', 'backward'] as const)
      expect((await walk(limit, order)).map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  expect((await adminPage(1_000, 100)).body.data).toEqual([]);
  const { body } = await identity.call('GET', `${path}/admin`, { token: session });
  expect([body.pagination.page, body.pagination.limit, body.data.length]).toEqual([1, 20, 20]);
  for (const item of body.data as Item[])
    expect(Object.keys(item).toSorted()).toEqual([
      'allowList',
      'createdAt',
      'description',
      'expiresAt',
      'id',
      'lastUse',
      'lastUsedAt',
      'name',
      'noticesMuted',
      'ownerDeleted',
      'ownerEmail',
      'ownerFullName',
      'parentId',
      'replacedBy',
      'revokedAt',
      'revokedReason',
      'scopes',
      'state',
      'userId',
    ]);
});

test("the admin list keeps a removed owner's tokens with the last known details, and they can be revoked", async () => {
  const leaver: Member = await identity.createMember(session);
  const token = await identity.createToken(leaver.session, { expiryDays: 'never' });
  await identity.call('PATCH', `/api/v1/users/${leaver.id}`, {
    token: session,
    body: { fullName: 'Last Known' },
  });
  await identity.call('DELETE', `/api/v1/users/${leaver.id}`, { token: session });
  const find = async () => (await walk(100, 'forward')).find(({ id }) => id === token.id);
  expect(await find()).toMatchObject({
    expiresAt: null,
    userId: leaver.id,
    ownerEmail: leaver.email,
    ownerFullName: 'Last Known',
    ownerDeleted: true,
  });
  expect((await identity.call('DELETE', `${path}/admin/${token.id}`, { token: session })).status).toBe(200);
  expect(await find()).toBeUndefined();
});

test('an administrator sees only the tokens of their own organisation', async () => {
  const other = await identity.createOrganisation('other@example.com');
  const foreign = await identity.createToken(other.session);
  expect((await walk(100, 'forward')).some(({ id }) => id === foreign.id)).toBe(false);
  expect((await walk(100, 'forward', other.session)).map(({ id }) => id)).toEqual([foreign.id]);
});

test('returns the scopes that the caller can grant, by category, with the defaults marked', async () => {
  const member = await identity.createMember(session);
  const pat = await identity.createToken(session, { scopes: ['pat:read', 'user:read'] });
  const namesFor = async (token: string) => {
    const { status, body } = await identity.call('GET', `${path}/scopes`, { token });
    expect(status).toBe(200);
    for (const group of body.scopes)
      for (const scope of group.scopes)
        expect([group.category, scope]).toEqual([
          expect.any(String),
          {
            name: expect.any(String),
            description: expect.any(String),
            default: expect.any(Boolean),
            adminOnly: expect.any(Boolean),
          },
        ]);
    return body.scopes.flatMap((group: { scopes: { name: string; default: boolean }[] }) =>
      group.scopes.map(({ name, default: isDefault }) => (isDefault ? `${name}*` : name)),
    ) as string[];
  };
  const forMember = [
    'kb:read*',
    'semantic:write*',
    'crawl:read*',
    'crawl:write*',
    'crawl:delete*',
    'user:read*',
    'pat:read',
    'pat:write',
  ];
  expect(await namesFor(member.session)).toEqual(forMember);
  expect((await namesFor(session)).toSorted()).toEqual(
    // prettier-ignore
    [...forMember, 'crawl:work', 'user:write', 'events:read', 'config:read', 'config:write', 'SEND_MAIL', 'FETCH_CONFIG'].toSorted(),
  );
  expect(await namesFor(pat.accessToken)).toEqual(['user:read*', 'pat:read']);
});

test('no list or total includes an expired token, before or after the expiry job runs', async () => {
  const member = await identity.createMember(session);
  const [short, long] = [
    await identity.createToken(member.session, { expiryDays: 30 }),
    await identity.createToken(member.session, { expiryDays: 90 }),
  ];
  const total = async (token: string) => (await adminPage(1, 1, token)).body.pagination.total as number;
  expect((await ownList(member.session)).map(({ id }) => id)).toEqual([long.id, short.id]);
  const before = await total(session);
  identity.advance(31 * DAY_MS);
  const [admin, owner] = [
    await identity.login(),
    await identity.login({ email: member.email, password: member.password }),
  ];
  const { rows } = await identity.db.query<{ count: number }>(
    `select count(*)::int from personal_access_tokens where org_id = $1 and status = 'active' and expires_at > now() + interval '31 days'`,
    [identity.orgId],
  );
  const { rows: forever } = await identity.db.query<{ count: number }>(
    `select count(*)::int from personal_access_tokens where org_id = $1 and status = 'active' and expires_at is null`,
    [identity.orgId],
  );
  const expected = (rows[0]?.count ?? 0) + (forever[0]?.count ?? 0);
  expect(expected).toBeLessThan(before);
  const check = async () => {
    expect((await ownList(owner)).map(({ id }) => id)).toEqual([long.id]);
    expect(await total(admin)).toBe(expected);
    expect((await walk(2, 'backward', admin)).map(({ id }) => id)).toContain(long.id);
    expect((await identity.call('DELETE', `${path}/${short.id}`, { token: owner })).status).toBe(404);
  };
  await check();
  const job = createExpiryJob({
    pool: identity.db,
    clock: () => Date.now() + 31 * DAY_MS,
    log: createLogger('test', 'silent'),
    toolCallDays: 90,
    auditDays: 730,
  });
  await job.sweep();
  await check();
  const status = async (id: string) =>
    (await identity.db.query('select status from personal_access_tokens where id = $1', [id]))
      .rows[0] as unknown;
  expect([await status(short.id), await status(long.id)]).toEqual([
    { status: 'expired' },
    { status: 'active' },
  ]);
});
