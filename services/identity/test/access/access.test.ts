import { createAgent, useMounts } from '../mcp/servers/platform.js';
import { saveTool, searchTool, textResult } from '../mcp/servers/upstream.js';

/* The OpenID AuthZEN Authorization API 1.0. */

const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';
const TOKENS = '/api/v1/personal-access-tokens';
const CRAWL_SCOPES = ['crawl:read', 'crawl:write', 'crawl:delete', 'crawl:work'];

const platform = await useMounts();
const { identity, session, mounts } = platform;

interface Entity {
  readonly type: string;
  readonly id: string;
}
let count = 0;
const adminId = (await identity.call('GET', '/api/v1/users/me', { token: session })).body.user.id as string;

const ask = (path: string, body: object, token = session) =>
  identity.call('POST', `/access/v1/${path}`, { token, body });
const toTool = (id: string): Entity => ({ type: 'tool', id });
const evaluate = async (subject: Entity, name: string, resource: Entity, token?: string) => {
  const { status, body } = await ask('evaluation', { subject, action: { name }, resource }, token);
  return [status, body.decision, body.context?.reason] as const;
};
async function makeToken(scopes: readonly string[], bounds?: object, by = session) {
  const body = { name: 'subject', scopes, ...(bounds && { bounds }) };
  const created = await identity.call('POST', TOKENS, { token: by, body });
  if (created.status !== 201) throw new Error(created.text);
  return created.body.token as { id: string; accessToken: string };
}
async function createGroup(...members: string[]): Promise<string> {
  const body = { name: `Access ${++count}` };
  const { id } = (await identity.call('POST', '/api/v1/groups', { token: session, body })).body.group;
  if (members.length > 0)
    await identity.call('POST', `/api/v1/groups/${id}/members`, { token: session, body: { members } });
  return id as string;
}
/** Follows the pages of a search to its end. */
async function search<T = Entity>(path: string, body: object, limit = 100): Promise<T[]> {
  const found: T[] = [];
  let token = '';
  do {
    const answer = await ask(`search/${path}`, { ...body, page: { limit, ...(token && { token }) } });
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    expect(answer.body.results.length).toBeLessThanOrEqual(limit);
    expect(answer.body.page.count).toBe(answer.body.results.length);
    found.push(...answer.body.results);
    token = answer.body.page.next_token as string;
  } while (token !== '');
  return found;
}

beforeEach(async () => {
  platform.upstream.tools = [searchTool, saveTool];
  platform.upstream.call = () => textResult('found');
  await mounts.mountInEffect(platform.upstream.url, { search: 'kb:read', save: 'semantic:write' });
});

test('AUTH-62 says where decisions are asked for', async () => {
  const { status, body } = await identity.call('GET', '/.well-known/authzen-configuration');
  const pdp = body.policy_decision_point as string;
  expect([status, body]).toEqual([
    200,
    {
      policy_decision_point: expect.stringMatching(/^https?:\/\/[^/]+$/),
      access_evaluation_endpoint: `${pdp}/access/v1/evaluation`,
      access_evaluations_endpoint: `${pdp}/access/v1/evaluations`,
      search_subject_endpoint: `${pdp}/access/v1/search/subject`,
      search_resource_endpoint: `${pdp}/access/v1/search/resource`,
      search_action_endpoint: `${pdp}/access/v1/search/action`,
    },
  ]);
});

test('AUTH-62 a decision says why: scope, bound, group, role, session, what is unknown and what has ended', async () => {
  const member = await identity.createMember(session);
  const user = { type: 'user', id: member.id };
  const token = await makeToken(['user:read'], undefined, member.session);
  const bound = await makeToken(['kb:read', 'crawl:read'], { tools: ['whoami'], connectors: ['code_1'] });
  const [byToken, byBound] = [token, bound].map(({ id }) => ({ type: 'token', id })) as [Entity, Entity];
  const wiki = toTool('wiki__search');
  expect(await evaluate(user, 'kb:read', wiki)).toEqual([200, true, 'permitted']);
  expect(await evaluate(user, 'kb:read', { type: 'server', id: 'wiki' })).toEqual([200, true, 'permitted']);
  expect(await evaluate(user, 'semantic:write', wiki)).toEqual([200, false, 'unknown_action']);
  expect(await evaluate(user, 'kb:read', toTool('wiki__nothing'))).toEqual([200, false, 'unknown_resource']);
  expect(await evaluate(user, 'kb:read', { type: 'page', id: 'a' })).toEqual([
    200,
    false,
    'unknown_resource',
  ]);
  expect(await evaluate(user, 'pat:write', toTool('rotate_my_token'))).toEqual([200, false, 'session']);
  expect(await evaluate(byToken, 'kb:read', wiki)).toEqual([200, false, 'scope']);
  expect(await evaluate(byToken, 'user:read', toTool('whoami'))).toEqual([200, true, 'permitted']);
  expect(await evaluate(byBound, 'kb:read', wiki)).toEqual([200, false, 'bound']);
  const code = { type: 'connector', id: 'code_1' };
  expect(await evaluate(byBound, 'crawl:read', code)).toEqual([200, true, 'permitted']);
  expect(await evaluate(byBound, 'crawl:write', code)).toEqual([200, false, 'scope']);
  expect(await evaluate(byBound, 'crawl:read', { ...code, id: 'wiki_1' })).toEqual([200, false, 'bound']);
  expect(await evaluate(byBound, 'kb:read', code)).toEqual([200, false, 'unknown_action']);
  expect(await evaluate(user, 'crawl:read', code)).toEqual([200, false, 'role']);
  const { data } = (await mounts.call('GET')).body;
  await mounts.decide(data[0].id as string, [{ name: 'search', allowedGroups: [await createGroup()] }]);
  expect(await evaluate(user, 'kb:read', wiki)).toEqual([200, false, 'group']);
  // To the member the tool does not exist, as at the tool endpoint.
  for (const action of ['kb:read', 'semantic:write'])
    expect(await evaluate(user, action, wiki, member.session)).toEqual([200, false, 'unknown_resource']);
  await identity.call('DELETE', `${TOKENS}/${bound.id}`, { token: session });
  expect(await evaluate(byBound, 'crawl:read', code)).toEqual([200, false, 'inactive']);
  await identity.call('DELETE', `/api/v1/users/${member.id}`, { token: session });
  expect(await evaluate(user, 'semantic:write', toTool('wiki__save'))).toEqual([200, false, 'inactive']);
  for (const subject of [
    { type: 'user', id: UNKNOWN_ID },
    { type: 'user', id: 'nobody' },
    { type: 'robot', id: adminId },
    { type: 'token', id: adminId },
  ])
    expect(await evaluate(subject, 'kb:read', wiki)).toEqual([200, false, 'unknown_subject']);
});

test('AUTH-62 a scope that the policy denies is refused as that', async () => {
  const { orgId: _orgId, session: other } = await identity.createOrganisation(
    `policy-${++count}@example.com`,
  );
  const token = await makeToken(['user:read'], undefined, other);
  const policy = {
    allowList: [],
    maxLifetimeDays: null,
    allowsNever: true,
    deniedScopes: ['user:read'],
    revokeFamilyOnReuse: false,
    revokeUnusedDays: null,
  };
  const saved = await identity.call('PUT', '/api/v1/organisation/token-policy', {
    token: other,
    body: policy,
  });
  expect(saved.status).toBe(200);
  const subject = { type: 'token', id: token.id };
  expect(await evaluate(subject, 'user:read', toTool('whoami'), other)).toEqual([200, false, 'policy']);
});

test('AUTH-63 administrators ask with a session or access:read, and everybody about their own account', async () => {
  const member = await identity.createMember(session);
  const own = { type: 'user', id: member.id };
  const reader = await makeToken(['access:read']);
  const plain = await makeToken(['kb:read']);
  const wiki = toTool('wiki__search');
  for (const [subject, token, status] of [
    [own, reader.accessToken, 200],
    [own, plain.accessToken, 403],
    [own, member.session, 200],
    [{ type: 'user', id: adminId }, plain.accessToken, 200],
    [{ type: 'token', id: plain.id }, plain.accessToken, 200],
    [{ type: 'user', id: adminId }, member.session, 403],
    [{ type: 'user', id: UNKNOWN_ID }, member.session, 403],
  ] as const) {
    expect([subject, (await evaluate(subject, 'kb:read', wiki, token))[0]]).toEqual([subject, status]);
    const searched = await ask(
      'search/resource',
      { subject, action: { name: 'kb:read' }, resource: { type: 'tool' } },
      token,
    );
    expect([subject, searched.status]).toEqual([subject, status]);
  }
  const who = { subject: { type: 'user' }, action: { name: 'kb:read' }, resource: wiki };
  expect((await ask('search/subject', who, reader.accessToken)).status).toBe(200);
  for (const token of [plain.accessToken, member.session])
    expect((await ask('search/subject', who, token)).status).toBe(403);
  const both = {
    action: { name: 'kb:read' },
    resource: wiki,
    evaluations: [{ subject: own }, { subject: { type: 'user', id: adminId } }],
  };
  expect((await ask('evaluations', both, member.session)).status).toBe(403);
  // A member cannot make such a token, nor can an administrator of another organisation see anybody here.
  const refused = await identity.call('POST', TOKENS, {
    token: member.session,
    body: { name: 'a', scopes: ['access:read'] },
  });
  expect(refused.status).toBe(400);
  const foreign = await identity.createOrganisation(`access-${++count}@example.com`);
  expect(await evaluate(own, 'kb:read', wiki, foreign.session)).toEqual([200, false, 'unknown_subject']);
  const found = (await ask('search/subject', who, foreign.session)).body.results;
  expect(found).toEqual([]);
});

test('AUTH-62 many evaluations have defaults, an order and a semantic', async () => {
  const token = await makeToken(['kb:read']);
  const body = {
    subject: { type: 'token', id: token.id },
    action: { name: 'kb:read' },
    context: { time: '2026-01-11T00:00:00Z' },
    evaluations: [
      { resource: toTool('wiki__search') },
      { resource: toTool('wiki__save'), action: { name: 'semantic:write' } },
      { resource: toTool('wiki__search'), subject: { type: 'user', id: adminId } },
    ],
  };
  const decisions = async (semantic?: string) => {
    const options = semantic && { evaluations_semantic: semantic };
    const answer = await ask('evaluations', { ...body, ...(options && { options }) });
    return answer.body.evaluations?.map(({ decision }: { decision: boolean }) => decision);
  };
  expect(await decisions()).toEqual([true, false, true]);
  expect(await decisions('execute_all')).toEqual([true, false, true]);
  expect(await decisions('deny_on_first_deny')).toEqual([true, false]);
  expect(await decisions('permit_on_first_permit')).toEqual([true]);
  expect((await ask('evaluations', { ...body, options: { evaluations_semantic: 'any' } })).status).toBe(400);
  const single = await ask('evaluations', { ...body, evaluations: [], resource: toTool('wiki__search') });
  expect([single.status, single.body.decision]).toEqual([200, true]);
  const { status, body: incomplete } = await ask('evaluations', { ...body, subject: undefined });
  expect([status, incomplete.evaluations[0]]).toMatchObject([
    200,
    { decision: false, context: { reason: 'incomplete' } },
  ]);
  expect((await ask('evaluation', { subject: { type: 'user' }, action: {}, resource: {} })).status).toBe(400);
});

test('AUTH-64 searches have pages, and reject a token of none', async () => {
  const who = { subject: { type: 'user' }, action: { name: 'kb:read' }, resource: toTool('wiki__search') };
  const member = await identity.createMember(session);
  const all = await search('subject', who);
  expect(all).toContainEqual({ type: 'user', id: member.id });
  expect(await search('subject', who, 1)).toEqual(all);
  const subject = { type: 'user', id: adminId };
  const what = { subject, action: { name: 'kb:read' }, resource: { type: 'tool' } };
  expect(await search('resource', what, 1)).toEqual([toTool('wiki__search')]);
  expect(
    await search('resource', { ...what, action: { name: 'crawl:read' }, resource: { type: 'connector' } }, 5),
  ).toHaveLength(18);
  expect(await search('action', { subject, resource: { type: 'connector', id: 'code_1' } }, 3)).toEqual(
    CRAWL_SCOPES.toSorted().map((name) => ({ name })),
  );
  for (const token of ['x', Buffer.from('nobody').toString('base64url')])
    expect((await ask('search/subject', { ...who, page: { token } })).status).toBe(400);
});

/** A small generator of reproducible numbers. */
function createRandom(seed: number) {
  let state = seed;
  const next = (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  return { next, some: <T>(items: readonly T[]): T[] => items.filter(() => next(2) === 0) };
}

/* Random groups, limits, scopes and bounds: what is said, what is found, and what happens is the same. */
test.each([1, 2, 3])(
  'AUTH-64 searches, evaluations and what happens at the tool endpoint agree (%i)',
  async (seed) => {
    const { next, some } = createRandom(seed);
    const names = ['search', 'save', 'ask', 'list'];
    platform.upstream.tools = names.map((name) => ({ ...searchTool, name }));
    const scopes = Object.fromEntries(
      names.map((name, index) => [name, index % 2 ? 'semantic:write' : 'kb:read']),
    );
    const serverIds = new Map<string, string>();
    for (const server of ['one', 'two'])
      serverIds.set(server, await mounts.mountInEffect(platform.upstream.url, scopes, { name: server }));
    const people = [];
    for (let index = 0; index < 4; index += 1) people.push(await identity.createMember(session));
    const groups = [];
    for (let index = 0; index < 3; index += 1)
      groups.push(await createGroup(...some(people).map(({ id }) => id)));
    const tools = [...serverIds.keys()].flatMap((server) => names.map((name) => `${server}__${name}`));
    const mine = new Map<Entity, string>();
    for (const person of people) {
      mine.set({ type: 'user', id: person.id }, person.session);
      for (let index = 0; index < 2; index += 1) {
        const wanted = some(['kb:read', 'semantic:write', 'user:read', 'pat:read', 'pat:write']);
        const bounds = {
          ...(next(2) === 0 && { servers: some([...serverIds.keys()]) }),
          ...(next(2) === 0 && { tools: some([...tools, 'whoami', 'list_my_tokens']) }),
        };
        const token = await makeToken(
          wanted.length > 0 ? wanted : ['kb:read'],
          Object.keys(bounds).length > 0 ? bounds : undefined,
          person.session,
        );
        mine.set({ type: 'token', id: token.id }, token.accessToken);
      }
    }
    for (const role of ['admin', 'member']) {
      const post = (path: string, body: object) =>
        identity.call('POST', `/api/v1/service-accounts${path}`, { token: session, body });
      const { id } = (await post('', { name: `Account ${++count}`, role })).body.serviceAccount;
      const holdable = ['user:read', ...(role === 'admin' ? CRAWL_SCOPES : [])];
      const { accessToken } = (await post(`/${id}/tokens`, { name: 'all', scopes: holdable })).body.token;
      mine.set({ type: 'service_account', id }, accessToken);
    }
    for (const server of serverIds.values()) {
      if (next(2) === 0) await mounts.call('PATCH', `/${server}`, { allowedGroups: some(groups) });
      for (const name of some(names)) await mounts.decide(server, [{ name, allowedGroups: some(groups) }]);
    }
    const all = [
      ...tools.map((name) => ({ name, scope: scopes[name.split('__')[1] ?? ''] ?? '' })),
      { name: 'whoami', scope: 'user:read' },
      { name: 'list_my_tokens', scope: 'pat:read' },
      { name: 'rotate_my_token', scope: 'pat:write' },
    ];
    const happens = new Map<Entity, Set<string>>();
    for (const [subject, credential] of mine) {
      const agent = createAgent(identity, credential);
      const listed = new Set(await agent.listNames());
      happens.set(subject, listed);
      // A call is refused exactly where the list lacks the tool.
      const { name } = all[next(tools.length)] ?? { name: '' };
      const answer = await agent.call(name, { query: 'a' });
      const isRefused = answer.error !== undefined || answer.result?.isError === true;
      expect([subject, name, isRefused]).toEqual([subject, name, !listed.has(name)]);
    }
    const evaluations = [...mine.keys()].flatMap((subject) =>
      all.map(({ name, scope }) => ({ subject, action: { name: scope }, resource: toTool(name) })),
    );
    const decided = (await ask('evaluations', { evaluations })).body.evaluations as { decision: boolean }[];
    expect(decided).toHaveLength(evaluations.length);
    for (const [index, { subject, resource }] of evaluations.entries())
      expect([subject, resource.id, decided[index]?.decision]).toEqual([
        subject,
        resource.id,
        happens.get(subject)?.has(resource.id),
      ]);
    for (const scope of ['kb:read', 'semantic:write'])
      for (const [subject, listed] of happens) {
        const found = await search(
          'resource',
          { subject, action: { name: scope }, resource: { type: 'tool' } },
          3,
        );
        const ofScope = new Set(all.filter((tool) => tool.scope === scope).map(({ name }) => name));
        expect(found.map(({ id }) => id).filter((id) => ofScope.has(id))).toEqual(
          [...listed].filter((name) => ofScope.has(name)).toSorted(),
        );
      }
    for (const { name, scope } of all)
      for (const type of ['user', 'token', 'service_account']) {
        const found = await search(
          'subject',
          { subject: { type }, action: { name: scope }, resource: toTool(name) },
          7,
        );
        const ids = new Set(found.map(({ id }) => id));
        for (const [subject, listed] of [...happens].filter(([one]) => one.type === type))
          expect([subject, name, ids.has(subject.id)]).toEqual([subject, name, listed.has(name)]);
      }
  },
);
