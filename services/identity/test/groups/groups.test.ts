import { type IdentityUnderTest, type Member, startIdentity } from '../identity.js';

const PATH = '/api/v1/groups';
const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';

let identity: IdentityUnderTest;
let session: string;
let orgId: string;
let count = 0;

beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.close());
beforeEach(async () => {
  ({ session, orgId } = await identity.createOrganisation(`groups-${++count}@example.com`));
});

const call = (method: string, path = '', body?: object, token = session) =>
  identity.call(method, PATH + path, { token, ...(body && { body }) });
async function create(name: string, fields: object = {}): Promise<string> {
  const { status, text, body } = await call('POST', '', { name, ...fields });
  if (status !== 201) throw new Error(`create answered ${status}: ${text}`);
  return body.group.id as string;
}
const getOwn = async (token: string): Promise<string[]> =>
  ((await identity.call('GET', '/api/v1/users/me', { token })).body.groups as { name: string }[]).map(
    ({ name }) => name,
  );
const listNames = async (query = ''): Promise<string[]> =>
  ((await call('GET', query)).body.data as { name: string }[]).map(({ name }) => name);
async function listAudit(): Promise<unknown[][]> {
  const { rows } = await identity.db.query<{
    action: string;
    subject_id: string;
    detail: object;
    changes: object;
  }>(
    `select action, subject_id, detail, changes from audit_entries where org_id = $1 and action like 'group.%' order by id`,
    [orgId],
  );
  return rows.map(({ action, subject_id: subjectId, detail, changes }) => [
    action,
    subjectId,
    detail,
    changes,
  ]);
}

/** Creates accounts without the cost of their creation. @returns their ids. */
async function insertMembers(number: number): Promise<string[]> {
  const { rows } = await identity.db.query<{ id: string }>(
    `insert into users (id, org_id, email, full_name, role, password_hash, created_at)
     select gen_random_uuid(), $1::uuid, $1::text || n || '@example.com', 'Member ' || n, 'member', 'x', now()
     from generate_series(1, $2) n returning id`,
    [orgId, number],
  );
  return rows.map(({ id }) => id);
}

describe('groups', () => {
  test('an administrator creates, renames, finds and removes a group, and each is in the audit', async () => {
    const id = await create(' Engineering ', { externalId: 'E-1' });
    await create('Legal 100%');
    expect((await call('GET', `/${id}`)).body.group).toEqual({
      id,
      name: 'Engineering',
      source: 'manual',
      externalId: 'E-1',
      memberCount: 0,
      createdAt: expect.stringMatching(/Z$/),
    });
    expect(await listNames()).toEqual(['Legal 100%', 'Engineering']);
    expect(await listNames('?q=GINEER')).toEqual(['Engineering']);
    expect(await listNames('?q=e-1')).toEqual(['Engineering']);
    expect(await listNames('?q=0%25')).toEqual(['Legal 100%']);
    expect((await call('PATCH', `/${id}`, { name: 'Research', externalId: null })).body.group).toMatchObject({
      name: 'Research',
      externalId: null,
    });
    expect((await call('DELETE', `/${id}`)).body).toEqual({ message: 'Group removed' });
    expect((await call('GET', `/${id}`)).status).toBe(404);
    expect((await listAudit()).filter(([, subject]) => subject === id)).toEqual([
      [
        'group.created',
        id,
        {},
        { name: { from: null, to: 'Engineering' }, externalId: { from: null, to: 'E-1' } },
      ],
      [
        'group.changed',
        id,
        {},
        { name: { from: 'Engineering', to: 'Research' }, externalId: { from: 'E-1', to: null } },
      ],
      ['group.removed', id, {}, { name: { from: 'Research', to: null } }],
    ]);
  });

  test('a name is unique in any case and spelling, also when two create it at once', async () => {
    const id = await create('Ärzte');
    expect(await call('POST', '', { name: 'a\u0308RZTE' })).toMatchObject({
      status: 409,
      body: { error: { code: 'NAME_TAKEN' } },
    });
    const other = await create('Legal');
    expect((await call('PATCH', `/${other}`, { name: 'ÄRZTE' })).status).toBe(409);
    expect((await call('PATCH', `/${id}`, { name: 'ÄRZTE' })).status).toBe(200);
    const { session: foreign } = await identity.createOrganisation(`names-${count}@example.com`);
    expect((await call('POST', '', { name: 'Ärzte' }, foreign)).status).toBe(201);
    const answers = await Promise.all(['New', 'new', 'NEW', 'nEW'].map((name) => call('POST', '', { name })));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409]);
  });

  test.each([
    ['no name', {}],
    ['an invisible name', { name: '\u200b' }],
    ['a line break', { name: 'a\nb' }],
    ['a name of 201 characters', { name: 'a'.repeat(201) }],
    ['an unknown field', { name: 'a', source: 'provider' }],
  ])('rejects %s', async (_what, body) => {
    expect((await call('POST', '', body)).status).toBe(400);
    expect(await listNames()).toEqual([]);
  });

  test('an organisation has at most 5,000 groups', async () => {
    await identity.db.query(
      `insert into groups (id, org_id, name, name_key, source, created_at)
       select gen_random_uuid(), $1, 'g' || n, 'g' || n, 'manual', now() from generate_series(1, 4999) n`,
      [orgId],
    );
    const answers = await Promise.all(['One', 'Two'].map((name) => call('POST', '', { name })));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 400]);
    expect(answers.find(({ status }) => status === 400)?.body.error).toMatchObject({
      code: 'TOO_MANY_GROUPS',
    });
  });
});

describe('members', () => {
  let id: string;
  let member: Member;

  beforeEach(async () => {
    id = await create('Engineering');
    member = await identity.createMember(session);
  });

  test('a change of membership is in force with the next request, for sessions, tokens and service accounts', async () => {
    const { accessToken } = await identity.createToken(member.session, { scopes: ['user:read'] });
    const account = (
      await identity.call('POST', '/api/v1/service-accounts', { token: session, body: { name: 'Sync' } })
    ).body.serviceAccount as { id: string };
    const accountToken = (
      await identity.call('POST', `/api/v1/service-accounts/${account.id}/tokens`, {
        token: session,
        body: { name: 'nightly', scopes: ['user:read'] },
      })
    ).body.token as { accessToken: string };
    expect((await call('PUT', `/${id}/members/${member.id}`)).status).toBe(200);
    expect((await call('POST', `/${id}/members`, { members: [member.id, account.id] })).body).toEqual({
      message: 'Members added',
      changedCount: 1,
    });
    for (const token of [member.session, accessToken, accountToken.accessToken])
      expect(await getOwn(token)).toEqual(['Engineering']);
    expect((await call('GET', `/${id}/members`)).body).toMatchObject({
      data: [
        { id: account.id, kind: 'service_account', name: 'Sync', email: null },
        { id: member.id, kind: 'member', name: 'Ada Member', email: member.email },
      ],
      pagination: { total: 2 },
    });
    expect((await call('GET', `/${id}/members?q=${member.email}`)).body.data).toHaveLength(1);
    await call('PATCH', `/${id}`, { name: 'Research' });
    expect(await getOwn(accessToken)).toEqual(['Research']);
    expect((await call('DELETE', `/${id}/members/${member.id}`)).status).toBe(200);
    expect(await getOwn(accessToken)).toEqual([]);
    expect((await call('DELETE', `/${id}/members/${member.id}`)).status).toBe(404);
    expect((await call('POST', `/${id}/members/remove`, { members: [member.id, account.id] })).body).toEqual({
      message: 'Members removed',
      changedCount: 1,
    });
    const detail = { groupId: id, group: 'Engineering' };
    const removed = { groupId: id, group: 'Research' };
    expect((await listAudit()).filter(([action]) => String(action).startsWith('group.member_'))).toEqual([
      ['group.member_added', member.id, detail, {}],
      ['group.member_added', account.id, detail, {}],
      ['group.member_removed', member.id, removed, {}],
      ['group.member_removed', account.id, removed, {}],
    ]);
  });

  test('adds all members or none: an unknown one, a removed one and one of another organisation are 404', async () => {
    const { session: foreign } = await identity.createOrganisation(`foreign-${count}@example.com`);
    const stranger = await identity.createMember(foreign);
    const removed = await identity.createMember(session);
    await identity.call('DELETE', `/api/v1/users/${removed.id}`, { token: session });
    for (const other of [UNKNOWN_ID, stranger.id, removed.id]) {
      expect((await call('POST', `/${id}/members`, { members: [member.id, other] })).status).toBe(404);
      expect((await call('PUT', `/${id}/members/${other}`)).status).toBe(404);
    }
    expect((await call('GET', `/${id}`)).body.group.memberCount).toBe(0);
  });

  test('a group of another organisation is 404 for every operation', async () => {
    const { session: foreign } = await identity.createOrganisation(`foreign-${count}@example.com`);
    const stranger = await identity.createMember(foreign);
    for (const [method, path, body] of [
      ['GET', ''],
      ['PATCH', '', { name: 'Mine' }],
      ['DELETE', ''],
      ['GET', '/members'],
      ['POST', '/members', { members: [stranger.id] }],
      ['POST', '/members/remove', { members: [member.id] }],
      ['PUT', `/members/${stranger.id}`],
      ['DELETE', `/members/${member.id}`],
    ] as const)
      expect([method, path, (await call(method, `/${id}${path}`, body, foreign)).status]).toEqual([
        method,
        path,
        404,
      ]);
    expect(await listNames()).toEqual(['Engineering']);
  });

  test('adds and removes a thousand at once, and no more', async () => {
    const members = await insertMembers(1_001);
    expect((await call('POST', `/${id}/members`, { members })).status).toBe(400);
    expect((await call('POST', `/${id}/members`, { members: members.slice(1) })).body.changedCount).toBe(
      1_000,
    );
    expect((await call('GET', `/${id}`)).body.group.memberCount).toBe(1_000);
    expect(
      (await call('POST', `/${id}/members/remove`, { members: members.slice(1) })).body.changedCount,
    ).toBe(1_000);
  });

  test('a member is in at most 200 groups, also when two administrators add them at once', async () => {
    await identity.db.query(
      `with inserted as (
         insert into groups (id, org_id, name, name_key, source, created_at)
         select gen_random_uuid(), $1, 'g' || n, 'g' || n, 'manual', now() from generate_series(1, 199) n returning id
       ) insert into group_members select id, $2, now() from inserted`,
      [orgId, member.id],
    );
    const other = await create('Legal');
    const answers = await Promise.all(
      [id, other].map((group) => call('PUT', `/${group}/members/${member.id}`)),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400]);
    expect(answers.find(({ status }) => status === 400)?.body.error.details[0].message).toContain(
      '200 groups',
    );
    expect(await getOwn(member.session)).toHaveLength(200);
  });

  test('a removed member is in no list, and whoever is added while they are removed is not either', async () => {
    const people = await Promise.all([1, 2, 3, 4].map(() => identity.createMember(session)));
    await Promise.all(
      people.flatMap((person) => [
        call('PUT', `/${id}/members/${person.id}`),
        identity.call('DELETE', `/api/v1/users/${person.id}`, { token: session }),
      ]),
    );
    expect((await call('GET', `/${id}`)).body.group.memberCount).toBe(0);
    expect((await call('GET', `/${id}/members`)).body).toMatchObject({ data: [], pagination: { total: 0 } });
  });

  test('members neither see nor change groups, and a token needs the scopes', async () => {
    for (const [method, path, body] of [
      ['GET', ''],
      ['POST', '', { name: 'Mine' }],
      ['PUT', `/${id}/members/${member.id}`],
    ] as const) {
      expect((await call(method, path, body, member.session)).status).toBe(403);
      const { accessToken } = await identity.createToken(session, { scopes: ['kb:read'] });
      expect((await call(method, path, body, accessToken)).status).toBe(403);
      expect((await identity.call(method, PATH + path)).status).toBe(401);
    }
    const { accessToken } = await identity.createToken(session, { scopes: ['user:write'] });
    expect((await call('PUT', `/${id}/members/${member.id}`, undefined, accessToken)).status).toBe(200);
  });
});
