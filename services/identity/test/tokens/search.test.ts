import { randomUUID } from 'node:crypto';
import { DAY_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { type CreatedToken, startIdentity } from '../identity.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';

const path = '/api/v1/personal-access-tokens';

const identity = await startIdentity({ environment: { TRUST_PROXY: '127.0.0.1' } });
const session = await identity.login();
const member = await identity.createMember(session);
afterAll(() => identity.close());

const search = (query: string, token = member.session) => identity.call('GET', `${path}?${query}`, { token });
const searchAll = (query: string) => identity.call('GET', `${path}/admin?${query}`, { token: session });
const ids = (items: { id: string }[]) => items.map(({ id }) => id);
const make = (fields: object) => identity.createToken(member.session, { scopes: ['user:read'], ...fields });

test('filters both lists by state, text, scope and expiry', async () => {
  const [ci, deploy, forever] = [
    await make({ name: 'CI runner', scopes: ['crawl:read', 'user:read'] }),
    await make({ name: 'deploy', description: 'Release of the ci image', expiryDays: 365 }),
    await make({ name: '100%_sure', expiryDays: 'never' }),
  ];
  const revoked = await make({ name: 'old runner' });
  await identity.call('DELETE', `${path}/${revoked.id}`, {
    token: member.session,
    body: { reason: 'unused' },
  });
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
    const [own, everybodys] = [await search(query), await searchAll(`${query}&owner=${member.id}`)];
    expect([query, own.status, everybodys.status]).toEqual([query, 200, 200]);
    expect([query, ids(own.body.tokens)]).toEqual([query, ids(tokens)]);
    expect([query, ids(everybodys.body.data)]).toEqual([query, ids(tokens)]);
    expect([own.body.nextCursor, everybodys.body.nextCursor]).toEqual([null, null]);
  }
  expect((await search('state=revoked')).body.tokens[0]).toMatchObject({
    state: 'revoked',
    revokedReason: 'unused',
    lastUse: null,
  });
  expect((await searchAll(`state=revoked&owner=${member.id}`)).body.data[0]).toMatchObject({
    userId: member.id,
    ownerEmail: member.email,
    state: 'revoked',
  });
});

test('administrators find the tokens of a service account by its id, in each state', async () => {
  const accounts = '/api/v1/service-accounts';
  const account = (
    await identity.call('POST', accounts, { token: session, body: { name: 'Backup', role: 'member' } })
  ).body.serviceAccount as { id: string };
  const tokens = `${accounts}/${account.id}/tokens`;
  const create = async (name: string) =>
    (await identity.call('POST', tokens, { token: session, body: { name, scopes: ['user:read'] } })).body
      .token as CreatedToken;
  const [kept, revoked] = [await create('kept'), await create('revoked')];
  await identity.call('DELETE', `${path}/admin/${revoked.id}`, { token: session });
  const find = async (query: string) =>
    ids((await searchAll(`owner=${account.id}${query}`)).body.data as CreatedToken[]);
  expect([await find(''), await find('&q=kept'), await find('&state=revoked')]).toEqual([
    [kept.id],
    [kept.id],
    [revoked.id],
  ]);
});

test('a cursor leads through all tokens once, while new ones are created', async () => {
  const owner = await identity.createMember(session);
  const made: string[] = [];
  for (let index = 0; index < 7; index += 1) made.unshift((await identity.createToken(owner.session)).id);
  const seen: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { body } = await search(`limit=3${cursor && `&cursor=${cursor}`}`, owner.session);
    seen.push(...ids(body.tokens));
    cursor = body.nextCursor as string | null;
    await identity.createToken(owner.session);
  }
  expect(seen).toEqual(made);
});

test('the history is that of the own organisation and ends with the retention', async () => {
  const other = await identity.createOrganisation('search@example.com');
  const foreign = await identity.createToken(other.session);
  await identity.call('DELETE', `${path}/${foreign.id}`, { token: other.session });
  const found = await searchAll('state=revoked&limit=100');
  expect(ids(found.body.data)).not.toContain(foreign.id);
  const foreignOwner = (await identity.call('GET', '/api/v1/users/me', { token: other.session })).body.user
    .id;
  expect((await searchAll(`owner=${foreignOwner}`)).body.data).toEqual([]);
  expect((await search('state=revoked')).body.tokens).toHaveLength(1);
  identity.advance(731 * DAY_MS);
  const later = await identity.login({ email: member.email, password: member.password });
  expect((await search('state=revoked', later)).body.tokens).toHaveLength(0);
  identity.advance(-731 * DAY_MS);
});

test('shows the address and the user agent of the last use', async () => {
  const token = await make({ name: 'used' });
  await identity.call('GET', '/api/v1/users/me', {
    token: token.accessToken,
    headers: { 'x-forwarded-for': '203.0.113.9', 'user-agent': 'agent/2.0' },
  });
  const lastUse = async () =>
    (await identity.call('GET', `${path}/${token.id}`, { token: member.session })).body.token
      .lastUse as object;
  expect(await waitFor(lastUse, { what: 'the last use' })).toEqual({
    at: expect.stringMatching(/Z$/),
    address: '203.0.113.9',
    userAgent: 'agent/2.0',
  });
});

test('each search reads one index in its order, and no more than a bounded part of it', async () => {
  const { searchTokens } = await import('../../src/tokens/list.js');
  const filler = await make({ name: 'filler' });
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
    const plans: string[] = [];
    const explain = {
      query: async ({ text, values }: { text: string; values: unknown[] }) => {
        const { rows } = await client.query<Record<string, string>>(
          `explain (analyze, costs off) ${text}`,
          values,
        );
        plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
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
    } as const;
    const none = { text: 'no such text', scope: undefined, unusedSince: undefined, expiresBefore: undefined };
    for (const ownerId of [member.id, undefined])
      for (const state of ['active', 'revoked'] as const)
        await searchTokens(explain as never, { ...query, ...none, ownerId, state });
    // Each order has an index, for the first page and for those after a cursor.
    for (const sort of ['oldest', 'name', 'expiry'] as const)
      for (const after of [undefined, randomUUID()])
        for (const ownerId of [member.id, undefined])
          await searchTokens(explain as never, { ...query, ...none, ownerId, state: 'active', sort, after });
    const indexes = [
      ['tokens_of_owner', 'tokens_of_service_account'],
      ['ended_tokens_of_owner', 'ended_tokens_of_service_account'],
      ['tokens_of_org'],
      ['ended_tokens_of_org'],
    ];
    const findIndexes = (plan: string) =>
      [...plan.matchAll(/Scan Backward using (\w+)/g)].map(([, index]) => index);
    expect(plans.slice(0, 4).map(findIndexes)).toEqual(indexes);
    const findOrdered = (plan: string) =>
      [...plan.matchAll(/Scan using (tokens_of_(?:org|owner)\w*)/g)].map(([, index]) => index);
    expect(plans.slice(4).map(findOrdered)).toEqual(
      ['', '_by_name', '_by_expiry'].flatMap((order) => {
        const ordered = [[`tokens_of_owner${order}`], [`tokens_of_org${order}`]];
        return [...ordered, ...ordered];
      }),
    );
    for (const plan of plans) expect(plan).not.toMatch(/Seq Scan on personal_access_tokens/);
    const bounded = await searchTokens(client as never, {
      ...query,
      ...none,
      ownerId: member.id,
      state: 'active',
    });
    expect(bounded).toEqual({
      rows: [],
      nextCursor: expect.any(String),
      total: 0,
      totalIsMinimum: true,
    });
    const uncounted = { ...query, ...none, text: 'filler', ownerId: member.id, state: 'active' as const };
    const page = await searchTokens(client as never, { ...uncounted, isCounted: false });
    expect([page.rows.length, page.total]).toEqual([20, 21]);
  } finally {
    await client.query('rollback');
    client.release();
  }
});

test("an administrator's search by an owner of another organisation finds nothing, not even a cursor", async () => {
  const other = await identity.createOrganisation('foreign@example.com');
  const { id } = await identity.createToken(other.session);
  const { rows } = await identity.db.query<{ owner_id: string }>(
    `insert into personal_access_tokens (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, created_at)
     select overlay(gen_random_uuid()::text placing '01900000-0000-7' from 1 for 15)::uuid, org_id, owner_id, 'foreign',
       scopes, 'x', signing_key_id, now()
     from personal_access_tokens, generate_series(1, 2000) where id = $1 returning owner_id`,
    [id],
  );
  const answer = await searchAll(`owner=${rows[0]?.owner_id}`);
  expect([answer.status, answer.body]).toMatchObject([200, { data: [], nextCursor: null }]);
});

test('rejects invalid filters', async () => {
  for (const query of ['state=all', 'q=', 'scope=', 'limit=0', 'limit=101', 'cursor=x', 'unusedSince=yesterday', 'foo=1', 'owner=x'])
    expect([query, (await search(query)).status]).toEqual([query, 400]);
  for (const query of ['page=2&q=a', 'page=0', 'owner=x', 'q=a&page=2'])
    expect([query, (await searchAll(query)).status]).toEqual([query, 400]);
}); // prettier-ignore

test('an agent lists its tokens by state and rotates its own', async () => {
  const agent = await make({ name: 'agent', scopes: ['pat:read', 'pat:write'] });
  const call = async (token: string, name: string, args: object) =>
    (await createCaller(identity, token).legacy('tools/call', { name, arguments: args })).body.result;
  const rotated = await call(agent.accessToken, 'rotate_my_token', { graceSeconds: 60 });
  expect(rotated.structuredContent).toMatchObject({
    token: { name: 'agent', accessToken: expect.stringMatching(/^pat_/) },
    replaced: { id: agent.id },
  });
  const { id, accessToken } = rotated.structuredContent.token as CreatedToken;
  const listed = await call(accessToken, 'list_my_tokens', { limit: 2 });
  expect(listed.structuredContent.tokens).toMatchObject([
    { id, state: 'active', parentId: null, replacedBy: null },
    { id: agent.id, state: 'active', replacedBy: id },
  ]);
  expect((await call(accessToken, 'rotate_my_token', { tokenId: agent.id })).isError).toBe(true);
  expect(
    (await call(accessToken, 'rotate_my_token', { graceSeconds: 0 })).structuredContent.replaced.id,
  ).toBe(id);
  const last = await call(agent.accessToken, 'list_my_tokens', {
    state: 'revoked',
    limit: 1,
  });
  expect(last.structuredContent.tokens[0]).toMatchObject({
    id,
    state: 'revoked',
    revokedReason: 'rotated',
  });
});

test('the active tokens are listed by name and by expiry, page after page, and ended ones by age only', async () => {
  const { session: token } = await identity.createOrganisation('sorted@example.com');
  for (const [name, expiryDays] of [['delta', 90], ['Alpha', 'never'], ['charlie', 30], ['bravo', 365]] as const)
    await identity.call('POST', path, { token, body: { name, scopes: ['user:read'], expiryDays } });
  const list = async (from: string, query: string) => {
    const names: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await identity.call('GET', `${from}?limit=2&${query}${cursor && `&cursor=${cursor}`}`, { token });
      names.push(...(body.tokens ?? body.data).map(({ name }: { name: string }) => name));
      cursor = body.nextCursor as string | null;
    }
    return names;
  };
  for (const from of [path, `${path}/admin`]) {
    expect(await list(from, 'sort=name')).toEqual(['Alpha', 'bravo', 'charlie', 'delta']);
    expect(await list(from, 'sort=expiry')).toEqual(['charlie', 'delta', 'bravo', 'Alpha']);
    expect(await list(from, 'sort=oldest')).toEqual(['delta', 'Alpha', 'charlie', 'bravo']);
    expect(await list(from, 'sort=name&q=a')).toEqual(['Alpha', 'bravo', 'charlie', 'delta']);
    expect((await identity.call('GET', `${from}?sort=name&state=revoked`, { token })).status).toBe(400);
  }
}); // prettier-ignore
