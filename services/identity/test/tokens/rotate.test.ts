import { DAY_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { type CreatedToken, startIdentity } from '../identity.js';
import { startProbeService } from '../credentials/verification/probe-service.js';
import { waitForLockWaiters } from '../lock-waiters.js';
import { startReplica } from '../replica.js';

const path = '/api/v1/personal-access-tokens';
const SECOND = 1_000;
const scopes = ['pat:write', 'pat:read', 'user:read'];

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

const make = (token: string, fields: object = {}) => identity.createToken(token, { scopes, ...fields });
/** Ends the old token at once unless the body says otherwise. */
const rotate = (id: string, body: object = {}, token = session) =>
  identity.call('POST', `${path}/${id}/rotate`, {
    token,
    body: { graceSeconds: 0, ...body },
  });
const rotated = async (id: string, body?: object, token = session): Promise<CreatedToken> => {
  const answer = await rotate(id, body, token);
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.body.token as CreatedToken;
};
const getStatus = async ({ accessToken }: CreatedToken): Promise<number> =>
  (await identity.call('GET', '/api/v1/users/me', { token: accessToken })).status;
const statuses = (...tokens: CreatedToken[]) => Promise.all(tokens.map(getStatus));
const details = async (id: string) =>
  (await identity.call('GET', `${path}/${id}`, { token: session })).body.token as Record<string, unknown>;
const revoke = (id: string, body: object = {}) =>
  identity.call('DELETE', `${path}/${id}`, { token: session, body });

test('a rotation returns a new token with the same name and scopes, and ends the old one at once', async () => {
  const old = await make(session, { name: 'ci', description: 'for the pipeline', expiryDays: 90 });
  const answer = await rotate(old.id);
  expect(answer.status).toBe(201);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(answer.body).toEqual({
    message: expect.any(String),
    token: {
      id: expect.any(String),
      name: 'ci',
      scopes,
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
      lastUsedAt: null,
      parentId: null,
      accessToken: expect.stringMatching(/^pat_/),
    },
    replaced: { id: old.id, endsAt: answer.body.token.createdAt },
    revokedCount: 0,
  });
  const token = answer.body.token as CreatedToken;
  const lifetimeMs = Date.parse(token.expiresAt ?? '') - Date.parse(token.createdAt);
  expect(Math.round(lifetimeMs / DAY_MS)).toBe(90);
  expect(await statuses(old, token)).toEqual([401, 200]);
  expect(await details(old.id)).toMatchObject({
    state: 'revoked',
    replacedBy: token.id,
    revokedReason: 'rotated',
    revokedAt: token.createdAt,
  });
  expect(await details(token.id)).toMatchObject({
    state: 'active',
    description: 'for the pipeline',
    replacedBy: null,
  });
  const { rows } = await identity.db.query(
    `select action, subject_id, reason, detail->>'replaces' as replaces, detail->>'replacedBy' as replaced_by
     from audit_entries where subject_id = any($1) and action in ('token.created', 'token.rotated', 'token.revoked') order by id offset 1`,
    [[old.id, token.id]],
  );
  expect(rows).toEqual([
    { action: 'token.created', subject_id: token.id, reason: null, replaces: old.id, replaced_by: null },
    { action: 'token.rotated', subject_id: old.id, reason: null, replaces: null, replaced_by: token.id },
    { action: 'token.revoked', subject_id: old.id, reason: 'rotated', replaces: null, replaced_by: null },
  ]);
});

test('the old token works until its grace ends, and is then revoked as rotated', async () => {
  const old = await make(session);
  const child = await make(old.accessToken);
  const token = await rotated(old.id, { graceSeconds: 600 });
  expect(await statuses(old, token)).toEqual([200, 200]);
  expect(await details(old.id)).toMatchObject({ state: 'active', replacedBy: token.id });
  identity.advance(601 * SECOND);
  expect(await statuses(old, token, child)).toEqual([401, 200, 200]);
  expect(await details(old.id)).toMatchObject({ state: 'revoked', revokedReason: 'rotated' });
  await identity.sweep();
  expect(await details(old.id)).toMatchObject({ state: 'revoked', revokedReason: 'rotated' });
  // The job may sweep at the same time, and then moves it.
  await waitFor(async () => (await details(child.id))['parentId'] === token.id, { what: 'the new parent' });
  const { rows } = await identity.db.query(
    `select actor_id, reason from audit_entries where subject_id = $1 and action = 'token.revoked'`,
    [old.id],
  );
  expect(rows).toEqual([{ actor_id: null, reason: 'rotated' }]);
  expect((await revoke(token.id)).body.revokedCount).toBe(2);
});

test('without a word about the grace, the old token works for another minute', async () => {
  const [one, two] = [await make(session), await make(session)];
  for (const [{ id }, options] of [
    [one, {}],
    [two, { body: {} }],
  ] as const) {
    const answer = await identity.call('POST', `${path}/${id}/rotate`, {
      token: session,
      ...options,
    });
    const { replaced, token } = answer.body;
    expect(Date.parse(replaced.endsAt) - Date.parse(token.createdAt)).toBe(60 * SECOND);
  }
  expect(await statuses(one, two)).toEqual([200, 200]);
  identity.advance(61 * SECOND);
  expect(await statuses(one, two)).toEqual([401, 401]);
});

test('the grace outlives a restart of the service', async () => {
  const old = await make(session);
  const token = await rotated(old.id, { graceSeconds: 60 });
  const replica = await startReplica(identity.databaseUrl);
  try {
    const status = async ({ accessToken }: CreatedToken) =>
      (await replica.call('GET', '/api/v1/users/me', { token: accessToken })).status;
    replica.advance(await identityOffset());
    expect([await status(old), await status(token)]).toEqual([200, 200]);
    replica.advance(61 * SECOND);
    expect([await status(old), await status(token)]).toEqual([401, 200]);
  } finally {
    await replica.close();
  }
});

/** The tests before have advanced the clock of the service. */
async function identityOffset(): Promise<number> {
  const { createdAt } = await make(session);
  return Date.parse(createdAt) - Date.now();
}

test('of two replicas that rotate a token at the same time, one wins and the other answers 409', async () => {
  const replica = await startReplica(identity.databaseUrl);
  try {
    replica.advance(await identityOffset());
    for (let round = 0; round < 10; round += 1) {
      const old = await make(session);
      const answers = await Promise.all([
        identity.call('POST', `${path}/${old.id}/rotate`, { token: session }),
        replica.call('POST', `${path}/self/rotate`, { token: old.accessToken, body: { graceSeconds: 60 } }),
        replica.call('POST', `${path}/${old.id}/rotate`, { token: session }),
      ]);
      const losers = answers.map(({ status }) => status).filter((status) => status !== 201);
      expect(losers).toHaveLength(2);
      // The token's own request is refused earlier when it is verified after the winner has committed.
      for (const status of losers) expect([401, 409]).toContain(status);
      const { rows } = await identity.db.query(
        `select count(*)::int as count from audit_entries where action = 'token.rotated' and subject_id = $1`,
        [old.id],
      );
      expect(rows).toEqual([{ count: 1 }]);
      const last = await rotate(old.id);
      expect([last.status, last.body.error.code]).toEqual([409, 'ALREADY_ROTATED']);
    }
  } finally {
    await replica.close();
  }
});

test('a family of depth 5 stays whole through rotations, and a revocation ends all of it', async () => {
  const root = await make(session);
  const child = await make(root.accessToken);
  const middle = await make(child.accessToken);
  const third = await make(middle.accessToken);
  const leaf = await make(third.accessToken);
  const newMiddle = await rotated(middle.id);
  const parentOf = async ({ id }: CreatedToken) => (await details(id))['parentId'];
  expect([await parentOf(third), await parentOf(newMiddle)]).toEqual([newMiddle.id, child.id]);
  const graceful = await rotated(child.id, { graceSeconds: 600 });
  const twice = await rotated(graceful.id, { graceSeconds: 600 });
  const living = [root, child, graceful, twice, newMiddle, third, leaf];
  expect(await statuses(...living)).toEqual(living.map(() => 200));
  // The newest token of a lineage stands for its predecessors, which still work, and for what they created.
  expect((await revoke(twice.id)).body.revokedCount).toBe(6);
  expect(await statuses(...living)).toEqual([200, ...living.slice(1).map(() => 401)]);
});

test('a revocation of the old token during its grace leaves the new one active', async () => {
  const old = await make(session);
  const child = await make(old.accessToken);
  const token = await rotated(old.id, { graceSeconds: 600 });
  expect((await revoke(old.id, { keepDescendants: true })).body.revokedCount).toBe(1);
  expect(await statuses(old, token, child)).toEqual([401, 200, 200]);
  expect((await details(child.id))['parentId']).toBe(token.id);
  expect((await revoke(token.id)).body.revokedCount).toBe(2);
});

test('a token rotates itself, and never into a later expiry than its own', async () => {
  const old = await make(session, { expiryDays: 90 });
  const self = (token: CreatedToken, body: object = {}) =>
    identity.call('POST', `${path}/self/rotate`, {
      token: token.accessToken,
      body: { graceSeconds: 0, ...body },
    });
  const refused = await self(old, { expiryDays: 365 });
  expect([refused.status, refused.body.error.details[0].field]).toEqual([400, 'expiryDays']);
  const answer = await self(old, {});
  expect([answer.status, answer.body.token.expiresAt]).toEqual([201, old.expiresAt]);
  expect(await statuses(old, answer.body.token)).toEqual([401, 200]);
  expect((await self(old)).status).toBe(401);
  const bySession = await identity.call('POST', `${path}/self/rotate`, { token: session });
  expect([bySession.status, bySession.body.error.code]).toEqual([403, 'TOKEN_REQUIRED']);
});

test('a token cannot rotate one with scopes that it lacks, nor without pat:write', async () => {
  const wide = await make(session);
  const narrow = await make(session, { scopes: ['pat:write'] });
  const refused = await rotate(wide.id, {}, narrow.accessToken);
  expect([refused.status, refused.body.error.code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
  expect(refused.headers.get('www-authenticate')).toContain('scope="pat:read user:read"');
  const reader = await make(session, { scopes: ['user:read'] });
  for (const target of ['self', reader.id])
    expect((await rotate(target, {}, reader.accessToken)).status).toBe(403);
  expect(await statuses(wide, reader)).toEqual([200, 200]);
});

test('rejects invalid options, and unknown, foreign, expired and revoked tokens', async () => {
  const token = await make(session);
  for (const body of [
    { graceSeconds: -1 },
    { graceSeconds: 604_801 },
    { graceSeconds: '60' },
    { graceSeconds: 1.5 },
    { expiryDays: 31 },
    { grace: 1 },
  ])
    expect([body, (await rotate(token.id, body)).status]).toEqual([body, 400]);
  const member = await identity.createMember(session);
  const revoked = await make(session);
  await revoke(revoked.id);
  const missing = '01900000-0000-7000-8000-000000000000';
  for (const [id, credential] of [
    [token.id, member.session],
    [revoked.id, session],
    [missing, session],
  ])
    expect((await rotate(id ?? '', {}, credential)).status).toBe(404);
  expect((await rotate('nothing', {})).status).toBe(400);
  expect(await getStatus(token)).toBe(200);
});

test('PAT-24 a rotation takes scopes from a token, in every service, and never adds one', async () => {
  const probe = await startProbeService(identity.url, () => Date.now());
  try {
    const old = await make(session);
    const child = await make(old.accessToken);
    const token = await rotated(old.id, { scopes: ['pat:read', 'user:read', 'pat:write'], graceSeconds: 60 });
    expect([token.scopes, await statuses(child)]).toEqual([scopes, [200]]);
    const narrow = await rotated(token.id, { scopes: ['pat:write'] });
    expect(narrow.scopes).toEqual(['pat:write']);
    expect([await statuses(narrow), (await probe.whoami(narrow.accessToken)).status]).toEqual([[403], 403]);
    const byChild = await identity.call('POST', path, {
      token: narrow.accessToken,
      body: { name: 'child', scopes: ['user:read'] },
    });
    expect(byChild.status).toBe(400);
    const wider = await rotate(narrow.id, { scopes: ['pat:write', 'user:read'] });
    expect([wider.status, wider.body.error.details]).toEqual([
      400,
      [{ field: 'scopes.1', message: expect.stringContaining('"user:read"') }],
    ]);
    expect((await rotate(narrow.id, { scopes: [] })).status).toBe(400);
  } finally {
    await probe.close();
  }
});

test('PAT-24 narrowing a token revokes what it and its predecessors created, and nothing else', async () => {
  const stranger = await make(session);
  const parent = await make(session);
  const old = await make(parent.accessToken);
  const child = await make(old.accessToken, { scopes: ['pat:write', 'user:read'] });
  const grandchild = await make(child.accessToken, { scopes: ['user:read'] });
  const token = await rotated(old.id, { graceSeconds: 3_600 });
  const ofToken = await make(token.accessToken);
  const answer = await rotate(token.id, { scopes: ['user:read'], graceSeconds: 60 });
  expect([answer.status, answer.body.revokedCount]).toEqual([201, 3]);
  const narrowed = answer.body.token as CreatedToken;
  const family = [narrowed, stranger, parent, old, token, child, grandchild, ofToken];
  expect(await statuses(...family)).toEqual([200, 200, 200, 200, 200, 401, 401, 401]);
  expect(await details(grandchild.id)).toMatchObject({ state: 'revoked', revokedReason: 'narrowed' });
  const { rows } = await identity.db.query(
    `select reason, detail from audit_entries where subject_id = $1 and action = 'token.revoked'`,
    [child.id],
  );
  expect(rows).toEqual([{ reason: 'narrowed', detail: { revokedWith: token.id } }]);
  // What is left of the family still ends with the token above it.
  expect((await revoke(parent.id)).body.revokedCount).toBe(4);
});

test('PAT-24 a token that is created while its parent is narrowed is revoked as well', async () => {
  const parent = await make(session);
  const blocker = await identity.db.connect();
  try {
    await blocker.query('begin');
    await blocker.query(
      `select from users where id = (select owner_id from personal_access_tokens where id = $1) for no key update`,
      [parent.id],
    );
    const creating = identity.createToken(parent.accessToken, { scopes });
    await waitForLockWaiters(identity.db, 1);
    const narrowing = rotate(parent.id, { scopes: ['user:read'] });
    await waitForLockWaiters(identity.db, 2);
    await blocker.query('commit');
    const [child, answer] = await Promise.all([creating, narrowing]);
    expect([answer.status, answer.body.revokedCount, await statuses(child)]).toEqual([201, 1, [401]]);
  } finally {
    blocker.release();
  }
});
