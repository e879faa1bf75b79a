import { randomUUID } from 'node:crypto';
import { toGroupClaims } from '../../../src/mcp/servers/person-claims.js';
import { createAgent, useMounts } from './platform.js';
import { type Seen, startStateful } from './stateful-server.js';

/* What the assertion says of the person who calls, where an administrator has chosen that. */

const site = await useMounts();
const { identity, session, mounts } = site;
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Claims {
  readonly sub: string;
  readonly email?: string;
  readonly groups?: readonly string[];
}

// `egress.test.ts` verifies the signature of the same assertions.
const decode = (authorization: string | undefined): Claims =>
  JSON.parse(Buffer.from((authorization ?? '').split('.')[1] ?? '', 'base64url').toString()) as Claims;

/** Returns what the server has learned with each request for a method. */
const received = (method = 'tools/call'): Claims[] =>
  site.upstream.received
    .filter(({ message }) => message.method === method)
    .map(({ headers }) => decode(headers.authorization));

const post = (path: string, body: object) => identity.call('POST', path, { token: session, body });
const call = (method: string, path: string) => identity.call(method, path, { token: session });
async function createGroup(name: string, fields: object = {}): Promise<string> {
  return (await post('/api/v1/groups', { name, ...fields })).body.group.id as string;
}
const unique = (name: string): string => `${name} ${randomUUID()}`;

async function createPerson() {
  const { id, session: own } = await identity.createMember(session);
  const { body } = await identity.call('GET', '/api/v1/users/me', { token: own });
  return { id, email: body.user.email as string, agent: createAgent(identity, own) };
}

const mount = (claims?: readonly string[], groupValues?: string) => {
  const credential = { kind: 'assertion', ...(claims && { claims }), ...(groupValues && { groupValues }) };
  return mounts.mountInEffect(site.upstream.url, { search: 'kb:read' }, { credential });
};

test('MCP-39 an assertion names neither address nor groups until an administrator chooses so', async () => {
  const id = await mount();
  const [one, other] = [await createPerson(), await createPerson()];
  const [board, staff] = [unique('Board'), unique('Staff')];
  for (const [name, members] of [[board, [one]], [staff, [one, other]]] as const) {
    const group = await createGroup(name);
    await post(`/api/v1/groups/${group}/members`, { members: members.map(({ id: member }) => member) });
  }
  await one.agent.getText();
  expect((await mounts.get(id)).credential).toMatchObject({ kind: 'assertion', header: null, claims: [], groupValues: null });
  const credential = { kind: 'assertion', claims: ['groups', 'email'] };
  expect((await mounts.call('PATCH', `/${id}`, { credential })).body.server.credential).toMatchObject({
    kind: 'assertion', header: null, claims: ['groups', 'email'], groupValues: 'name',
  });
  for (const { agent } of [one, other]) expect(await agent.getText()).toBe('found a');
  const [without, ...chosen] = received();
  expect(Object.keys(without ?? {}).toSorted()).toEqual(['aud', 'exp', 'iat', 'iss', 'jti', 'org', 'scope', 'sub']);
  expect(chosen).toMatchObject([
    { sub: one.id, email: one.email, email_verified: false, groups: [board, staff].toSorted() },
    { sub: other.id, email: other.email, email_verified: false, groups: [staff] },
  ]);
  // Nobody in particular asks for the list.
  await mounts.refresh(id);
  for (const claims of received('tools/list')) for (const name of ['email', 'groups']) expect(claims).not.toHaveProperty(name);
  const { rows } = await identity.db.query<{ changes: object }>(
    `select changes from audit_entries where action = 'mcp_server.changed' and subject_id = $1`, [id],
  );
  expect(rows).toEqual([{ changes: { claims: { from: null, to: 'groups, email' }, groupValues: { from: null, to: 'name' } } }]);
}); // oxfmt-ignore

test('MCP-39 the address is vouched for by the provider of a linked member alone', async () => {
  await mount(['email']);
  const { id, agent } = await createPerson();
  await identity.db.query(
    `insert into provider_links (user_id, org_id, issuer, subject, created_at) values ($1, $2, 'https://idp.example.com', 'a', now())`,
    [id, identity.orgId],
  );
  await agent.getText();
  const [claims] = received();
  expect(claims).toMatchObject({ email_verified: true });
  expect(claims).not.toHaveProperty('groups');
});

test('MCP-39 groups go by their external ids where the mount says so, and those without one are left out', async () => {
  await mount(['groups'], 'externalId');
  const { id, agent } = await createPerson();
  const externalId = unique('id');
  const known = await createGroup(unique('Known'), { externalId });
  for (const group of [known, await createGroup(unique('Unknown'))])
    await call('PUT', `/api/v1/groups/${group}/members/${id}`);
  await agent.getText();
  expect(received()).toMatchObject([{ sub: id, groups: [externalId] }]);
  expect(received()[0]).not.toHaveProperty('email');
});

test('GRP-6 MCP-39 a service account calls the tools of its groups, and the server learns of its groups and no address', async () => {
  const server = await mount(['email', 'groups']);
  const [robots, board] = [unique('Robots'), unique('Board')];
  const [ownGroup, other] = [await createGroup(robots), await createGroup(board)];
  const { body } = await post('/api/v1/service-accounts', { name: unique('Robot'), role: 'member' });
  const { id } = body.serviceAccount as { id: string };
  await call('PUT', `/api/v1/groups/${ownGroup}/members/${id}`);
  const created = await post(`/api/v1/service-accounts/${id}/tokens`, { name: 'agent', scopes: ['kb:read'] });
  const agent = createAgent(identity, created.body.token.accessToken as string);
  await mounts.decide(server, [{ name: 'search', allowedGroups: [ownGroup] }]);
  expect(await agent.listNames()).toContain('wiki__search');
  expect(await agent.getText()).toBe('found a');
  const [claims] = received();
  expect(claims).toMatchObject({ sub: id, groups: [robots] });
  for (const name of ['email', 'email_verified']) expect(claims).not.toHaveProperty(name);
  await mounts.decide(server, [{ name: 'search', allowedGroups: [other] }]);
  expect(await agent.listNames()).not.toContain('wiki__search');
  expect((await agent.call('wiki__search', { query: 'a' })).error.message).toBe('Unknown tool: wiki__search');
});

test.each([
  { kind: 'assertion', claims: ['name'] },
  { kind: 'assertion', claims: ['email', 'groups', 'email'] },
  { kind: 'assertion', claims: ['groups'], groupValues: 'id' },
  { kind: 'none', claims: ['email'] },
  { kind: 'secret', value: 'a', claims: ['email'] },
])(
  'MCP-39 rejects claims that there are not, or that the credential cannot carry: %j',
  async (credential) => {
    const { status } = await mounts.call('POST', '', { name: 'wiki', url: site.upstream.url, credential });
    expect(status).toBe(400);
  },
);

test('MCP-41 more groups than fit are left out, and the assertion says so', async () => {
  const names = (count: number, length: number) =>
    Array.from({ length: count }, (_, index) => String(index).padEnd(length, 'x'));
  expect(toGroupClaims(names(200, 20))).toEqual({ groups: names(200, 20) });
  expect(toGroupClaims(names(201, 3))).toEqual({ groups_overage: true });
  expect(toGroupClaims(names(100, 100))).toEqual({ groups_overage: true });
  await mount(['email', 'groups']);
  const { id, email, agent } = await createPerson();
  await identity.db.query(
    `with created as (
       insert into groups (id, org_id, name, name_key, source, created_at)
       select gen_random_uuid(), $1, name, name, 'manual', now() from unnest($2::text[]) as name returning id
     )
     insert into group_members (group_id, member_id, added_at) select id, $3, now() from created`,
    [identity.orgId, names(90, 100), id],
  );
  await agent.getText();
  expect(received()).toMatchObject([{ email, groups_overage: true }]);
  expect(received()[0]).not.toHaveProperty('groups');
});

test('MCP-40 a change of membership is in force with the next call', async () => {
  await mount(['groups']);
  const { id, agent } = await createPerson();
  const name = unique('Board');
  const group = await createGroup(name);
  const renamed = unique('Old board');
  for (const [method, path, body] of [
    ['PUT', `/members/${id}`], ['DELETE', `/members/${id}`], ['PUT', `/members/${id}`], ['PATCH', '', { name: renamed }], ['DELETE', ''],
  ] as const) {
    await identity.call(method, `/api/v1/groups/${group}${path}`, { token: session, ...(body && { body }) });
    await agent.getText();
  }
  expect(received().map(({ groups }) => groups)).toEqual([[name], [], [name], [renamed], []]);
}); // oxfmt-ignore

test('MCP-40 a session of a server is never used for two people, nor once the groups of its person have changed', async () => {
  const server = await startStateful(({ authorization }) => decode(authorization));
  closing.push(server.close);
  const credential = { kind: 'assertion', claims: ['email', 'groups'] };
  await mounts.mountInEffect(server.url, { search: 'kb:read' }, { credential });
  const people = await Promise.all(Array.from({ length: 4 }, createPerson));
  const name = unique('Board');
  const group = await createGroup(name);
  const members = new Set<string>();
  const before = server.countSessions();
  for (let round = 0; round < 6; round += 1) {
    const moved = people[round % people.length];
    if (!moved) continue;
    const isMember = members.delete(moved.id) || !members.add(moved.id);
    await call(isMember ? 'DELETE' : 'PUT', `/api/v1/groups/${group}/members/${moved.id}`);
    const answers = await Promise.all(
      [...people, ...people].map(async ({ agent }) => JSON.parse(await agent.getText()) as Seen<Claims>),
    );
    for (const [index, { begun, caller }] of answers.entries()) {
      const { id, email } = people[index % people.length] ?? {};
      const expected = { sub: id, email, groups: members.has(id ?? '') ? [name] : [] };
      expect(caller).toMatchObject(expected);
      expect(begun).toMatchObject(expected);
    }
  }
  // Two states of each person, of whom two have changed twice: sessions were kept, and not one was begun for each call.
  expect(server.countSessions() - before).toBeLessThanOrEqual(8);
}); // oxfmt-ignore
