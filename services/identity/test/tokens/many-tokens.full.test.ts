import { type CreatedToken, type Member, startIdentity } from '../identity.js';

const path = '/api/v1/personal-access-tokens';
const scopes = ['pat:write', 'user:read', 'kb:read'];
let member: Member;

const identity = await startIdentity({
  environment: { DATABASE_TIMEOUT_MS: '1000' },
});
const session = await identity.login();
beforeEach(async () => {
  member = await identity.createMember(session);
});
afterAll(() => identity.close());

let inserted = 0;

/** Inserts active tokens of the owner of a token, below it unless another parent is named. */
async function insertTokens(
  { id }: CreatedToken,
  count: number,
  parentId: string | null = id,
): Promise<void> {
  await identity.db.query(
    `insert into personal_access_tokens (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, created_at, parent_id)
     select ('01900000-0000-7000-8000-' || lpad(to_hex($3::int + n), 12, '0'))::uuid, org_id, owner_id, 'many', scopes, 'x',
       signing_key_id, now(), $4
     from personal_access_tokens, generate_series(1, $2::int) n where id = $1`,
    [id, count, inserted, parentId],
  );
  inserted += count;
}

const countByParent = async (ids: readonly (string | null)[]) =>
  Promise.all(
    ids.map(async (id) => {
      const { rows } = await identity.db.query<{ count: number }>(
        `select count(*)::int as count from personal_access_tokens where parent_id = $1 and status = 'active'`,
        [id],
      );
      return rows[0]?.count;
    }),
  );
const readStates = async (...tokens: CreatedToken[]) =>
  Promise.all(
    tokens.map(
      async ({ id }) =>
        (await identity.db.query('select status::text from personal_access_tokens where id = $1', [id]))
          .rows[0].status as string,
    ),
  );
const setExpiry = ({ id }: CreatedToken) =>
  identity.db.query(
    `update personal_access_tokens set expires_at = now() - interval '1 second' where id = $1`,
    [id],
  );

test('PAT-37 a due token with 10,000 children is swept, and with it the tokens of others', async () => {
  const owner = await identity.createMember(session);
  const root = await identity.createToken(owner.session, { scopes });
  const due = await identity.createToken(root.accessToken, { scopes });
  await insertTokens(due, 10_000);
  const others = await identity.createToken(member.session);
  for (const token of [due, others]) await setExpiry(token);
  const startedAt = performance.now();
  await identity.sweep();
  process.stdout.write(`10,000 children were moved in ${Math.round(performance.now() - startedAt)} ms\n`);
  expect(await readStates(due, others)).toEqual(['expired', 'expired']);
  expect(await countByParent([due.id, root.id])).toEqual([0, 10_000]);
  await identity.db.query(`delete from personal_access_tokens where name = 'many'`);
});

test('a step of the sweep that fails does not block the others', async () => {
  const due = await identity.createToken(member.session);
  await setExpiry(due);
  await identity.db.query(`update sessions set expires_at = now() - interval '1 minute' where user_id = $1`, [
    member.id,
  ]);
  const hasSession = async () =>
    (await identity.db.query('select from sessions where user_id = $1', [member.id])).rowCount !== 0;
  const blocker = await identity.db.connect();
  try {
    await blocker.query('begin');
    await blocker.query('lock table personal_access_tokens in share mode');
    await identity.sweep().catch(() => undefined);
    expect(await hasSession()).toBe(false);
  } finally {
    await blocker.query('rollback');
    blocker.release();
  }
  await identity.sweep();
  expect(await readStates(due)).toEqual(['expired']);
});

test('PAT-37 an owner has at most 10,000 active tokens, and can rotate each of them all the same', async () => {
  const token = await identity.createToken(member.session, { scopes });
  const create = (by: string) =>
    identity.call('POST', path, {
      token: by,
      body: { name: 'one more', scopes },
    });
  let newest = token.id;
  const rotate = async (graceSeconds: number) => {
    const options = { token: member.session, body: { graceSeconds } };
    const rotated = await identity.call('POST', `${path}/${newest}/rotate`, options);
    newest = (rotated.body.token?.id as string | undefined) ?? newest;
    return rotated;
  };
  await insertTokens(token, 9_998, null);
  expect((await create(member.session)).status).toBe(201);
  for (const refused of [await create(member.session), await create(token.accessToken)])
    expect([refused.status, refused.body.error.code]).toEqual([409, 'TOO_MANY_TOKENS']);
  const others = await identity.createMember(session);
  expect((await create(others.session)).status).toBe(201);
  for (let times = 0; times < 10; times += 1) expect((await rotate(600)).status).toBe(201);
  const looped = await rotate(600);
  expect([looped.status, looped.body.error.code]).toEqual([409, 'TOO_MANY_PREDECESSORS']);
  expect((await rotate(0)).status).toBe(201);
  await identity.db.query(
    `update personal_access_tokens set status = 'revoked', revoked_at = now()
     where id = (select id from personal_access_tokens where name = 'many' and status = 'active' limit 1)`,
  );
  expect((await create(member.session)).status).toBe(201);
});

test('PAT-37 a token has at most 1,000 active tokens below it', async () => {
  const token = await identity.createToken(member.session, { scopes });
  const create = (by: string) =>
    identity.call('POST', path, {
      token: by,
      body: { name: 'one more', scopes },
    });
  await insertTokens(token, 999);
  const answers = [await create(token.accessToken), await create(token.accessToken)];
  expect(answers.map(({ status }) => status)).toEqual([201, 409]);
  expect(answers[1]?.body.error.code).toBe('TOO_MANY_TOKENS');
  expect((await create(member.session)).status).toBe(201);
});

test('PAT-24 a thief who has created as many tokens as there can be prevents neither narrowing, rotating nor revoking', async () => {
  for (const [what, body] of [
    ['narrowed', { scopes: ['user:read'], graceSeconds: 0 }],
    ['rotated', { graceSeconds: 0 }],
  ] as const) {
    const owner = await identity.createMember(session);
    const token = await identity.createToken(owner.session, { scopes });
    // The statistics are of a time at which there were few.
    await identity.db.query('vacuum analyze');
    await insertTokens(token, 9_999);
    const startedAt = performance.now();
    const rotate = () => identity.call('POST', `${path}/${token.id}/rotate`, { token: owner.session, body });
    let answer = await rotate();
    // A machine that stalls for a second is 503, "try again"; a statement that has too little time is so each time.
    for (let tries = 1; answer.status === 503 && tries < 3; tries += 1) answer = await rotate();
    process.stdout.write(
      `a token with 9,999 was ${what} in ${Math.round(performance.now() - startedAt)} ms\n`,
    );
    const count = what === 'narrowed' ? 9_999 : 0;
    expect([answer.status, answer.body.revokedCount]).toEqual([201, count]);
    const revoked = await identity.call('DELETE', `${path}/${answer.body.token.id}`, {
      token: owner.session,
    });
    expect(revoked.body.revokedCount).toBe(10_000 - count);
  }
});

test('PAT-28 a token that ended before the retention is deleted, with its last use and where it came from', async () => {
  const parent = await identity.createToken(member.session, { scopes });
  const child = await identity.createToken(parent.accessToken, { scopes });
  const kept = await identity.createToken(member.session, {
    scopes,
    expiryDays: 'never',
  });
  const recent = await identity.createToken(member.session, { scopes });
  const ids = [parent, child, kept, recent].map(({ id }) => id);
  await identity.db.query(
    `insert into token_last_used (token_id, last_used_at, address) select id, now(), '192.0.2.1' from unnest($1::uuid[]) id
     on conflict do nothing`,
    [ids],
  );
  // The parent's row goes although that of its child names it.
  const revoke = ({ id }: CreatedToken) =>
    identity.call('DELETE', `${path}/${id}`, {
      token: member.session,
      body: { keepDescendants: true },
    });
  for (const token of [parent, child, recent]) await revoke(token);
  await identity.db.query(
    `update personal_access_tokens set revoked_at = now() - interval '731 days', parent_id = $2 where id = any($1)`,
    [[parent.id, child.id], parent.id],
  );
  await identity.db.query(
    `update personal_access_tokens set revoked_at = now() - interval '729 days' where id = $1`,
    [recent.id],
  );
  await identity.sweep();
  for (const table of ['personal_access_tokens where id', 'token_last_used where token_id']) {
    const { rows } = await identity.db.query(`select count(*)::int as count from ${table} = any($1)`, [ids]);
    expect([table, rows]).toEqual([table, [{ count: 2 }]]);
  }
});
