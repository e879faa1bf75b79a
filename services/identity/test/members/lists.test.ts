import { PrismaPg } from '@prisma/adapter-pg';
import { findAccounts } from '../../src/tokens/service-accounts/queries.js';
import { findMembers } from '../../src/members/members/queries.js';
import { PrismaClient } from '../../src/generated/prisma/client.js';
import { extendBySql } from '../../src/prisma.js';
import { type IdentityUnderTest, startIdentity } from '../identity.js';

let identity: IdentityUnderTest;
/** The administrator of an organisation with people, a service account, tokens and an application of known names. */
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

/** Ids in the order of their creation; the same instant creates several applications. */
const newId = `overlay(gen_random_uuid()::text placing '01900000-0000-7' from 1 for 15)::uuid`;
const insertMembers = `
  insert into users (id, org_id, email, full_name, role, password_hash, created_at)
  select ${newId}, $1::uuid, gen_random_uuid() || '@example.com', 'Filler', 'member', 'x', now()
  from generate_series(1, $2)`;
const insertAccounts = `
  insert into service_accounts (id, org_id, name, role, created_at)
  select ${newId}, $1::uuid, 'Filler', 'member', now() from generate_series(1, $2)`;
const insertApplications = `
  insert into oauth_clients (id, kind, org_id, name, redirect_uris, grant_types, auth_method, scopes, created_at)
  select ${newId}::text, 'application', $1::uuid, 'Filler', '{}', '{authorization_code}', 'none', '{}', '2026-01-01'
  from generate_series(1, $2)`;

const LISTS = [
  { path: '/api/v1/users', idField: 'id', insert: insertMembers },
  { path: '/api/v1/service-accounts', idField: 'id', insert: insertAccounts },
  { path: '/api/v1/oauth-applications', idField: 'clientId', insert: insertApplications },
];

/** The administrator of another organisation, with nine of each. */
let other: { orgId: string; session: string };
beforeAll(async () => {
  other = await identity.createOrganisation('boss@pages.example');
  for (const { insert } of LISTS) await identity.db.query(insert, [other.orgId, 9]);
});

const getPage = async (path: string) => {
  const { status, body } = await identity.call('GET', path, { token: other.session });
  return { status, body };
};

test.each(LISTS)(
  'API-13: $path is paged by cursor, with each row once',
  async ({ path, idField, insert }) => {
    const listIds = ({ data }: { data: Record<string, string>[] }) => data.map((row) => row[idField]);
    const all = (await getPage(`${path}?limit=100`)).body;
    const found: (string | undefined)[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await getPage(`${path}?limit=4${cursor && `&cursor=${cursor.toUpperCase()}`}`);
      found.push(...listIds(body));
      cursor = body.nextCursor as string | null;
      // What is created meanwhile is newer than the cursor, or has an id between the others.
      if (found.length === 4)
        await identity.db.query(
          insert.replaceAll('01900000-0000-7', '01990000-0000-7').replace('2026-01-01', '2026-01-02'),
          [other.orgId, 3],
        );
    }
    expect(found).toEqual(listIds(all));
    expect([all.nextCursor, (await getPage(`${path}?cursor=1`)).status]).toEqual([null, 400]);
  },
);

test('a page after a cursor reads its own rows by the index, and no others', async () => {
  const prisma = new PrismaClient({
    adapter: new PrismaPg({ connectionString: identity.databaseUrl }),
    log: [{ emit: 'event', level: 'query' }],
  });
  try {
    for (const insert of [insertMembers, insertAccounts])
      await identity.db.query(insert, [other.orgId, 5_000]);
    await identity.db.query('analyze users, service_accounts');
    const queries: { query: string; params: string }[] = [];
    prisma.$on('query', (event) => void queries.push(event));
    const window = {
      isFromEnd: false,
      offset: 0,
      count: 21,
      beforeId: '01900000-0000-7800-8000-000000000000',
    };
    const finds = [
      [findMembers, 'users_org_members'],
      [findAccounts, 'service_accounts_of_org'],
    ] as const;
    for (const [find, index] of finds) {
      queries.length = 0;
      await find(extendBySql(prisma), other.orgId, window);
      const [{ query, params } = { query: '', params: '[]' }] = queries;
      const { rows } = await identity.db.query<Record<string, string>>(
        `explain (analyze, costs off) ${query}`,
        JSON.parse(params),
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toMatch(new RegExp(`Scan Backward using ${index} .*rows=21`));
      expect(plan).not.toMatch(/Seq Scan|Sort/);
    }
  } finally {
    await prisma.$disconnect();
  }
});
