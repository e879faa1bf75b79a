import { randomUUID } from 'node:crypto';
import { DAY_MS, HOUR_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { searchTokens } from '../../src/tokens/list.js';
import { type CreatedToken, startIdentity } from '../identity.js';
import { createTokens, toOutcome, UNKNOWN_ID } from './tokens.js';

const identity = await startIdentity({ environment: { TRUST_PROXY: '127.0.0.1' } });
const session = await identity.login();
const { call, make, get, revoke, findEntries } = createTokens(identity, session);
afterAll(() => identity.close());

type Item = Record<string, unknown> & { id: string };
const ids = (items: readonly { id: string }[]) => items.map(({ id }) => id);
const search = async (query: string, by = session) => (await call('GET', `?${query}`, undefined, by)).body;
const searchAll = async (query: string, by = session) =>
  (await call('GET', `/admin?${query}`, undefined, by)).body;
const ownIds = async (by: string) => ids((await call('GET', '', undefined, by)).body.tokens as Item[]);
const edit = (id: string, body: object, by = session) => call('PATCH', `/${id}`, body, by);

/** Inserts active tokens of the same owner. The ids are before those of the API, in the order of their numbers. */
const insertMany = (
  token: CreatedToken,
  count: number,
  db: Pick<typeof identity.db, 'query'> = identity.db,
) =>
  db.query(
    `insert into personal_access_tokens (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, created_at)
     select overlay(gen_random_uuid()::text placing '01900000-' || lpad(n::text, 4, '0') || '-7' from 1 for 15)::uuid,
       org_id, owner_id, name, scopes, 'x', signing_key_id, created_at
     from personal_access_tokens, generate_series(1, $2) n where id = $1`,
    [token.id, count],
  );
const readIds = async (condition: string, ...values: unknown[]) =>
  ids(
    (
      await identity.db.query<{ id: string }>(
        `select id from personal_access_tokens where status = 'active' and ${condition} order by id desc`,
        values,
      )
    ).rows,
  );

/** Fetches all pages of the administrators' list. */
async function walk(limit: number, by = session): Promise<Item[]> {
  const items: Item[] = [];
  for (let page = 1, totalPages = 1; page <= totalPages; page += 1) {
    const { data, pagination } = await searchAll(`page=${page}&limit=${limit}`, by);
    expect(pagination).toMatchObject({ page, limit, totalPages: Math.ceil(pagination.total / limit) });
    ({ totalPages } = pagination);
    items.push(...data);
  }
  return items;
}

/* The first one, because the plans depend on the number of owners. */
test('PAT-28 each search reads one index in its order, and no more than a bounded part of it', async () => {
  const member = await identity.createMember(session);
  const filler = await make(member.session, { name: 'filler' });
  const client = await identity.db.connect();
  try {
    await client.query('begin');
    await client.query(
      `insert into personal_access_tokens
         (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, status, created_at, revoked_at)
       select overlay(gen_random_uuid()::text placing '01900000-0000-7' from 1 for 15)::uuid, org_id, owner_id, 'filler',
         scopes, 'x', signing_key_id, status::token_status, now(), case when status = 'revoked' then now() end
       from (select org_id, owner_id, scopes, signing_key_id from personal_access_tokens where id = $1) as source,
         unnest(array['active', 'revoked']) as status, generate_series(1, 30000)`,
      [filler.id],
    );
    await client.query('analyze personal_access_tokens');
    await client.query(`set local plan_cache_mode = force_generic_plan`);
    let plan = '';
    const explain = {
      query: async ({ text, values }: { text: string; values: unknown[] }) => {
        const { rows } = await client.query<Record<string, string>>(`explain (costs off) ${text}`, values);
        plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        return { rows: [] };
      },
    };
    const query = {
      orgId: identity.orgId,
      limit: 20,
      now: new Date(),
      endedAfter: new Date(0),
      after: undefined,
      isCounted: true,
      sort: 'newest',
      text: 'no such text',
      scope: undefined,
      unusedSince: undefined,
      expiresBefore: undefined,
      ownerId: member.id,
      state: 'active',
    } as const;
    const findIndexes = async (fields: object, scan: RegExp) => {
      await searchTokens(explain as never, { ...query, ...fields });
      expect(plan).not.toMatch(/Seq Scan on personal_access_tokens/);
      return [...plan.matchAll(scan)].map(([, index]) => index);
    };
    for (const [fields, indexes] of [
      [{}, ['tokens_of_owner', 'tokens_of_service_account']],
      [{ state: 'revoked' }, ['ended_tokens_of_owner', 'ended_tokens_of_service_account']],
      [{ ownerId: undefined }, ['tokens_of_org']],
      [{ ownerId: undefined, state: 'revoked' }, ['ended_tokens_of_org']],
    ] as const)
      expect(await findIndexes(fields, /Scan Backward using (\w+)/g)).toEqual(indexes);
    // Each order has an index, for the first page and for those after a cursor.
    for (const [sort, suffix] of [['oldest', ''], ['name', '_by_name'], ['expiry', '_by_expiry']])
      for (const after of [undefined, randomUUID()])
        for (const [ownerId, index] of [[member.id, 'tokens_of_owner'], [undefined, 'tokens_of_org']])
          expect(await findIndexes({ sort, after, ownerId }, /Scan using (tokens_of_(?:org|owner)\w*)/g)).toEqual([`${index}${suffix}`]);
    expect(await searchTokens(client as never, query)).toEqual({
      rows: [],
      nextCursor: expect.any(String),
      total: 0,
      totalIsMinimum: true,
    });
    const page = await searchTokens(client as never, { ...query, text: 'filler', isCounted: false });
    expect([page.rows.length, page.total]).toEqual([20, 21]);
  } finally {
    await client.query('rollback');
    client.release();
  }
}); // oxfmt-ignore

test('PAT-6 the own list contains the 100 newest active tokens, newest first, and none of others', async () => {
  const [member, other] = [await identity.createMember(session), await identity.createMember(session)];
  await make(other.session);
  const newest = await make(member.session);
  await insertMany(newest, 104);
  const own = await readIds('owner_id = $1', member.id);
  expect(own).toHaveLength(105);
  expect(await ownIds(member.session)).toEqual(own.slice(0, 100));
  const { tokens } = await search('limit=1', member.session);
  expect(Object.keys(tokens[0]).filter((key) => /user|owner/i.test(key))).toEqual([]);
  await revoke(newest.id, {}, member.session);
  expect(await ownIds(member.session)).toEqual(own.slice(1, 101));
});

test('PAT-9 the admin list shows every active token of the organisation exactly once, and none of others', async () => {
  const other = await identity.createOrganisation('other@example.com');
  const foreign = await make(other.session);
  expect(ids(await walk(20))).toEqual(await readIds('org_id = $1', identity.orgId));
  expect(ids(await walk(20, other.session))).toEqual([foreign.id]);
});

test("the admin list keeps a removed owner's tokens with the last known details, and they can be revoked", async () => {
  const leaver = await identity.createMember(session);
  const token = await make(leaver.session, { expiryDays: 'never' });
  const path = `/api/v1/users/${leaver.id}`;
  await identity.call('PATCH', path, { token: session, body: { fullName: 'Last Known' } });
  await identity.call('DELETE', path, { token: session });
  const find = async () => (await searchAll(`owner=${leaver.id}`)).data as Item[];
  expect(await find()).toMatchObject([
    {
      id: token.id,
      expiresAt: null,
      userId: leaver.id,
      ownerEmail: leaver.email,
      ownerFullName: 'Last Known',
      ownerDeleted: true,
    },
  ]);
  expect((await revoke(`admin/${token.id}`)).status).toBe(200);
  expect(await find()).toEqual([]);
});

test('returns the scopes that the caller can grant, with the defaults marked', async () => {
  const member = await identity.createMember(session);
  const pat = await make(session, { scopes: ['pat:read', 'user:read'] });
  const namesFor = async (token: string) => {
    const { body } = await call('GET', '/scopes', undefined, token);
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
    // oxfmt-ignore
    [...forMember, 'crawl:work', 'user:write', 'access:read', 'events:read', 'config:read', 'config:write', 'SEND_MAIL', 'FETCH_CONFIG'].toSorted(),
  );
  expect(await namesFor(pat.accessToken)).toEqual(['user:read*', 'pat:read']);
});

test('PAT-28 both lists are filtered by state, text, scope, use and expiry', async () => {
  const member = await identity.createMember(session);
  const add = (fields: object) => make(member.session, { scopes: ['user:read'], ...fields });
  const [ci, deploy, forever] = [
    await add({ name: 'CI runner', scopes: ['crawl:read', 'user:read'] }),
    await add({ name: 'deploy', description: 'Release of the ci image', expiryDays: 365 }),
    await add({ name: '100%_sure', expiryDays: 'never' }),
  ];
  const revoked = await add({ name: 'old runner' });
  await revoke(revoked.id, { reason: 'unused' }, member.session);
  const inTwoMonths = new Date(Date.now() + 60 * DAY_MS).toISOString();
  const expected: [string, CreatedToken[]][] = [
    ['limit=100', [forever, deploy, ci]],
    ['q=ci', [deploy, ci]],
    ['q=%25_', [forever]],
    ['q=RUNNER', [ci]],
    ['state=revoked', [revoked]],
    ['state=revoked&q=deploy', []],
    ['state=expired', []],
    ['scope=crawl:read', [ci]],
    ['scope=crawl:read&q=deploy', []],
    [`expiresBefore=${inTwoMonths}`, [ci]],
    [`unusedSince=${inTwoMonths}`, [forever, deploy, ci]],
    ['unusedSince=2026-01-01T00:00:00Z', []],
  ];
  for (const [query, tokens] of expected) {
    const [own, everybodys] = [
      await search(query, member.session),
      await searchAll(`${query}&owner=${member.id}`),
    ];
    expect([query, ids(own.tokens), own.nextCursor]).toEqual([query, ids(tokens), null]);
    expect([query, ids(everybodys.data), everybodys.nextCursor]).toEqual([query, ids(tokens), null]);
  }
  expect((await search('state=revoked', member.session)).tokens[0]).toMatchObject({
    state: 'revoked',
    revokedReason: 'unused',
    lastUse: null,
  });
});

test('a cursor leads through all tokens once, in each order, while new ones are created', async () => {
  const owner = await identity.createOrganisation('sorted@example.com');
  for (const [name, expiryDays] of [['delta', 90], ['Alpha', 'never'], ['charlie', 30], ['bravo', 365]] as const)
    await make(owner.session, { name, expiryDays });
  const follow = async (from: string, query: string, addMore?: () => Promise<unknown>) => {
    const names: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await call('GET', `${from}?limit=2&${query}${cursor && `&cursor=${cursor}`}`, undefined, owner.session);
      names.push(...(body.tokens ?? body.data).map(({ name }: { name: string }) => name));
      cursor = body.nextCursor as string | null;
      await addMore?.();
    }
    return names;
  };
  for (const from of ['', '/admin']) {
    expect(await follow(from, 'sort=name')).toEqual(['Alpha', 'bravo', 'charlie', 'delta']);
    expect(await follow(from, 'sort=expiry')).toEqual(['charlie', 'delta', 'bravo', 'Alpha']);
    expect(await follow(from, 'sort=oldest')).toEqual(['delta', 'Alpha', 'charlie', 'bravo']);
    expect(await follow(from, 'sort=name&q=a')).toEqual(['Alpha', 'bravo', 'charlie', 'delta']);
  }
  expect(await follow('', 'sort=newest', () => make(owner.session))).toEqual(['bravo', 'charlie', 'Alpha', 'delta']);
}); // oxfmt-ignore

test('rejects what no list can answer', async () => {
  for (const query of ['state=all', 'cursor=x', 'unusedSince=yesterday', 'page=2&q=a', 'sort=name&state=revoked'])
    for (const from of ['', '/admin'])
      expect([query, (await call('GET', `${from}?${query}`)).status]).toEqual([query, 400]);
  expect((await call('GET', `?owner=${UNKNOWN_ID}`)).status).toBe(400);
}); // oxfmt-ignore

test('a search for an owner of another organisation finds nothing, not even a cursor', async () => {
  const other = await identity.createOrganisation('foreign@example.com');
  const token = await make(other.session);
  const ended = await make(other.session);
  await revoke(ended.id, {}, other.session);
  await insertMany(token, 2_001);
  const owner = (await identity.call('GET', '/api/v1/users/me', { token: other.session })).body.user.id;
  for (const state of ['active', 'revoked'])
    expect(await searchAll(`owner=${owner}&state=${state}`)).toMatchObject({ data: [], nextCursor: null });
  expect(ids((await searchAll('state=revoked&limit=100')).data)).not.toContain(ended.id);
});

test('PAT-24 a token is shown to its owner, and an edit changes name, description and notices, as the audit records', async () => {
  const { accessToken: _accessToken, ...token } = await make(session, { name: 'old' });
  const shown = {
    ...token,
    allowList: [],
    bounds: null,
    description: null,
    lastUse: null,
    noticesMuted: false,
    replacedBy: null,
    revokedAt: null,
    revokedReason: null,
    state: 'active',
  };
  expect(await get(token.id)).toEqual(shown);
  const edited = await edit(token.id, { name: 'new', description: 'text', noticesMuted: true });
  expect([edited.status, edited.body.token]).toEqual([
    200,
    { ...shown, name: 'new', description: 'text', noticesMuted: true },
  ]);
  expect((await edit(token.id, { description: null })).body.token.description).toBeNull();
  // A change of nothing is not recorded.
  expect((await edit(token.id, { name: 'new' })).status).toBe(200);
  expect((await findEntries('token.changed', token)).map(({ changes }) => changes)).toEqual([
    {
      name: { from: 'old', to: 'new' },
      description: { from: null, to: 'text' },
      noticesMuted: { from: 'false', to: 'true' },
    },
    { description: { from: 'text', to: null } },
  ]);

  const member = await identity.createMember(session);
  const missing = await call('GET', `/${UNKNOWN_ID}`, undefined, member.session);
  const others = await call('GET', `/${token.id}`, undefined, member.session);
  expect([missing.status, others.text]).toEqual([404, missing.text]);
  expect((await edit(token.id, { name: 'mine' }, member.session)).status).toBe(404);
  await revoke(token.id, { reason: 'done' });
  expect(await get(token.id)).toMatchObject({ state: 'revoked', revokedReason: 'done' });
  expect((await edit(token.id, { name: 'late' })).status).toBe(404);
});

test('PAT-24 an edit changes nothing that a token grants', async () => {
  const token = await make();
  for (const body of [
    {},
    { scopes: ['user:read'] },
    { allowList: ['203.0.113.0/24'] },
    { expiryDays: 365 },
    { name: null },
    { description: 'x'.repeat(501) },
  ])
    expect([body, (await edit(token.id, body)).status]).toEqual([body, 400]);
});

test('PAT-25 a token sees and ends itself with any scope, and a session cannot', async () => {
  const { id, accessToken } = await make(session, { scopes: ['crawl:read'] });
  const self = (method: string, by: string) => call(method, '/self', undefined, by);
  expect((await self('GET', accessToken)).body.token).toMatchObject({ id, state: 'active' });
  for (const method of ['GET', 'DELETE'])
    expect(toOutcome(await self(method, session))).toEqual([403, 'TOKEN_REQUIRED']);
  expect((await self('DELETE', accessToken)).body).toEqual({ message: 'Token revoked', revokedCount: 1 });
  expect((await self('GET', accessToken)).status).toBe(401);
});

const use = async ({ accessToken: token }: CreatedToken, headers = {}) => {
  expect((await identity.call('GET', '/api/v1/users/me', { token, headers })).status).toBe(200);
};
const readUse = async ({ id }: CreatedToken) =>
  (await get(id))['lastUse'] as { at: string; address: string; userAgent: string } | null;
const readUsedAt = async (token: CreatedToken) => Date.parse((await readUse(token))?.at ?? '');

/** Waits until everything that was used before has been written: a token that is used last is written with it. */
async function flushed(): Promise<void> {
  const marker = await make();
  await use(marker);
  await waitFor(() => readUse(marker), { what: 'the next flush' });
}

test('PAT-20 lists and audit have the last use with its time, address and user agent, within seconds', async () => {
  const token = await make();
  expect(await readUse(token)).toBeNull();
  const before = Date.now();
  await use(token, { 'x-forwarded-for': '203.0.113.9', 'user-agent': 'agent/2.0' });
  const after = Date.now();
  const lastUse = await waitFor(() => readUse(token), { what: 'the last use' });
  expect(lastUse).toMatchObject({ address: '203.0.113.9', userAgent: 'agent/2.0' });
  const usedAt = Date.parse(lastUse.at);
  expect([usedAt >= before, usedAt <= after]).toEqual([true, true]);
  for (const [list] of [(await search('limit=1')).tokens, (await searchAll('limit=1')).data])
    expect(list).toMatchObject({ id: token.id, lastUsedAt: lastUse.at });
  // The audit is searched by the time in its ids.
  const { rows } = await identity.db.query<{ id: string }>(
    "select id from audit_entries where action = 'token.first_used' and subject_id = $1",
    [token.id],
  );
  expect(rows.map(({ id }) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16))).toEqual([usedAt]);
});

test('PAT-20 the time of last use never moves back when a replica has a slow clock or writes late', async () => {
  const token = await make();
  identity.advance(HOUR_MS);
  const now = Date.now();
  await use(token);
  await flushed();
  const latest = await readUsedAt(token);
  expect(latest).toBeGreaterThanOrEqual(now + HOUR_MS);
  identity.advance(-HOUR_MS);
  await use(token);
  await flushed();
  expect(await readUsedAt(token)).toBe(latest);
});

test('PAT-20 retries a failed flush with the time of the use, not of the flush', async () => {
  const token = await make();
  const blocker = await identity.db.connect();
  try {
    await blocker.query('begin; lock table token_last_used in exclusive mode');
    const before = Date.now();
    await use(token);
    const after = Date.now();
    const hasFailed = async () => {
      await identity.db.query(
        `select pg_cancel_backend(pid) from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return identity.logged().includes('failed to write last-used times');
    };
    await waitFor(hasFailed, { what: 'the flush that fails' });
    expect(await readUse(token)).toBeNull();
    await blocker.query('rollback');
    await waitFor(() => readUse(token), { what: 'the next flush' });
    const usedAt = await readUsedAt(token);
    expect([usedAt >= before, usedAt <= after]).toEqual([true, true]);
  } finally {
    blocker.release();
  }
});

test('no list or total includes an expired token, before or after the expiry job runs; the history ends with the retention', async () => {
  const member = await identity.createMember(session);
  const short = await make(member.session, { expiryDays: 30 });
  const long = await make(member.session, { expiryDays: 90 });
  expect(await ownIds(member.session)).toEqual([long.id, short.id]);
  const pass = async (days: number) => {
    identity.advance(days * DAY_MS);
    const { email, password } = member;
    return { admin: await identity.login(), owner: await identity.login({ email, password }) };
  };
  const { admin, owner } = await pass(31);
  const living = await readIds(`org_id = $1 and (expires_at is null or expires_at > now() + interval '31 days')`, identity.orgId);
  const check = async () => {
    expect(await ownIds(owner)).toEqual([long.id]);
    expect(ids(await walk(100, admin))).toEqual(living);
    expect((await searchAll('', admin)).pagination.total).toBe(living.length);
    expect((await revoke(short.id, {}, owner)).status).toBe(404);
  };
  await check();
  await identity.sweep();
  await check();
  expect(ids((await search('state=expired', owner)).tokens)).toEqual([short.id]);
  const { rows } = await identity.db.query('select status from personal_access_tokens where id = any($1) order by id', [[short.id, long.id]]);
  expect(rows).toEqual([{ status: 'expired' }, { status: 'active' }]);

  const later = await pass(731);
  expect(ids((await search('state=expired', later.owner)).tokens)).not.toContain(short.id);
}); // oxfmt-ignore
