import { startIdentity } from '../identity.js';

const path = '/api/v1/users';
const password = 'correct-horse-battery';

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

const create = (body: object, token = session) => identity.call('POST', path, { token, body });
const change = (id: string, body: object, token = session) =>
  identity.call('PATCH', `${path}/${id}`, { token, body });
const remove = (id: string, token = session) => identity.call('DELETE', `${path}/${id}`, { token });
const storedUser = async (id: string) =>
  (
    await identity.db.query(
      'select email, full_name, role, password_hash, removed_at from users where id = $1',
      [id],
    )
  ).rows[0] as Record<string, unknown>;
let emails = 0;
const newEmail = () => `person-${++emails}@example.com`;

test('creates a member in the specified shape, with the e-mail in lower case and the password as argon2id', async () => {
  const { status, body } = await create({
    email: 'Ada.LOVELACE@Example.com',
    fullName: ' Ada Lovelace ',
    password,
  });
  expect(status).toBe(201);
  const user = {
    id: expect.any(String),
    orgId: identity.orgId,
    email: 'ada.lovelace@example.com',
    fullName: 'Ada Lovelace',
    role: 'member',
  };
  expect(body).toEqual({ user });
  expect(await storedUser(body.user.id)).toEqual({
    email: user.email,
    full_name: user.fullName,
    role: 'member',
    password_hash: expect.stringMatching(/^\$argon2id\$/),
    removed_at: null,
  });
  const member = await identity.login({ email: 'ada.lovelace@EXAMPLE.com', password });
  expect((await identity.call('GET', `${path}/me`, { token: member })).body).toEqual({
    user: body.user,
    groups: [],
  });
});

test('USER-10: members change their own name with a session, and nothing else', async () => {
  const member = await identity.createMember(session);
  const rename = (body: object) => identity.call('PATCH', `${path}/me`, { token: member.session, body });
  const { status, body } = await rename({ fullName: ' Countess ' });
  expect([status, body.user]).toMatchObject([200, { id: member.id, fullName: 'Countess', role: 'member' }]);
  const { rows } = await identity.db.query(
    `select action, actor_id, changes -> 'fullName' ->> 'to' as name from audit_entries
     where subject_id = $1 order by id desc limit 1`,
    [member.id],
  );
  expect(rows).toEqual([{ action: 'user.changed', actor_id: member.id, name: 'Countess' }]);
  for (const refused of [{ fullName: '' }, { fullName: 'Boss', role: 'admin' }])
    expect((await rename(refused)).status).toBe(400);
});

test('USER-11: members choose the language of their mails with a session', async () => {
  const member = await identity.createMember(session);
  const call = (method: 'GET' | 'PUT', body?: object) =>
    identity.call(method, `${path}/me/preferences`, { token: member.session, ...(body && { body }) });
  expect((await call('GET')).body).toEqual({ language: null });
  for (const language of ['de', null, 'en'])
    expect((await call('PUT', { language })).body).toEqual({ language });
  expect((await call('GET')).body).toEqual({ language: 'en' });
  expect((await call('PUT', { language: 'fr' })).status).toBe(400);
});

test('an e-mail address can be used once, in any case and by ten concurrent requests, and again after the removal', async () => {
  const email = newEmail();
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      create({ email: index % 2 ? email : email.toUpperCase(), fullName: 'Twin', password }),
    ),
  );
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
    201,
    ...Array.from({ length: 9 }, () => 409),
  ]);
  expect(answers.find(({ status }) => status === 409)?.body.error).toMatchObject({
    code: 'EMAIL_TAKEN',
    message: 'A member has this address already',
  });
  const id = answers.find(({ status }) => status === 201)?.body.user.id as string;
  expect((await remove(id)).body).toEqual({ message: 'User removed' });
  const again = await create({ email, fullName: 'Twin', password });
  expect(again.status).toBe(201);
  expect(again.body.user.id).not.toBe(id);
  expect((await remove(id)).status).toBe(404);
});

test.each([
  {},
  { email: 'a b@example.com', fullName: 'A', password },
  { email: 'a@example.com', fullName: 'gnp.\u202eexe', password },
  { email: 'a@example.com', fullName: 'A', password: 'short' },
  { email: 'a@example.com', fullName: 'A', password, role: 'owner' },
  { email: 'a@example.com', fullName: 'A', password, orgId: '1' },
])('create rejects %j with 400', async (body) => {
  const { status, body: answer } = await create(body);
  expect([status, answer.error.code]).toEqual([400, 'VALIDATION_ERROR']);
});

test('what is answered about somebody is stored nowhere on the way, whatever the credential and the outcome', async () => {
  const pat = (await identity.createToken(session, { scopes: ['user:read', 'pat:read'] })).accessToken;
  for (const one of ['/users/me', '/personal-access-tokens', '/connected-apps', '/users', '/nothing'])
    for (const token of [session, pat, 'garbage']) {
      const { headers } = await identity.call('GET', `/api/v1${one}`, { token });
      expect([one, headers.get('cache-control')]).toEqual([one, 'no-store']);
    }
  const keys = await identity.call('GET', '/.well-known/jwks.json');
  expect(keys.headers.get('cache-control')).toBe('public, max-age=5');
});

test.each(['token abc', 'Basic YTpi', 'Bearer a b', 'abc'])(
  'a header %j is told apart from none by what has to be sent',
  async (authorization) => {
    const me = (headers: Record<string, string>) => identity.call('GET', '/api/v1/users/me', { headers });
    const [without, other] = [await me({}), await me({ authorization })];
    expect(without.body).toEqual({
      error: { code: 'UNAUTHORIZED', message: 'Authorization header not found' },
    });
    expect([other.status, other.body.error]).toEqual([
      401,
      {
        ...without.body.error,
        details: [{ field: 'authorization', message: 'was sent, but must have the form `Bearer <token>`' }],
      },
    ]);
    expect(other.headers.get('www-authenticate')).toBe(without.headers.get('www-authenticate'));
  },
);

test('without a mail service, invitations fail, members can still be created, and public responses stay the same', async () => {
  const user = { email: newEmail(), fullName: 'A' };
  const refused = await create(user);
  expect([refused.status, refused.body.error.code]).toEqual([503, 'MAIL_UNAVAILABLE']);
  expect((await create({ ...user, password })).status).toBe(201);
  for (const to of ['otp', 'password/forgot'])
    expect((await identity.call('POST', `/api/v1/auth/${to}`, { body: { email: user.email } })).status).toBe(202);
  expect((await identity.db.query('select 1 from outgoing_mails')).rowCount).toBe(0);
}); // oxfmt-ignore

test('a token with user:write can rename and remove members, but cannot change who can log in', async () => {
  const pat = (await identity.createToken(session, { scopes: ['user:write'] })).accessToken;
  const made = await create({ email: newEmail(), fullName: 'A', password });
  expect(made.status).toBe(201);
  const other = await identity.createMember(session, 'admin');
  for (const answer of [
    await create({ email: newEmail(), fullName: 'A', password }, pat),
    // An invitation goes to a mailbox of the caller's choice, whose owner could then open a session.
    await create({ email: newEmail(), fullName: 'A' }, pat),
    await create({ email: newEmail(), fullName: 'A', role: 'admin' }, pat),
    await change(made.body.user.id, { role: 'admin' }, pat),
    await change(other.id, { role: 'member' }, pat),
    await remove(other.id, pat),
  ])
    expect([answer.status, answer.body.error?.code]).toEqual([403, 'SESSION_REQUIRED']);
  expect(await storedUser(made.body.user.id)).toMatchObject({ role: 'member' });
  expect(await storedUser(other.id)).toMatchObject({ role: 'admin', removed_at: null });
  expect((await change(made.body.user.id, { fullName: 'B' }, pat)).body.user.fullName).toBe('B');
  expect((await remove(made.body.user.id, pat)).status).toBe(200);
});

test('rejects the removal by a token of a member who has just become an administrator', async () => {
  const pat = (await identity.createToken(session, { scopes: ['user:write'] })).accessToken;
  for (let round = 0; round < 3; round += 1) {
    const member = await identity.createMember(session);
    const [promoted, removed] = await Promise.all([
      change(member.id, { role: 'admin' }),
      remove(member.id, pat),
    ]);
    // In either order, a token must not remove an administrator.
    expect([
      [200, 403],
      [404, 200],
    ]).toContainEqual([promoted.status, removed.status]);
  }
});

test("a demoted administrator's token loses the administrators' scopes at once, and regains them with the role", async () => {
  const other = await identity.createMember(session, 'admin');
  const pat = (await identity.createToken(other.session, { scopes: ['user:write', 'user:read'] }))
    .accessToken;
  const rename = async () => (await change(other.id, { fullName: 'New Name' }, pat)).status;
  expect(await rename()).toBe(200);
  expect((await change(other.id, { role: 'member' })).status).toBe(200);
  expect(await rename()).toBe(403);
  expect((await identity.call('GET', path, { token: pat })).status).toBe(403);
  const me = await identity.call('GET', `${path}/me`, { token: pat });
  expect([me.status, me.body.user.role]).toEqual([200, 'member']);
  expect((await identity.createToken(session)).scopes).toContain('user:read');
  await change(other.id, { role: 'admin' });
  expect(await rename()).toBe(200);
});

test("responds with the same 404 to another organisation's, an unknown and a removed member, and changes nothing", async () => {
  const other = await identity.createOrganisation('boss@other.example');
  const foreign = await identity.createMember(other.session);
  const removed = await identity.createMember(session);
  await remove(removed.id);
  const before = await storedUser(foreign.id);
  for (const id of [foreign.id, removed.id, '01900000-0000-7000-8000-000000000000'])
    for (const answer of [
      await change(id, { fullName: 'X' }),
      await change(id, { role: 'admin' }),
      await remove(id),
    ])
      expect([answer.status, answer.body]).toEqual([
        404,
        { error: { code: 'NOT_FOUND', message: 'User not found' } },
      ]);
  expect(await storedUser(foreign.id)).toEqual(before);
  expect((await create({ email: foreign.email, fullName: 'A', password })).status).toBe(409);
});

test('lists every member on exactly one page, newest first, whatever the page size', async () => {
  const { rows } = await identity.db.query<{ id: string }>(
    'select id from users where org_id = $1 and removed_at is null order by id desc',
    [identity.orgId],
  );
  for (const limit of [3, 100]) {
    const seen: string[] = [];
    for (let page = 1; page <= Math.ceil(rows.length / limit); page += 1) {
      const { body } = await identity.call('GET', `${path}?page=${page}&limit=${limit}`, { token: session });
      expect(body.pagination).toEqual({
        page,
        limit,
        total: rows.length,
        totalPages: Math.ceil(rows.length / limit),
      });
      seen.push(...body.data.map((user: { id: string }) => user.id));
    }
    expect(seen).toEqual(rows.map(({ id }) => id));
  }
});

test('treats two spellings of an address as the same address', async () => {
  const local = newEmail().split('@')[0] ?? '';
  const made = await create({ email: `${local}@Bücher.example`, fullName: 'A', password });
  expect([made.status, made.body.user.email]).toEqual([201, `${local}@xn--bcher-kva.example`]);
  expect((await create({ email: `${local}@xn--bcher-kva.example`, fullName: 'A', password })).status).toBe(
    409,
  );
  await identity.login({ email: `${local}@bücher.example`, password });
});

test('change rejects an empty body, an unknown field and an invalid role', async () => {
  const member = await identity.createMember(session);
  for (const body of [{}, { email: 'x@example.com' }, { password }, { role: 'owner' }, { role: null }])
    expect((await change(member.id, body)).status).toBe(400);
});

test('GRP-11: a member is shown with the groups and the last sign of life, to administrators of the organisation alone', async () => {
  const member = await identity.createMember(session);
  const get = (id: string, token = session) => identity.call('GET', `${path}/${id}`, { token });
  const created = await identity.call('POST', '/api/v1/groups', {
    token: session,
    body: { name: 'Night shift' },
  });
  const { id: groupId } = created.body.group as { id: string };
  await identity.call('PUT', `/api/v1/groups/${groupId}/members/${member.id}`, { token: session });
  expect((await get(member.id)).body.user).toMatchObject({
    id: member.id,
    email: member.email,
    role: 'member',
    invitation: null,
    secondFactors: [],
    groups: [{ id: groupId, name: 'Night shift', source: 'manual' }],
    lastSeenAt: expect.any(String),
  });
  const invited = await create({ email: newEmail(), fullName: 'Never seen', password });
  expect((await get(invited.body.user.id)).body.user).toMatchObject({ groups: [], lastSeenAt: null });
  const other = await identity.createOrganisation(newEmail());
  expect((await get(member.id, member.session)).status).toBe(403);
  expect((await get(member.id, other.session)).status).toBe(404);
  expect((await remove(member.id)).status).toBe(200);
  expect((await get(member.id)).status).toBe(404);
});

test('API-19: what ends with a removal is listed by name: sessions, tokens, connected apps, passkeys, services and events', async () => {
  const member = await identity.createMember(session);
  for (const name of ['Laptop', 'Build'])
    await identity.createToken(member.session, { name, scopes: ['user:read'] });
  const ended = await identity.createToken(member.session, { name: 'Ended', scopes: ['user:read'] });
  await identity.call('DELETE', `/api/v1/personal-access-tokens/${ended.id}`, { token: member.session });
  await identity.db.query(
    `insert into oauth_clients (id, kind, name, redirect_uris, grant_types, scopes, auth_method, created_at)
     values ('https://notes.example.com/', 'document', 'Notes agent', '{}', '{}', '{}', 'none', now())`,
  );
  await identity.db.query(
    `insert into oauth_grants (id, org_id, user_id, client_id, resource, scopes, created_at, expires_at)
     values (gen_random_uuid(), $1, $2, 'https://notes.example.com/', 'r', '{}', now(), now() + interval '1 day')`,
    [identity.orgId, member.id],
  );
  await identity.db.query(
    `insert into passkeys (id, org_id, user_id, credential_id, public_key, counter, transports, name, created_at)
     values (gen_random_uuid(), $1, $2, 'c', '', 0, '{}', 'Phone', now())`,
    [identity.orgId, member.id],
  );
  const server = await identity.call('POST', '/api/v1/mcp-servers', {
    token: session,
    body: {
      name: 'notes',
      url: 'https://notes.example.com/mcp',
      credential: { kind: 'personal' },
    },
  });
  await identity.call('PUT', `/api/v1/mcp-servers/${server.body.server.id}/my-credential`, {
    token: member.session,
    body: { value: 'a-key' },
  });
  await identity.db.query(
    `insert into fact_destinations (id, org_id, form, description, url, secret_sealed, types, position, served_at, created_at, subscription_key,
       owner_id, credential_kind, credential_id, event, arguments, ends_at)
     values (gen_random_uuid(), $1, 'subscription', '', 'https://agent.example.com/hook?key=a-secret', 'sealed', '{}', 0, now(), now(), 'k', $2,
       'pat', gen_random_uuid(), 'documents.changed', '{}', now() + interval '1 day')`,
    [identity.orgId, member.id],
  );
  const describe = (id: string, token = session) => identity.call('GET', `${path}/${id}/removal`, { token });
  const { status, body } = await describe(member.id);
  expect([status, body.removal]).toEqual([
    200,
    {
      sessions: 1,
      tokens: { total: 2, totalIsMinimum: false, names: ['Build', 'Laptop'] },
      apps: { total: 1, totalIsMinimum: false, names: ['Notes agent'] },
      passkeys: { total: 1, totalIsMinimum: false, names: ['Phone'] },
      services: { total: 1, totalIsMinimum: false, names: ['notes'] },
      subscriptions: {
        total: 1,
        totalIsMinimum: false,
        names: ['documents.changed → agent.example.com'],
      },
      serviceAccounts: { total: 0, totalIsMinimum: false, accounts: [] },
    },
  ]);
  expect((await describe(member.id, member.session)).status).toBe(403);
  // What an administrator sets up is the organisation's, and keeps working.
  const admin = await identity.createMember(session, 'admin');
  const send = async (at: string, fields: object) =>
    (await identity.call('POST', at, { token: admin.session, body: fields })).body;
  const { serviceAccount } = await send('/api/v1/service-accounts', { name: 'Backup' });
  await send('/api/v1/oauth-applications', {
    name: 'Reports',
    grantTypes: ['client_credentials'],
    scopes: ['user:read'],
  });
  const gone = await send('/api/v1/service-accounts', { name: 'Gone' });
  await identity.call('DELETE', `/api/v1/service-accounts/${gone.serviceAccount.id}`, {
    token: admin.session,
  });
  expect((await describe(admin.id)).body.removal.serviceAccounts).toEqual({
    total: 2,
    totalIsMinimum: false,
    accounts: [
      { id: serviceAccount.id, name: 'Backup' },
      { id: expect.any(String), name: 'Reports' },
    ],
  });
  const other = await identity.createOrganisation('removal@example.com');
  expect((await describe(member.id, other.session)).status).toBe(404);
  await remove(member.id);
  expect((await describe(member.id)).status).toBe(404);
});

test('USER-6: an address that is invited already is said to be that, and one of another organisation is not', async () => {
  const email = newEmail();
  const invited = { email, fullName: 'Twin' };
  await identity.db.query(
    `insert into users (id, org_id, email, full_name, role, created_at)
     values (gen_random_uuid(), $1, $2, 'Twin', 'member', now())`,
    [identity.orgId, email],
  );
  const again = await create({ ...invited, password });
  expect([again.status, again.body.error.message]).toEqual([
    409,
    'This address is invited already: send that invitation again, or cancel it first',
  ]);
  const other = await identity.createOrganisation('twin@example.com');
  const elsewhere = await create({ ...invited, password }, other.session);
  expect([elsewhere.status, elsewhere.body.error.message]).toEqual([
    409,
    'This e-mail address cannot be used',
  ]);
});

test('USER-2 finds the invitations that stay open without help: those that failed, and those that lapse within two days', async () => {
  const { session: owner } = await identity.createOrganisation('boss@stalled.example');
  const list = async (state: string) =>
    ((await identity.call('GET', `/api/v1/users?state=${state}`, { token: owner })).body.data as { fullName: string }[]).map(({ fullName }) => fullName);
  for (const [fullName, effect] of [
    ['Fresh', `created_at = created_at`],
    ['Older', `created_at = created_at - interval '4 days 23 hours'`],
    ['Lapses', `created_at = created_at - interval '5 days 1 hour'`],
    ['Failed', `undeliverable_reason = 'No such mailbox'`],
  ] as const) {
    const { body } = await identity.call('POST', '/api/v1/users', { token: owner, body: { email: `${fullName.toLowerCase()}@stalled.example`, fullName, password: 'correct horse battery' } });
    await identity.db.query(`update users set password_hash = null, ${effect} where id = $1`, [body.user.id]);
  }
  expect((await list('stalled')).toSorted()).toEqual(['Failed', 'Lapses']);
  expect((await list('invited')).toSorted()).toEqual(['Failed', 'Fresh', 'Lapses', 'Older']);
}); // oxfmt-ignore
