import { type CreatedToken, type IdentityUnderTest, startIdentity } from '../identity.js';

const path = '/api/v1/personal-access-tokens';
const scopes = ['pat:write', 'pat:read', 'user:read'];
let identity: IdentityUnderTest;
let session: string;

beforeAll(async () => {
  identity = await startIdentity();
  session = await identity.login();
});
afterAll(() => identity.close());

const make = (fields: object = {}, maker = session) => identity.createToken(maker, { scopes, ...fields });
const get = (id: string, token = session) => identity.call('GET', `${path}/${id}`, { token });
const edit = (id: string, body: object, token = session) =>
  identity.call('PATCH', `${path}/${id}`, { token, body });

test('shows an own token in every state, but not to others', async () => {
  const token = await make({ name: 'ci', description: 'for the pipeline' });
  const { accessToken: _accessToken, ...shown } = token;
  expect((await get(token.id)).body).toEqual({
    token: {
      ...shown,
      description: 'for the pipeline',
      allowList: [],
      lastUse: null,
      noticesMuted: false,
      state: 'active',
      replacedBy: null,
      revokedAt: null,
      revokedReason: null,
    },
  });
  const expiring = await make({ expiryDays: 30 });
  await identity.call('DELETE', `${path}/${token.id}`, { token: session, body: { reason: 'done' } });
  expect((await get(token.id)).body.token).toMatchObject({
    state: 'revoked',
    revokedAt: expect.stringMatching(/Z$/),
    revokedReason: 'done',
  });
  const member = await identity.createMember(session);
  const missing = await get('01900000-0000-7000-8000-000000000000');
  expect([missing.status, (await get(token.id, member.session)).text]).toEqual([404, missing.text]);
  expect((await get('x')).status).toBe(400);
  identity.advance(31 * 86_400_000);
  session = await identity.login();
  expect((await get(expiring.id)).body.token).toMatchObject({ state: 'expired' });
});

test('an edit changes name and description, and the audit has the old and new values', async () => {
  const token = await make({ name: 'old' });
  const answer = await edit(token.id, {
    name: 'new',
    description: 'text',
  });
  expect([answer.status, answer.body.token]).toEqual([
    200,
    expect.objectContaining({ name: 'new', description: 'text', scopes }),
  ]);
  expect((await edit(token.id, { description: null })).body.token.description).toBeNull();
  // A change of nothing is not recorded.
  expect((await edit(token.id, { name: 'new' })).status).toBe(200);
  const { rows } = await identity.db.query(
    `select changes from audit_entries where action = 'token.changed' and subject_id = $1 order by id`,
    [token.id],
  );
  expect(rows).toEqual([
    {
      changes: {
        name: { from: 'old', to: 'new' },
        description: { from: null, to: 'text' },
      },
    },
    { changes: { description: { from: 'text', to: null } } },
  ]);
});

test('an edit changes nothing that a token grants, and rejects invalid bodies and ended tokens', async () => {
  const token = await make({ scopes: ['user:read', 'pat:read'] });
  const invalid = [
    {},
    { scopes: ['user:read'] },
    { allowList: ['203.0.113.0/24'] },
    { name: '' },
    { name: null },
    { expiryDays: 365 },
    { description: 'a\u0000b' },
    { description: 'x'.repeat(501) },
  ];
  for (const body of invalid) expect([body, (await edit(token.id, body)).status]).toEqual([body, 400]);
  const member = await identity.createMember(session);
  expect((await edit(token.id, { name: 'mine' }, member.session)).status).toBe(404);
  await identity.call('DELETE', `${path}/${token.id}`, { token: session });
  expect((await edit(token.id, { name: 'late' })).status).toBe(404);
});

test('a token sees and ends itself with any scope, and a session cannot', async () => {
  const token: CreatedToken = await make({ scopes: ['crawl:read'] });
  const self = (method: string, credential: string) =>
    identity.call(method, `${path}/self`, { token: credential });
  expect((await self('GET', token.accessToken)).body.token).toMatchObject({ id: token.id, state: 'active' });
  for (const method of ['GET', 'DELETE']) {
    const refused = await self(method, session);
    expect([refused.status, refused.body.error.code]).toEqual([403, 'TOKEN_REQUIRED']);
  }
  expect((await self('DELETE', token.accessToken)).body).toEqual({
    message: 'Token revoked',
    revokedCount: 1,
  });
  expect((await self('GET', token.accessToken)).status).toBe(401);
});
