import { waitFor } from '@platform/testing';
import { auditActions } from '../../src/audit/actions.js';
import { startIdentity } from '../identity.js';

const tokensPath = '/api/v1/personal-access-tokens';

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

interface Entry {
  id: string;
  action: string;
  actorId: string | null;
  subjectId: string;
  reason: string | null;
  detail: object;
  changes: object;
  credential: { kind: string; id: string } | null;
  address: string | null;
  userAgent: string | null;
  createdAt: string;
}
const page = (number: number, limit: number, token = session) =>
  identity.call('GET', `/api/v1/audit?page=${number}&limit=${limit}`, { token });

test('records every listed action once, with the actor and the subject', async () => {
  const { id: adminId } = (await identity.call('GET', '/api/v1/users/me', { token: session })).body.user;
  const member = await identity.createMember(session);
  const token = await identity.createToken(member.session, { name: 'ci', scopes: ['user:read'] });
  for (let use = 0; use < 3; use += 1)
    await identity.call('GET', '/api/v1/users/me', { token: token.accessToken });
  const change = (body: object) =>
    identity.call('PATCH', `/api/v1/users/${member.id}`, { token: session, body });
  await change({ fullName: 'Other' });
  await change({ role: 'admin', fullName: 'Another' });
  await identity.call('DELETE', `${tokensPath}/admin/${token.id}`, {
    token: session,
    body: { reason: 'leak' },
  });
  const smtp = { host: 'smtp.example.com', fromEmail: 'noreply@example.com' };
  const smtpPath = '/api/v1/configurationManager/smtpConfig';
  await identity.call('POST', smtpPath, { token: session, body: smtp });
  await identity.call('DELETE', smtpPath, { token: session });
  await identity.call('POST', '/api/v1/configurationManager/signInConfig', {
    token: session,
    body: { codesEnabled: false },
  });
  await identity.call('POST', '/api/v1/auth/logout', { token: member.session });
  await identity.call('DELETE', `/api/v1/users/${member.id}`, { token: session });

  const readAll = async () => (await page(1, 100)).body.data as Entry[];
  await waitFor(async () => (await readAll()).some(({ action }) => action === 'token.first_used'), {
    what: 'the audit of the first use',
  });
  // The page in which it appeared may have been counted before, and be one entry short.
  const entries = await readAll();
  const of = (action: string, subjectId: string) =>
    entries
      .filter((entry) => entry.action === action && entry.subjectId === subjectId)
      .map(({ actorId, reason, detail, changes }) => ({ actorId, reason, detail, changes }));
  const by = (actorId: string | null, detail: object = {}, reason: string | null = null, changes = {}) => [
    { actorId, reason, detail, changes },
  ];
  expect(of('organisation.created', identity.orgId)).toEqual(by(null));
  expect(of('user.created', member.id)).toEqual(
    by(adminId, {}, null, {
      email: { from: null, to: member.email },
      fullName: { from: null, to: 'Ada Member' },
      role: { from: null, to: 'member' },
    }),
  );
  expect(of('user.changed', member.id)).toEqual(
    by(adminId, {}, null, { fullName: { from: 'Ada Member', to: 'Other' } }),
  );
  expect(of('user.role_changed', member.id)).toEqual(
    by(adminId, {}, null, {
      fullName: { from: 'Other', to: 'Another' },
      role: { from: 'member', to: 'admin' },
    }),
  );
  expect(of('user.removed', member.id)).toEqual(by(adminId));
  expect(of('token.created', token.id)).toEqual(
    by(member.id, { name: 'ci', scopes: 'user:read', expiresAt: token.expiresAt }),
  );
  expect(of('token.first_used', token.id)).toEqual(by(member.id));
  expect(of('token.revoked', token.id)).toEqual(by(adminId, {}, 'leak'));
  const { rows } = await identity.db.query<{ id: string }>('select id from sessions where user_id = $1', [
    member.id,
  ]);
  expect(of('session.created', rows[0]?.id ?? '')).toEqual(by(member.id, { method: 'password' }));
  expect(of('session.ended', rows[0]?.id ?? '')).toEqual(by(member.id));
  expect(of('configuration.sign_in_saved', identity.orgId)).toEqual(
    by(adminId, {}, null, { codesEnabled: { from: 'true', to: 'false' } }),
  );
  // The tests of their features cover these.
  // prettier-ignore
  const elsewhere = [
    'application.created', 'application.changed', 'application.removed', 'application.secret_created',
    'application.secret_revoked', 'configuration.connection_policy_saved',
    'configuration.token_policy_saved', 'connected_app.authorized', 'connected_app.revoked',
    'invitation.accepted', 'identity_domain.added', 'identity_domain.removed', 'identity_domain.verified',
    'identity_provider.linked', 'identity_provider.refused', 'identity_provider.removed',
    'identity_provider.requirement_lifted', 'identity_provider.saved', 'identity_provider.unlinked',
    'destination.created', 'destination.changed', 'destination.removed', 'destination.secret_replaced',
    'destination.delivery_repeated', 'destination.disabled',
    'invitation.lapsed', 'mcp_server.created', 'mcp_server.changed', 'mcp_server.removed',
    'mcp_server.tools_offered', 'mcp_server.tools_changed', 'mcp_server.unreachable', 'operator.command_run', 'password.changed',
    'second_factor.codes_renewed', 'second_factor.counter_fell', 'second_factor.enrolled',
    'second_factor.removed', 'second_factor.renamed', 'second_factor.reset', 'service_account.created',
    'service_account.changed', 'service_account.removed', 'session.confirmed', 'sessions.ended', 'sign_in.failed',
    'sign_in.first_factor',
    'token.changed', 'token.expiring', 'token.leaked', 'token.refused', 'token.reused', 'token.rotated', 'user.invited',
  ];
  expect(new Set([...entries.map(({ action }) => action), ...elsewhere])).toEqual(new Set(auditActions));
});

test('does not record a rejected change as done', async () => {
  const before = (await page(1, 1)).body.pagination.total as number;
  const unknown = '01900000-0000-7000-8000-000000000000';
  await identity.call('DELETE', `${tokensPath}/${unknown}`, { token: session });
  await identity.call('DELETE', `/api/v1/users/${unknown}`, { token: session });
  await identity.call('POST', tokensPath, { token: session, body: { name: 'x', scopes: ['no'] } });
  expect((await page(1, 1)).body.pagination.total).toBe(before);
});

test.each(["update audit_entries set reason = 'x'", 'delete from audit_entries', 'truncate audit_entries'])(
  'the database rejects: %s',
  async (statement) => {
    await expect(identity.db.query(statement)).rejects.toThrow('audit_entries is append-only');
  },
);

test('every entry contains the credential, the address and the user agent', async () => {
  const agent = 'audit-probe/1.0';
  const call = (method: string, path: string, token: string, body?: object) =>
    identity.call(method, path, { token, headers: { 'user-agent': agent }, ...(body && { body }) });
  const parent = await identity.createToken(session, { scopes: ['pat:write', 'user:write', 'user:read'] });
  const member = await identity.createMember(session);
  await call('PATCH', `/api/v1/users/${member.id}`, parent.accessToken, { fullName: 'By Token' });
  const child = await call('POST', tokensPath, parent.accessToken, { name: 'child', scopes: ['user:read'] });
  await call('DELETE', `${tokensPath}/${parent.id}`, session);
  const { data } = (await page(1, 100)).body as { data: Entry[] };
  const { rows } = await identity.db.query<{ id: string }>(
    'select id from sessions where org_id = $1 order by id limit 1',
    [identity.orgId],
  );
  const byToken = { kind: 'pat', id: parent.id };
  const bySession = { kind: 'session', id: rows[0]?.id };
  for (const [action, subjectId, credential] of [
    ['user.changed', member.id, byToken],
    ['token.created', child.body.token.id, byToken],
    ['token.revoked', parent.id, bySession],
    ['token.revoked', child.body.token.id, bySession],
  ] as const) {
    const entry = data.find((candidate) => candidate.action === action && candidate.subjectId === subjectId);
    expect(entry).toMatchObject({ credential, address: '127.0.0.1', userAgent: agent });
  }
  const firstUse = `/api/v1/audit?action=token.first_used&subjectId=${parent.id}`;
  await waitFor(async () => (await identity.call('GET', firstUse, { token: session })).body.data.length > 0, {
    what: 'the audit of the first use, which must not come between the pages of a later test',
  });
});

test('records a failed sign-in in the audit of the account, and none for an unknown account', async () => {
  const member = await identity.createMember(session);
  const unknown = `nobody-${member.email}`;
  const login = (email: string, fields: object) =>
    identity.call('POST', '/api/v1/auth/login', {
      body: { email, ...fields },
      headers: { 'user-agent': 'curl/8.5.0' },
    });
  for (const email of [member.email.toUpperCase(), unknown]) {
    expect((await login(email, { password: 'a-wrong-password' })).status).toBe(401);
    expect((await login(email, { otp: '000000' })).status).toBe(401);
  }
  const failed = await waitFor(
    async () => {
      const { body } = await identity.call('GET', '/api/v1/audit?action=sign_in.failed&limit=100', {
        token: session,
      });
      const found = (body.data as Entry[]).filter(({ subjectId }) => subjectId === member.id);
      return found.length >= 2 && { found, all: body.data as Entry[], text: JSON.stringify(body) };
    },
    { what: 'the failed sign-ins' },
  );
  expect(
    failed.found.map(({ detail, actorId, address, userAgent }) => [detail, actorId, address, userAgent]),
  ).toEqual([
    [{ method: 'code' }, null, '127.0.0.1', 'curl/8.5.0'],
    [{ method: 'password' }, null, '127.0.0.1', 'curl/8.5.0'],
  ]);
  expect(failed.text).not.toMatch(/a-wrong-password|000000|nobody-/);
});

test('the pages contain every entry of the organisation once, newest first, and no other', async () => {
  const other = await identity.createOrganisation('other@example.com');
  await identity.createToken(other.session);
  const { rows } = await identity.db.query<{ id: string }>(
    'select id from audit_entries where org_id = $1 order by id desc',
    [identity.orgId],
  );
  for (const limit of [3, 100]) {
    const pages = Math.ceil(rows.length / limit);
    const seen: string[] = [];
    for (let number = pages; number > 0; number -= 1) {
      const { body } = await page(number, limit);
      expect(body.pagination).toEqual({ page: number, limit, total: rows.length, totalPages: pages });
      seen.unshift(...(body.data as Entry[]).map(({ id }) => id));
    }
    expect(seen).toEqual(rows.map(({ id }) => id));
  }
  expect((await page(1, 100, other.session)).body.pagination.total).toBe(3);
});
