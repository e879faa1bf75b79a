import { createHttpBrowser } from '../../browser.js';
import { beginSignIn, comeBack, SETTINGS, signIn } from './flow.js';
import { type Person, useProvider } from './use-provider.js';

const provider = useProvider();
const { createMember, createPerson } = provider;

beforeEach(async () => {
  await provider.save({ justInTimeMembership: true });
});

/** Signs the person in with these claims. @returns the names of the groups, with `*` behind those of the provider. */
async function signInWith({ subject, email }: Person, claims: object): Promise<string[]> {
  provider.foreign.people.set(subject, { email, email_verified: true, name: 'Grace Hopper', ...claims });
  const { browser, answer } = await signIn(provider.identity.url, provider.foreign, { subject, email });
  expect(answer.status).toBe(303);
  const { body } = await browser.call('GET', '/api/v1/users/me');
  return (body.groups as { name: string; source: string }[]).map(
    ({ name, source }) => name + (source === 'provider' ? '*' : ''),
  );
}
const call = (method: string, path: string, body?: object) =>
  provider.identity.call(method, path, { token: provider.session, ...(body && { body }) });
async function createGroup(name: string): Promise<string> {
  const { status, body } = await call('POST', '/api/v1/groups', { name });
  expect(status).toBe(201);
  return body.group.id as string;
}
const findGroup = async (name: string, source: string) =>
  (
    (await call('GET', `/api/v1/groups?q=${name}`)).body.data as {
      id: string;
      source: string;
      externalId: string;
    }[]
  ).find((group) => group.source === source);
const getKept = async () => (await call('GET', SETTINGS)).body.groupsKept;

test('GRP-4 each sign-in replaces the groups from the provider, also at the first, and never the others', async () => {
  const member = await createMember();
  const manual = await createGroup('Engineering');
  await call('PUT', `/api/v1/groups/${manual}/members/${member.id}`);
  expect(await signInWith(member, { groups: ['Engineering', 'Legal'] })).toEqual([
    'Engineering',
    'Engineering*',
    'Legal*',
  ]);
  expect(await signInWith(member, { groups: ['legal', 'Sales', 'SALES'] })).toEqual([
    'Engineering',
    'Legal*',
    'Sales*',
  ]);
  const legal = await findGroup('Legal', 'provider');
  expect(legal).toMatchObject({ externalId: 'Legal', source: 'provider' });
  expect(await signInWith(createPerson(), { groups: ['Legal'] })).toEqual(['Legal*']);
  expect(await signInWith(member, { groups: [] })).toEqual(['Engineering']);
  const { rows } = await provider.identity.db.query<{ action: string; reason: string; name: string }>(
    `select action, reason, detail ->> 'group' as name from audit_entries
     where subject_id = $1 and actor_id = $1 and action like 'group.%' order by id`,
    [member.id],
  );
  expect(rows.map(({ action, reason, name }) => `${reason} ${action} ${name}`).toSorted()).toEqual([
    'provider group.member_added Engineering',
    'provider group.member_added Legal',
    'provider group.member_added Sales',
    'provider group.member_removed Engineering',
    'provider group.member_removed Legal',
    'provider group.member_removed Sales',
  ]);
});

test('GRP-4 administrators neither rename a group of the provider nor choose its members, but can remove it', async () => {
  const member = await createMember();
  await signInWith(member, { groups: ['Auditors'] });
  const { id = '' } = (await findGroup('Auditors', 'provider')) ?? {};
  for (const [method, path, body] of [
    ['PATCH', '', { name: 'Mine' }],
    ['PUT', `/members/${member.id}`],
    ['DELETE', `/members/${member.id}`],
    ['POST', '/members', { members: [member.id] }],
  ] as const) {
    const { status, body: answer } = await call(method, `/api/v1/groups/${id}${path}`, body);
    expect([path, status, answer.error.code]).toEqual([path, 409, 'MANAGED_BY_PROVIDER']);
  }
  expect((await call('DELETE', `/api/v1/groups/${id}`)).status).toBe(200);
  expect(await signInWith(member, { groups: ['Auditors'] })).toEqual(['Auditors*']);
});

test.each<[string, object, string]>([
  ['overage of Entra ID', { _claim_names: { groups: 'src1' }, _claim_sources: { src1: {} } }, 'overage'],
  ['overage of the implicit flow', { hasgroups: true }, 'overage'],
  ['no claim', {}, 'absent'],
  ['null', { groups: null }, 'absent'],
  ['an object', { groups: { Engineering: true } }, 'absent'],
  ['201 groups', { groups: Array.from({ length: 201 }, (_, index) => `G${index}`) }, 'too_many_memberships'],
])('GRP-5 %s keeps the groups, and tells administrators', async (_what, claims, reason) => {
  const member = await createMember();
  expect(await getKept()).toBeNull();
  await signInWith(member, { groups: ['Engineering'] });
  expect(await getKept()).toBeNull();
  expect(await signInWith(member, claims)).toEqual(['Engineering*']);
  expect(await getKept()).toEqual({ reason, userId: member.id, at: expect.stringMatching(/Z$/) });
  expect((await provider.save({ justInTimeMembership: true })).status).toBe(200);
  expect(await getKept()).toBeNull();
});

test('GRP-5 a provider that has never stated groups is not reported', async () => {
  expect(await signInWith(await createMember(), {})).toEqual([]);
  expect(await getKept()).toBeNull();
});

test('GRP-5 names that could not be shown are left out, and one name stands for a list', async () => {
  const member = await createMember();
  const odd = ['ok', '', 'two\nlines', 'a'.repeat(201), 7, null, { name: 'x' }, '\u202egnp'];
  expect(await signInWith(member, { groups: odd })).toEqual(['ok*']);
  expect(await signInWith(member, { groups: 'Only' })).toEqual(['Only*']);
});

test('GRP-4 the claim is the one of the settings; null reads none', async () => {
  const member = await createMember();
  await provider.save({ groupsClaim: 'https://acme.example/teams' });
  expect(await signInWith(member, { groups: ['No'], 'https://acme.example/teams': ['Yes'] })).toEqual([
    'Yes*',
  ]);
  await provider.save({ groupsClaim: null });
  expect(await signInWith(member, { groups: ['No'], 'https://acme.example/teams': [] })).toEqual(['Yes*']);
});

test('GRP-5 new groups beyond 5,000 are left out, and the person is signed in', async () => {
  const { orgId, db } = provider.identity;
  const { rows } = await db.query<{ n: number }>('select count(*)::int as n from groups where org_id = $1', [
    orgId,
  ]);
  await db.query(
    `insert into groups (id, org_id, name, name_key, source, created_at)
     select gen_random_uuid(), $1, 'filler ' || n, 'filler ' || n, 'manual', now() from generate_series(1, $2::int) n`,
    [orgId, 4_999 - (rows[0]?.n ?? 0)],
  );
  const member = await createMember();
  expect(await signInWith(member, { groups: ['Fits', 'Fits not'] })).toEqual(['Fits*']);
  expect(await getKept()).toMatchObject({ reason: 'too_many_groups', userId: member.id });
  await db.query(`delete from groups where name like 'filler %'`);
});

test('GRP-4 people who sign in at once with the same new groups all get them', async () => {
  const groups = ['Together 1', 'Together 2', 'Together 3'];
  const people = [
    ...(await Promise.all([1, 2].map(() => createMember()))),
    // At their first sign-in, they are made members as well.
    ...[1, 2].map(() => createPerson()),
  ];
  const answers: (() => Promise<unknown>)[] = [];
  for (const [index, { subject, email }] of people.entries()) {
    const ordered = index % 2 === 0 ? groups : groups.toReversed();
    provider.foreign.people.set(subject, { email, email_verified: true, name: 'Grace', groups: ordered });
    const browser = createHttpBrowser(provider.identity.url);
    const begun = await beginSignIn(browser, email);
    provider.foreign.signsIn = { subject };
    const answer = await provider.foreign.authorize(begun.url);
    answers.push(async () => {
      expect((await comeBack(browser, answer)).status).toBe(303);
      return (await browser.call('GET', '/api/v1/users/me')).body.groups.length as number;
    });
  }
  expect(await Promise.all(answers.map((comesBack) => comesBack()))).toEqual(people.map(() => 3));
  expect((await call('GET', '/api/v1/groups?q=together')).body.pagination.total).toBe(3);
});

test('GRP-4 a member who is disconnected, and everybody when the provider is removed, is in none of its groups', async () => {
  const [one, other] = [await createMember(), await createMember()];
  for (const member of [one, other]) await signInWith(member, { groups: ['Board'] });
  const { id = '' } = (await findGroup('Board', 'provider')) ?? {};
  const count = async () => (await call('GET', `/api/v1/groups/${id}`)).body.group.memberCount as number;
  expect(await count()).toBe(2);
  expect((await call('DELETE', `/api/v1/users/${one.id}/identity-provider`)).status).toBe(200);
  expect(await count()).toBe(1);
  expect((await call('DELETE', SETTINGS)).status).toBe(200);
  expect(await count()).toBe(0);
});
