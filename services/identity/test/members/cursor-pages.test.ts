import { PrismaPg } from '@prisma/adapter-pg';
import { findAccounts } from '../../src/tokens/service-accounts/queries.js';
import { findMembers } from '../../src/members/members/queries.js';
import { PrismaClient } from '../../src/generated/prisma/client.js';
import { type IdentityUnderTest, startIdentity } from '../identity.js';

let identity: IdentityUnderTest;
let session: string;

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

beforeAll(async () => {
  identity = await startIdentity();
  session = await identity.login();
  for (const { insert } of LISTS) await identity.db.query(insert, [identity.orgId, 9]);
});
afterAll(() => identity.close());

const get = async (path: string) => {
  const { status, body } = await identity.call('GET', path, { token: session });
  return { status, body };
};

test.each(LISTS)(
  'API-13: $path is paged by cursor, with each row once',
  async ({ path, idField, insert }) => {
    const listIds = ({ data }: { data: Record<string, string>[] }) => data.map((row) => row[idField]);
    const all = (await get(`${path}?limit=100`)).body;
    const found: (string | undefined)[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await get(`${path}?limit=4${cursor && `&cursor=${cursor.toUpperCase()}`}`);
      found.push(...listIds(body));
      cursor = body.nextCursor as string | null;
      // What is created meanwhile is newer than the cursor, or has an id of its own between the others.
      if (found.length === 4)
        await identity.db.query(
          insert.replaceAll('01900000-0000-7', '01990000-0000-7').replace('2026-01-01', '2026-01-02'),
          [identity.orgId, 3],
        );
    }
    expect(found).toEqual(listIds(all));
    expect([all.nextCursor, (await get(`${path}?cursor=1`)).status]).toEqual([null, 400]);
  },
);

test('a page after a cursor reads its own rows by the index, and no others', async () => {
  const prisma = new PrismaClient({
    adapter: new PrismaPg({ connectionString: identity.databaseUrl }),
    log: [{ emit: 'event', level: 'query' }],
  });
  try {
    for (const insert of [insertMembers, insertAccounts])
      await identity.db.query(insert, [identity.orgId, 20_000]);
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
      await find(prisma, identity.orgId, window);
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
