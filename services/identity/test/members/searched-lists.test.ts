import { type IdentityUnderTest, startIdentity } from '../identity.js';

let identity: IdentityUnderTest;
let session: string;

const NAMES = ['Zoë 100%_sure', 'Ada Lovelace', 'Grace Hopper', 'grace Jones'];

beforeAll(async () => {
  identity = await startIdentity();
  session = (await identity.createOrganisation('boss@lists.example')).session;
  for (const [index, fullName] of NAMES.entries()) {
    const body = {
      email: `person-${index}@lists.example`,
      fullName,
      password: 'correct horse battery',
      role: index === 1 ? 'admin' : 'member',
    };
    await identity.call('POST', '/api/v1/users', { token: session, body });
  }
  await identity.db.query(`update users set password_hash = null where full_name = 'Grace Hopper'`);
  const account = await identity.call('POST', '/api/v1/service-accounts', {
    token: session,
    body: { name: 'Backup robot' },
  });
  await identity.call('POST', `/api/v1/service-accounts/${account.body.serviceAccount.id}/tokens`, {
    token: session,
    body: { name: 'nightly', scopes: ['user:read'] },
  });
  await identity.createToken(session, { name: 'laptop' });
  await identity.call('POST', '/api/v1/oauth-applications', {
    token: session,
    body: { name: 'Dashboard_1', grantTypes: ['client_credentials'], scopes: ['user:read'] },
  });
});
afterAll(() => identity.close());

const get = async (path: string, query: Record<string, string>) => {
  const { status, body } = await identity.call('GET', `${path}?${new URLSearchParams(query).toString()}`, {
    token: session,
  });
  expect([status, query]).toEqual([200, query]);
  return body as {
    data: Record<string, string>[];
    pagination?: { total: number };
    nextCursor: string | null;
  };
};

test.each<[path: string, field: string, query: Record<string, string>, found: string[]]>([
  ['users', 'fullName', { q: 'GRACE' }, ['grace Jones', 'Grace Hopper']],
  ['users', 'fullName', { q: 'person-1@' }, ['Ada Lovelace']],
  ['users', 'fullName', { q: '0%_s' }, ['Zoë 100%_sure']],
  ['users', 'fullName', { state: 'invited' }, ['Grace Hopper']],
  ['users', 'fullName', { q: 'grace', state: 'joined' }, ['grace Jones']],
  ['users', 'email', { role: 'admin' }, ['person-1@lists.example', 'boss@lists.example']],
  ['service-accounts', 'name', { q: 'ROBOT' }, ['Backup robot']],
  ['service-accounts', 'name', { q: 'rob_t' }, []],
  ['oauth-applications', 'name', { q: 'board_' }, ['Dashboard_1']],
  ['oauth-applications', 'name', { q: '%' }, []],
  ['personal-access-tokens/admin', 'name', {}, ['laptop', 'nightly']],
  ['personal-access-tokens/admin', 'name', { q: 'backup rob' }, ['nightly']],
  ['personal-access-tokens/admin', 'name', { q: 'boss@lists' }, ['laptop']],
  ['audit', 'action', { q: 'lapto' }, ['token.created']],
  ['audit', 'action', { q: 'backup', action: 'service_account.created' }, ['service_account.created']],
  ['audit', 'action', { q: 'person-1@' }, ['user.created']],
  ['audit', 'action', { q: 'nobody of that name' }, []],
])('API-14: %s are found: %s by %j', async (path, field, query, found) => {
  const { data, pagination, nextCursor } = await get(`/api/v1/${path}`, query);
  expect(data.map((item) => item[field])).toEqual(found);
  expect([pagination?.total, nextCursor ?? null]).toEqual([found.length, null]);
});

test('members are sorted by name and paged by cursor, in any case', async () => {
  const names: (string | undefined)[] = [];
  for (let cursor = ''; ;) {
    const { data, nextCursor } = await get('/api/v1/users', {
      sort: 'name',
      q: 'person',
      limit: '3',
      ...(cursor && { cursor }),
    });
    names.push(...data.map(({ fullName }) => fullName));
    if (nextCursor === null) break;
    cursor = nextCursor;
  }
  expect(names).toEqual(['Ada Lovelace', 'Grace Hopper', 'grace Jones', 'Zoë 100%_sure']);
  const counted = await get('/api/v1/users', { sort: 'name', q: 'person', limit: '1' });
  expect(counted.pagination).toMatchObject({ total: 4 });
  expect(counted.pagination).not.toHaveProperty('totalIsMinimum');
  // After a cursor nothing is counted beyond the page.
  const second = { sort: 'name', q: 'person', limit: '1', cursor: counted.nextCursor ?? '' };
  expect((await get('/api/v1/users', second)).pagination).toMatchObject({ total: 2, totalIsMinimum: true });
});

test('a cursor of the members by name is one of the organisation', async () => {
  const other = await identity.createOrganisation('aaa@foreign.example');
  const foreign = (await identity.call('GET', '/api/v1/users/me', { token: other.session })).body.user
    .id as string;
  const { data, nextCursor } = await get('/api/v1/users', { sort: 'name', cursor: foreign });
  expect([data, nextCursor]).toEqual([[], null]);
});

test('the total of a page of active tokens comes from the counter, and of a search from its matches', async () => {
  const all = await get('/api/v1/personal-access-tokens/admin', { state: 'active', limit: '1' });
  const found = await get('/api/v1/personal-access-tokens/admin', { q: 'l', limit: '1' });
  expect([all.pagination?.total, found.pagination?.total, all.data.length]).toEqual([2, 2, 1]);
  const next = await get('/api/v1/personal-access-tokens/admin', { cursor: all.nextCursor ?? '' });
  expect([next.data.map(({ name }) => name), next.pagination]).toEqual([['nightly'], undefined]);
});
