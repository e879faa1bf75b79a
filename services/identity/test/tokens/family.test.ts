import { type CreatedToken, startIdentity } from '../identity.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';

const path = '/api/v1/personal-access-tokens';
const scopes = ['pat:write', 'pat:read', 'user:read'];

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

const make = (token: string, fields: object = {}) => identity.createToken(token, { scopes, ...fields });
const revoke = (id: string, body: object = {}, token = session) =>
  identity.call('DELETE', `${path}/${id}`, { token, body });
const isAlive = async ({ accessToken }: CreatedToken): Promise<boolean> =>
  (await identity.call('GET', '/api/v1/users/me', { token: accessToken })).status === 200;
const alive = (tokens: readonly CreatedToken[]) => Promise.all(tokens.map(isAlive));
const listed = async (token = session): Promise<Map<string, string | null>> => {
  const { body } = await identity.call('GET', path, { token });
  return new Map(
    (body.tokens as { id: string; parentId: string | null }[]).map(({ id, parentId }) => [id, parentId]),
  );
};

/** Creates a token, two children of it, and one grandchild. */
async function createFamily() {
  const root = await make(session);
  const child = await make(root.accessToken);
  const sibling = await make(root.accessToken);
  const grandchild = await make(child.accessToken);
  return { root, child, sibling, grandchild };
}

test('both lists show the parent of a token, and null for one created with a session', async () => {
  const { root, child, grandchild } = await createFamily();
  const own = await listed();
  expect([root, child, grandchild].map(({ id }) => own.get(id))).toEqual([null, root.id, child.id]);
  const { body } = await identity.call('GET', `${path}/admin?limit=100`, { token: session });
  const everybodys = new Map(
    (body.data as { id: string; parentId: string | null }[]).map(({ id, parentId }) => [id, parentId]),
  );
  expect([root, child, grandchild].map(({ id }) => everybodys.get(id))).toEqual([null, root.id, child.id]);
});

test('a revocation includes all descendants of the token, but no ancestors or siblings', async () => {
  const { root, child, sibling, grandchild } = await createFamily();
  const answer = await revoke(child.id, { reason: 'leaked' });
  expect([answer.status, answer.body]).toEqual([
    200,
    { message: 'Token revoked, with the tokens that it made', revokedCount: 2 },
  ]);
  expect(await alive([root, child, sibling, grandchild])).toEqual([true, false, true, false]);
  const { rows } = await identity.db.query(
    `select subject_id, reason, detail from audit_entries where action = 'token.revoked' and subject_id = any($1) order by subject_id`,
    [[child.id, grandchild.id]],
  );
  expect(rows).toEqual([
    { subject_id: child.id, reason: 'leaked', detail: {} },
    { subject_id: grandchild.id, reason: 'leaked', detail: { revokedWith: child.id } },
  ]);
  expect((await revoke(grandchild.id)).status).toBe(404);
});

test('keepDescendants revokes only one token and moves its children to its parent', async () => {
  const { root, child, sibling, grandchild } = await createFamily();
  const answer = await revoke(child.id, { keepDescendants: true });
  expect(answer.body).toEqual({ message: 'Token revoked', revokedCount: 1 });
  expect(await alive([root, child, sibling, grandchild])).toEqual([true, false, true, true]);
  expect((await listed()).get(grandchild.id)).toBe(root.id);
  expect((await revoke(root.id, { keepDescendants: false })).body.revokedCount).toBe(3);
  expect(await alive([root, sibling, grandchild])).toEqual([false, false, false]);
  const alone = await make(session);
  const kept = await make(alone.accessToken);
  await revoke(alone.id, { keepDescendants: true });
  expect((await listed()).get(kept.id)).toBeNull();
});

test('a token cannot use keepDescendants, neither to outlive its parent nor to leave descendants behind', async () => {
  const { root, child, sibling, grandchild } = await createFamily();
  for (const { id } of [root, child, sibling, grandchild]) {
    const refused = await revoke(id, { keepDescendants: true }, child.accessToken);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'SESSION_REQUIRED']);
  }
  expect(await alive([root, child, sibling, grandchild])).toEqual([true, true, true, true]);
  // Every token may send the default explicitly.
  const answer = await revoke(root.id, { keepDescendants: false }, root.accessToken);
  expect([answer.status, answer.body.revokedCount]).toEqual([200, 4]);
  expect(await alive([root, child, sibling, grandchild])).toEqual([false, false, false, false]);
});

test('the revoking tool revokes all descendants, and has no argument to keep any', async () => {
  const { root, child, grandchild } = await createFamily();
  const call = async (args: object) =>
    (
      await createCaller(identity, root.accessToken).legacy('tools/call', {
        name: 'revoke_my_token',
        arguments: args,
      })
    ).body.result;
  expect((await call({ tokenId: root.id, keepDescendants: true })).isError).toBe(true);
  expect(await alive([root, child, grandchild])).toEqual([true, true, true]);
  expect((await call({ tokenId: root.id })).structuredContent).toMatchObject({ revokedCount: 4 });
  expect(await alive([root, child, grandchild])).toEqual([false, false, false]);
});

test('an administrator revokes the descendants of any token, and a token can revoke itself with its descendants', async () => {
  const member = await identity.createMember(session);
  const root = await make(member.session);
  const child = await make(root.accessToken);
  const other = await make(member.session);
  const otherChild = await make(other.accessToken);
  const answer = await identity.call('DELETE', `${path}/admin/${root.id}`, { token: session });
  expect(answer.body.revokedCount).toBe(2);
  expect((await revoke(other.id, {}, other.accessToken)).body.revokedCount).toBe(2);
  expect(await alive([root, child, other, otherChild])).toEqual([false, false, false, false]);
});

test('rejects an invalid body', async () => {
  const { id } = await make(session);
  for (const body of [{ keepDescendants: 'yes' }, { keepDescendants: null }, { keepdescendants: true }])
    expect((await revoke(id, body)).status).toBe(400);
  expect((await revoke(id, { keepDescendants: true, reason: 'x' })).status).toBe(200);
});

test('no token created during the revocation of its parent stays valid', async () => {
  for (let round = 0; round < 10; round += 1) {
    const root = await make(session);
    const child = await make(root.accessToken);
    const makeMore = (token: CreatedToken) =>
      identity.call('POST', path, { token: token.accessToken, body: { name: 'late', scopes } });
    const [revoked, ...made] = await Promise.all([
      revoke(root.id),
      ...Array.from({ length: 12 }, (_, index) => makeMore(index % 2 ? root : child)),
    ]);
    expect(revoked.status).toBe(200);
    for (const { status } of made) expect([201, 401]).toContain(status);
    const created = made.filter(({ status }) => status === 201).map(({ body }) => body.token as CreatedToken);
    expect(await alive(created)).toEqual(created.map(() => false));
    const { rows } = await identity.db.query(
      `with recursive family as (
         select id, status from personal_access_tokens where id = $1
         union all select t.id, t.status from personal_access_tokens t join family f on t.parent_id = f.id
       ) select id from family where status = 'active'`,
      [root.id],
    );
    expect(rows).toEqual([]);
  }
});

test('a revocation waits for a concurrent creation and includes the created token', async () => {
  const root = await make(session);
  const client = await identity.db.connect();
  try {
    // Hold the lock that the statement of a creation takes.
    await client.query('begin');
    await client.query(
      'select from users where id = (select owner_id from personal_access_tokens where id = $1) for share',
      [root.id],
    );
    const child = '01900000-0000-7000-8000-00000000c41d';
    await client.query(
      `insert into personal_access_tokens (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, created_at, parent_id)
       select $2, org_id, owner_id, 'late', scopes, 'x', signing_key_id, now(), id from personal_access_tokens where id = $1`,
      [root.id, child],
    );
    const revoking = revoke(root.id);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await client.query('commit');
    expect((await revoking).body.revokedCount).toBe(2);
    const { rows } = await identity.db.query('select status from personal_access_tokens where id = $1', [
      child,
    ]);
    expect(rows).toEqual([{ status: 'revoked' }]);
  } finally {
    client.release();
  }
});

test('a session that ends during a creation creates no token', async () => {
  const member = await identity.createMember(session);
  for (let round = 0; round < 5; round += 1) {
    const own = await identity.login({ email: member.email, password: member.password });
    const answers = await Promise.all([
      identity.call('POST', '/api/v1/auth/logout', { token: own }),
      ...Array.from({ length: 6 }, () => identity.call('POST', path, { token: own, body: { name: 'late' } })),
    ]);
    for (const { status } of answers.slice(1)) expect([201, 401]).toContain(status);
    const { rows } = await identity.db.query(
      `select t.id from personal_access_tokens t
         join audit_entries a on a.subject_id = t.id and a.action = 'token.created'
         join sessions s on s.id = a.credential_id
       where t.owner_id = $1 and s.ended_at is not null and t.created_at > s.ended_at + interval '1 second'`,
      [member.id],
    );
    expect(rows).toEqual([]);
  }
});

test('revokes a wide and deep family of ten thousand at once, without reading ended tokens', async () => {
  const member = await identity.createMember(session);
  const root = await make(member.session);
  const insert = `
    insert into personal_access_tokens (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, created_at, parent_id, status, revoked_at)
    select ($2 || lpad(to_hex(n), 12, '0'))::uuid, org_id, owner_id, 'many', scopes, 'x', signing_key_id, now(),
           case when $4 and n > 1 then ($2 || lpad(to_hex(n - 1), 12, '0'))::uuid else id end,
           $5::token_status, case when $5::token_status = 'revoked' then now() end
    from personal_access_tokens, generate_series(1, $3::int) n where id = $1`;
  const [wide, deep, ended] = [
    '01900000-0000-7000-8001-',
    '01900000-0000-7000-8002-',
    '01900000-0000-7000-8003-',
  ];
  await identity.db.query(insert, [root.id, wide, 9_000, false, 'active']);
  await identity.db.query(insert, [root.id, deep, 1_000, true, 'active']);
  await identity.db.query(insert, [root.id, ended, 20_000, false, 'revoked']);
  const startedAt = performance.now();
  const answer = await revoke(root.id, {}, member.session);
  const tookMs = performance.now() - startedAt;
  expect(answer.body.revokedCount).toBe(10_001);
  const { rows } = await identity.db.query(
    `select status, count(*)::int from personal_access_tokens where owner_id = $1 group by status`,
    [member.id],
  );
  expect(rows).toEqual([{ status: 'revoked', count: 30_001 }]);
  process.stdout.write(`a family of 10,001 was revoked in ${Math.round(tookMs)} ms\n`);
  const counters = await identity.call('GET', `${path}/admin`, { token: session });
  expect(counters.status).toBe(200);
});
