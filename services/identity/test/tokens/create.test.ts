import { DAY_MS } from '@platform/service-kit';
import { type CreatedToken, startIdentity } from '../identity.js';

const path = '/api/v1/personal-access-tokens';
const mcpScopes = ['kb:read', 'crawl:read'];

const identity = await startIdentity({ environment: { MCP_SCOPES: mcpScopes.join(', ') } });
const session = await identity.login();
const member = await identity.createMember(session);
afterAll(() => identity.close());

const create = (token: string, body: object) => identity.call('POST', path, { token, body });
const storedToken = async (id: string) =>
  (await identity.db.query('select * from personal_access_tokens where id = $1', [id])).rows[0] as Record<
    string,
    unknown
  >;
const getDays = ({ createdAt, expiresAt }: CreatedToken) =>
  expiresAt === null ? null : (Date.parse(expiresAt) - Date.parse(createdAt)) / DAY_MS;

test('the response has the specified shape, and the row contains only a hash of the token', async () => {
  const { status, headers, body } = await create(session, { name: 'ci' });
  expect(status).toBe(201);
  expect(headers.get('cache-control')).toBe('no-store');
  const { token } = body;
  expect(body).toEqual({
    message: expect.any(String),
    token: {
      id: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-/),
      name: 'ci',
      scopes: mcpScopes,
      createdAt: expect.stringMatching(/Z$/),
      expiresAt: expect.stringMatching(/Z$/),
      lastUsedAt: null,
      parentId: null,
      accessToken: expect.stringMatching(/^pat_[\w-]+\.[\w-]+\.[\w-]{86}_[\dA-Za-z]{6}$/),
    },
  });
  expect(getDays(token)).toBeCloseTo(30, 3);
  const row = await storedToken(token.id);
  expect(row).toMatchObject({
    name: 'ci',
    org_id: identity.orgId,
    scopes: mcpScopes,
    status: 'active',
    token_hash: expect.stringMatching(/^[\w-]{43}$/),
  });
  expect((row.expires_at as Date).toISOString()).toBe(token.expiresAt);
  const claims = JSON.parse(Buffer.from(token.accessToken.split('.')[1], 'base64url').toString());
  expect(claims).toMatchObject({
    jti: token.id,
    org: identity.orgId,
    kind: 'pat',
    exp: Date.parse(token.expiresAt) / 1_000,
  });
});

test.each([
  [30, 30],
  [90, 90],
  [365, 365],
  ['never', null],
])('stores expiryDays %s', async (expiryDays, days) => {
  const token = await identity.createToken(member.session, { expiryDays });
  const keptDays = getDays(token);
  expect(keptDays === null ? null : Math.round(keptDays)).toBe(days);
  expect((await storedToken(token.id)).expires_at).toEqual(
    token.expiresAt === null ? null : new Date(token.expiresAt),
  );
});

test.each([1, 100])('stores a name of %d characters unchanged', async (length) => {
  for (const character of ['x', '💡', 'é', '字'])
    expect((await identity.createToken(session, { name: character.repeat(length) })).name).toBe(
      character.repeat(length),
    );
});

test.each([
  {},
  { name: '' },
  { name: ' \t\n' },
  { name: 'x'.repeat(101) },
  { name: '💡'.repeat(101) },
  { name: 1 },
  { name: null },
  { name: ['a'] },
  { name: 'a\u0000b' },
  { name: 'a\ud800' },
  { name: '\udc00a' },
  { name: 'a', expiryDays: 31 },
  { name: 'a', expiryDays: '30' },
  { name: 'a', expiryDays: 'Never' },
  { name: 'a', expiryDays: null },
  { name: 'a', expiryDays: 30.5 },
  { name: 'a', expiryDays: -30 },
  { name: 'a', scopes: [] },
  { name: 'a', scopes: 'kb:read' },
  { name: 'a', scopes: [1] },
  { name: 'a', scopes: ['no:such'] },
  { name: 'a', scopes: ['kb:read '] },
  { name: 'a', scopes: ['KB:READ'] },
  { name: 'a', scopes: ['kb:read semantic:write'] },
  { name: 'a', scopes: ['constructor'] },
  { name: 'a', scopes: ['token:introspect'] },
  { name: 'a', scopes: Array.from({ length: 51 }, () => 'kb:read') },
  { name: 'a', userId: 'x' },
])('rejects %j with 400 and stores nothing', async (body) => {
  const count = async () =>
    (await identity.db.query('select count(*)::int from personal_access_tokens')).rows[0] as unknown;
  const before = await count();
  const { status, body: answer } = await create(session, body);
  expect([status, answer.error.code, answer.error.details.length > 0]).toEqual([
    400,
    'VALIDATION_ERROR',
    true,
  ]);
  expect(await count()).toEqual(before);
});

test('grants a member the default scopes, and rejects scopes of administrators with 400', async () => {
  expect((await identity.createToken(member.session)).scopes).toEqual(mcpScopes);
  for (const scope of ['user:write', 'config:read', 'config:write', 'SEND_MAIL', 'FETCH_CONFIG']) {
    const refused = await create(member.session, { name: 'a', scopes: ['kb:read', scope] });
    expect([refused.status, refused.body.error.details]).toEqual([
      400,
      [{ field: 'scopes.1', message: `${scope} can be granted by an administrator only` }],
    ]);
    expect((await identity.createToken(session, { scopes: [scope] })).scopes).toEqual([scope]);
  }
});

test('grants duplicate scopes once', async () => {
  const token = await identity.createToken(session, { scopes: ['kb:read', 'user:read', 'kb:read'] });
  expect(token.scopes).toEqual(['kb:read', 'user:read']);
  expect((await storedToken(token.id)).scopes).toEqual(token.scopes);
});

test('a token grants no scope that it lacks and no later expiry than its own', async () => {
  const parent = await identity.createToken(session, { scopes: ['pat:write', 'kb:read'], expiryDays: 90 });
  const by = (body: object) => create(parent.accessToken, { name: 'child', ...body });
  expect((await by({})).body.token.scopes).toEqual(['kb:read']);
  expect((await by({ scopes: ['kb:read', 'crawl:read'] })).body.error.details).toEqual([
    { field: 'scopes.1', message: expect.stringContaining('lacks it') },
  ]);
  expect((await by({ expiryDays: 365 })).status).toBe(400);
  expect((await by({ expiryDays: 'never' })).status).toBe(400);
  expect((await by({ expiryDays: 90 })).body.token.expiresAt).toBe(parent.expiresAt);
  const without = await identity.createToken(session, { scopes: ['kb:read'] });
  expect((await create(without.accessToken, { name: 'child' })).status).toBe(403);
  const bare = await identity.createToken(session, { scopes: ['pat:write'] });
  expect((await create(bare.accessToken, { name: 'child' })).status).toBe(400);
});

test('two concurrent requests create two valid tokens', async () => {
  const body = { name: 'twin', scopes: ['user:read'] };
  const answers = await Promise.all(Array.from({ length: 20 }, () => create(session, body)));
  expect(new Set(answers.map((answer) => answer.body.token.id as string)).size).toBe(20);
  expect(new Set(answers.map((answer) => answer.body.token.accessToken as string)).size).toBe(20);
  const used = await Promise.all(
    answers.map((answer) =>
      identity.call('GET', '/api/v1/users/me', { token: answer.body.token.accessToken }),
    ),
  );
  expect(used.every(({ status }) => status === 200)).toBe(true);
});

test('the database and the log contain no credentials, only hashes', async () => {
  const pat = await identity.createToken(member.session, { scopes: ['user:read'] });
  await identity.call('GET', '/api/v1/users/me', { token: pat.accessToken });
  await identity.call('GET', `/api/v1/users/${pat.accessToken}?token=${pat.accessToken}`, {
    token: pat.accessToken,
  });
  await identity.call('DELETE', `${path}/${pat.accessToken}`, { token: session, body: { reason: 'a' } });
  const { rows: tables } = await identity.db.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'public'`,
  );
  expect(tables.length).toBeGreaterThan(8);
  let dump = '';
  for (const { name } of tables) {
    const { rows } = await identity.db.query<{ line: string }>(`select t::text as line from ${name} t`);
    dump += rows.map(({ line }) => line).join('\n');
  }
  expect(dump).toContain(pat.id);
  const secrets = [pat.accessToken, member.session, session].flatMap((token) =>
    token
      .replace('pat_', '')
      .replace(/_[0-9A-Za-z]{6}$/, '')
      .split('.')
      .slice(1),
  );
  for (const where of [dump, identity.logged()])
    expect(secrets.filter((secret) => where.includes(secret))).toEqual([]);
});

test('limits the default expiry to that of the creating token, and rejects an expired one', async () => {
  const parent = await identity.createToken(session, { scopes: ['pat:write', 'kb:read'], expiryDays: 30 });
  identity.advance(10 * DAY_MS);
  const child = await create(parent.accessToken, { name: 'child' });
  expect([child.status, child.body.token.expiresAt]).toEqual([201, parent.expiresAt]);
  expect((await create(parent.accessToken, { name: 'child', expiryDays: 30 })).status).toBe(400);
  identity.advance(20 * DAY_MS);
  expect((await create(parent.accessToken, { name: 'child' })).status).toBe(401);
});
