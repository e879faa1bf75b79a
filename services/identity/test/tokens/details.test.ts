import { type CreatedToken, type IdentityUnderTest, startIdentity } from '../identity.js';
import { waitForLockWaiters } from '../lock-waiters.js';
import { startProbeService } from '../credentials/verification/probe-service.js';

const path = '/api/v1/personal-access-tokens';
const scopes = ['pat:write', 'pat:read', 'user:read'];
let identity: IdentityUnderTest;
let session: string;
/** How far the service's clock is ahead. */
let aheadMs = 0;

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
  aheadMs = 31 * 86_400_000;
  identity.advance(aheadMs);
  session = await identity.login();
  expect((await get(expiring.id)).body.token).toMatchObject({ state: 'expired' });
});

test('an edit changes name, description and scopes, and the audit has the old and new values', async () => {
  const token = await make({ name: 'old' });
  const answer = await edit(token.id, {
    name: 'new',
    description: 'text',
    scopes: ['user:read', 'pat:read'],
  });
  expect([answer.status, answer.body.token]).toEqual([
    200,
    expect.objectContaining({ name: 'new', description: 'text', scopes: ['pat:read', 'user:read'] }),
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
        scopes: { from: scopes.join(' '), to: 'pat:read user:read' },
      },
    },
    { changes: { description: { from: 'text', to: null } } },
  ]);
});

test('a scope that was removed is refused at once, in every service, and is not passed on', async () => {
  const probe = await startProbeService(identity.url, () => Date.now() + aheadMs);
  try {
    const { id, accessToken } = await make();
    const readSelf = () => identity.call('GET', '/api/v1/users/me', { token: accessToken });
    const create = (wanted: string[]) =>
      identity.call('POST', path, { token: accessToken, body: { name: 'child', scopes: wanted } });
    expect([(await readSelf()).status, (await probe.whoami(accessToken)).status]).toEqual([200, 200]);
    await edit(id, { scopes: ['pat:write', 'pat:read'] });
    expect([(await readSelf()).status, (await probe.whoami(accessToken)).status]).toEqual([403, 403]);
    expect([(await create(['user:read'])).status, (await create(['pat:read'])).status]).toEqual([400, 201]);
    const rotated = await identity.call('POST', `${path}/${id}/rotate`, { token: session });
    expect(rotated.body.token.scopes).toEqual(['pat:write', 'pat:read']);
    expect((await probe.whoami(rotated.body.token.accessToken as string)).status).toBe(403);
  } finally {
    await probe.close();
  }
});

test('removing scopes of a token removes them from its descendants, and revokes those with no other', async () => {
  const old = await make();
  const child = await make({ scopes: ['pat:write', 'user:read'] }, old.accessToken);
  const grandchild = await make({ scopes: ['user:read'] }, child.accessToken);
  const reader = await make({ scopes: ['user:read'] }, old.accessToken);
  const lister = await make({ scopes: ['pat:read'] }, old.accessToken);
  const stranger = await make({ scopes: ['user:read'] });
  const rotation = { token: session, body: { graceSeconds: 3_600 } };
  const { body } = await identity.call('POST', `${path}/${old.id}/rotate`, rotation);
  const token = body.token as CreatedToken;

  const edited = await edit(token.id, { scopes: ['pat:write', 'pat:read'] });
  expect([edited.status, edited.body.revokedCount]).toEqual([200, 2]);
  const readSelf = async ({ accessToken }: CreatedToken) =>
    (await identity.call('GET', '/api/v1/users/me', { token: accessToken })).status;
  const family = [token, old, child, grandchild, reader, stranger];
  expect(await Promise.all(family.map(readSelf))).toEqual([403, 403, 403, 401, 401, 200]);
  expect((await identity.call('GET', path, { token: lister.accessToken })).status).toBe(200);
  expect((await get(old.id)).body.token.scopes).toEqual(['pat:write', 'pat:read']);
  expect((await get(child.id)).body.token.scopes).toEqual(['pat:write']);
  expect((await get(grandchild.id)).body.token).toMatchObject({
    state: 'revoked',
    revokedReason: 'narrowed',
    scopes: ['user:read'],
  });
  const { rows } = await identity.db.query(
    `select action, reason, detail, changes from audit_entries
     where subject_id = any($1) and action in ('token.changed', 'token.revoked') order by action`,
    [[child.id, grandchild.id, lister.id]],
  );
  expect(rows).toEqual([
    {
      action: 'token.changed',
      reason: null,
      detail: { narrowedWith: token.id },
      changes: { scopes: { from: 'pat:write user:read', to: 'pat:write' } },
    },
    { action: 'token.revoked', reason: 'narrowed', detail: { revokedWith: token.id }, changes: {} },
  ]);
});

test('a token that is created while scopes of an ancestor are removed loses them as well', async () => {
  const parent = await make();
  const child = await make({}, parent.accessToken);
  const creator = await identity.db.connect();
  try {
    await creator.query('begin');
    // The locks of a creation that is under way.
    await creator.query(
      `select from users where id = (select owner_id from personal_access_tokens where id = $1) for no key update`,
      [child.id],
    );
    const created = await creator.query<{ id: string }>(
      `insert into personal_access_tokens
         (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, created_at, expires_at, parent_id)
       select gen_random_uuid(), org_id, owner_id, 'late', scopes, gen_random_uuid()::text, signing_key_id, created_at,
         expires_at, id
       from personal_access_tokens where id = $1 for share returning id`,
      [child.id],
    );
    const editing = edit(parent.id, { scopes: ['pat:write', 'pat:read'] });
    await waitForLockWaiters(identity.db, 1);
    await creator.query('commit');
    expect((await editing).status).toBe(200);
    const scopesOf = async (id = '') => (await get(id)).body.token.scopes as string[];
    expect(await scopesOf(child.id)).toEqual(['pat:write', 'pat:read']);
    expect(await scopesOf(created.rows[0]?.id)).toEqual(['pat:write', 'pat:read']);
  } finally {
    creator.release();
  }
});

test('an edit never adds a scope, and rejects invalid bodies and ended tokens', async () => {
  const token = await make({ scopes: ['user:read', 'pat:read'] });
  const wider = await edit(token.id, { scopes: ['user:read', 'pat:write'] });
  expect([wider.status, wider.body.error.details]).toEqual([
    400,
    [{ field: 'scopes.1', message: expect.stringContaining('"pat:write"') }],
  ]);
  const invalid = [
    {},
    { scopes: [] },
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
