import { startIdentity } from '../identity.js';

const tokensPath = '/api/v1/personal-access-tokens';

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

const me = (token: string) => identity.call('GET', '/api/v1/users/me', { token });

test('a revoked token is rejected at its next use, and stays revoked', async () => {
  const token = await identity.createToken(session, { scopes: ['user:read'] });
  expect((await me(token.accessToken)).status).toBe(200);
  const revoked = await identity.call('DELETE', `${tokensPath}/${token.id}`, {
    token: session,
    body: { reason: 'left on a train' },
  });
  expect(revoked.status).toBe(200);
  expect(revoked.body).toEqual({ message: 'Token revoked', revokedCount: 1 });

  const after = await me(token.accessToken);
  expect(after.status).toBe(401);
  expect(after.headers.get('www-authenticate')).toBe('Bearer realm="platform", error="invalid_token"');
  expect((await identity.call('DELETE', `${tokensPath}/${token.id}`, { token: session })).status).toBe(404);
  await expect(
    identity.db.query(
      `update personal_access_tokens set status = 'active', revoked_at = null where id = $1`,
      [token.id],
    ),
  ).rejects.toThrow('never leaves the state revoked');
});

test('records a revocation in the audit once, with the actor and the reason', async () => {
  const token = await identity.createToken(session);
  const body = { reason: 'rotated' };
  const answers = await Promise.all(
    Array.from({ length: 5 }, () =>
      identity.call('DELETE', `${tokensPath}/${token.id}`, { token: session, body }),
    ),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404, 404, 404, 404]);
  const { rows } = await identity.db.query(
    `select action, reason, actor_id from audit_entries where subject_id = $1 and action = 'token.revoked'`,
    [token.id],
  );
  expect(rows).toEqual([{ action: 'token.revoked', reason: 'rotated', actor_id: expect.any(String) }]);
});

test("responds with the same 404 to another member's, another organisation's, an unknown, a revoked and an expired token", async () => {
  const member = await identity.createMember(session);
  const other = await identity.createOrganisation('other@example.com');
  const foreign = await identity.createToken(other.session);
  const own = await identity.createToken(member.session);
  const attempts: [path: string, token: string][] = [
    [`${tokensPath}/${own.id}`, session],
    [`${tokensPath}/${foreign.id}`, session],
    [`${tokensPath}/admin/${foreign.id}`, session],
    [`${tokensPath}/01900000-0000-7000-8000-000000000000`, session],
  ];
  const answers = await Promise.all(
    attempts.map(([path, token]) => identity.call('DELETE', path, { token })),
  );
  for (const { status, body } of answers) {
    expect(status).toBe(404);
    expect(body).toEqual({ error: { code: 'NOT_FOUND', message: 'Token not found' } });
  }
  expect((await me(foreign.accessToken)).status).toBe(200);
});

test("an administrator can revoke anyone's token, a member cannot", async () => {
  const member = await identity.createMember(session);
  const token = await identity.createToken(member.session, { scopes: ['user:read'] });
  const path = `${tokensPath}/admin/${token.id}`;
  const refused = await identity.call('DELETE', path, { token: member.session });
  expect(refused.status).toBe(400);
  expect(refused.body.error.code).toBe('ADMIN_REQUIRED');
  const pat = await identity.createToken(session, { scopes: ['pat:write'] });
  const withToken = await identity.call('DELETE', path, { token: pat.accessToken });
  expect(withToken.status).toBe(403);
  expect(withToken.body.error.code).toBe('SESSION_REQUIRED');
  expect((await me(token.accessToken)).status).toBe(200);
  expect((await identity.call('DELETE', path, { token: session })).status).toBe(200);
  expect((await me(token.accessToken)).status).toBe(401);
});
