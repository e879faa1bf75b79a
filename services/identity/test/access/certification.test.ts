import { randomUUID } from 'node:crypto';
import { useMounts } from '../mcp/servers/platform.js';
import { saveTool, searchTool } from '../mcp/servers/upstream.js';

/*
 * GRP-10: the certification scenario of the OpenID AuthZEN working group (openid/authzen, certification/authorization-api-1_0-scenario),
 * with its numbers, at the levels Basic Core, Batch Core, Search Core and Discovery. Its fixture in terms of the platform: alice and
 * bob are members, `record-1` is a mounted server, `read` and `write` are the scopes of its tools, and only alice is in the group of the
 * tool that writes.
 */

const platform = await useMounts();
const { identity, session, mounts } = platform;

interface Entity {
  readonly type: string;
  readonly id: string;
}
const record: Entity = { type: 'server', id: 'wiki' };
const read = { name: 'kb:read' };
const write = { name: 'semantic:write' };
let alice: Entity;
let bob: Entity;

const ask = (path: string, body: object, headers: Record<string, string> = {}) =>
  identity.call('POST', `/access/v1/${path}`, { token: session, body, headers });
const send = (raw: string, headers: Record<string, string>) =>
  identity.call('POST', '/access/v1/evaluation', { token: session, raw, headers });
const toIds = (body: { results: Entity[] }) => body.results.map(({ id }) => id);

beforeEach(async () => {
  [alice, bob] = [await identity.createMember(session), await identity.createMember(session)].map(
    ({ id }) => ({
      type: 'user',
      id,
    }),
  ) as [Entity, Entity];
  platform.upstream.tools = [searchTool, saveTool];
  const server = await mounts.mountInEffect(platform.upstream.url, {
    search: 'kb:read',
    save: 'semantic:write',
  });
  const { body } = await identity.call('POST', '/api/v1/groups', {
    token: session,
    body: { name: `Writers ${randomUUID()}` },
  });
  await identity.call('PUT', `/api/v1/groups/${body.group.id}/members/${alice.id}`, { token: session });
  await mounts.decide(server, [{ name: 'save', allowedGroups: [body.group.id] }]);
});

test('2.2 decides as the fixture says, whatever context and properties come with it', async () => {
  for (const [subject, action, expected] of [
    [alice, read, true],
    [alice, write, true],
    [bob, read, true],
    [bob, write, false],
  ] as const) {
    const properties = { department: 'Sales', role: 'manager' };
    for (const request of [
      { subject, action, resource: record },
      { subject, action, resource: record, context: { time: '2025-06-27T18:03-07:00', ip: '192.168.1.1' } },
      {
        subject: { ...subject, properties },
        action: { ...action, properties: { method: 'GET' } },
        resource: { ...record, properties: { schema: { name: 'x' } } },
        // 2.2.9: unknown members are ignored.
        extension: { a: 1 },
      },
    ]) {
      const { status, body } = await ask('evaluation', request);
      expect([status, body.decision, typeof body.context]).toEqual([200, expected, 'object']);
    }
  }
});

test('2.4 answers 400 for what is missing, of another type or no JSON', async () => {
  const whole = { subject: alice, action: read, resource: record };
  const broken: object[] = [
    {},
    { ...whole, subject: undefined },
    { ...whole, action: undefined },
    { ...whole, resource: undefined },
    { ...whole, subject: { type: 'user' } },
    { ...whole, subject: { id: alice.id } },
    { ...whole, action: {} },
    { ...whole, resource: { type: 'server' } },
    { ...whole, resource: { id: 'wiki' } },
    { ...whole, subject: 'alice' },
    { ...whole, action: { name: 1 } },
  ];
  for (const request of broken)
    expect([request, (await ask('evaluation', request)).status]).toEqual([request, 400]);
  const json = JSON.stringify(whole);
  for (const [raw, type] of [
    [json, 'text/plain'],
    [json, 'application/xml'],
    ['{"subject": ', 'application/json'],
    ['', 'application/json'],
  ] as const)
    expect([raw, type, (await send(raw, { 'content-type': type })).status]).toEqual([raw, type, 400]);
  expect((await send(json, { 'content-type': 'application/json; charset=utf-8' })).status).toBe(200);
});

test('2.5 2.6 repeats the id of a request, and its decision', async () => {
  const request = { subject: bob, action: write, resource: record };
  const id = randomUUID();
  for (let time = 0; time < 3; time += 1) {
    const { headers, body } = await ask('evaluation', request, { 'x-request-id': id });
    expect([headers.get('x-request-id'), body.decision]).toEqual([id, false]);
  }
});

test('3.2 3.3 decides many in their order, each with the defaults that it does not replace', async () => {
  const other = { action: write };
  for (const [request, expected] of [
    [{ subject: alice, resource: record, evaluations: [{ action: read }, other] }, [true, true]],
    [{ subject: bob, resource: record, evaluations: [{ action: read }, other] }, [true, false]],
    [
      {
        evaluations: [
          { subject: alice, action: read, resource: record },
          { subject: bob, action: write, resource: record },
        ],
      },
      [true, false],
    ],
    [{ subject: bob, action: write, resource: record, evaluations: [{ subject: alice }, {}] }, [true, false]],
    [
      { subject: alice, context: { a: 1 }, resource: record, evaluations: [{ action: read, context: {} }] },
      [true],
    ],
  ] as const) {
    const { status, body } = await ask('evaluations', request);
    expect([status, body.evaluations.map(({ decision }: { decision: boolean }) => decision)]).toEqual([
      200,
      expected,
    ]);
    expect(body).not.toHaveProperty('decision');
  }
});

test('3.4 denies an evaluation that lacks a part, and decides the others; without evaluations, the request is one', async () => {
  const { status, body } = await ask('evaluations', {
    subject: alice,
    action: read,
    options: { evaluations_semantic: 'execute_all' },
    evaluations: [{ resource: record }, {}],
  });
  expect([status, body.evaluations]).toMatchObject([
    200,
    [{ decision: true }, { decision: false, context: { reason: 'incomplete' } }],
  ]);
  const one = { subject: alice, action: read, resource: record };
  for (const request of [one, { ...one, evaluations: [] }])
    expect((await ask('evaluations', request)).body).toMatchObject({ decision: true });
  expect((await ask('evaluations', { subject: alice, action: read })).status).toBe(400);
});

test('4.2 4.3 4.4 finds subjects, resources and actions, whatever context or id comes with what is searched for', async () => {
  for (const more of [{}, { context: { a: 1 } }]) {
    const people = { subject: { type: 'user' }, action: read, resource: record, ...more };
    for (const subject of [people.subject, alice]) {
      const { status, body } = await ask('search/subject', { ...people, subject });
      expect([status, toIds(body)]).toEqual([200, expect.arrayContaining([alice.id, bob.id])]);
    }
    for (const resource of [{ type: 'server' }, { type: 'server', id: 'nothing' }]) {
      const { status, body } = await ask('search/resource', {
        subject: alice,
        action: read,
        resource,
        ...more,
      });
      expect([status, body.results]).toEqual([200, [record]]);
    }
    const { status, body } = await ask('search/action', { subject: alice, resource: record, ...more });
    expect([status, body.results]).toEqual([200, expect.arrayContaining([read, write])]);
  }
  const writers = await ask('search/subject', { subject: { type: 'user' }, action: write, resource: record });
  expect(toIds(writers.body)).toEqual([alice.id]);
});

test('4.5 follows pages by their token', async () => {
  const request = { subject: { type: 'user' }, action: read, resource: record };
  const found: string[] = [];
  let page: object = { limit: 1 };
  for (let next = '?'; next !== ''; page = { limit: 1, token: next }) {
    const { status, body } = await ask('search/subject', { ...request, page });
    expect([status, typeof body.page.next_token, body.results.length <= 1]).toEqual([200, 'string', true]);
    next = body.page.next_token as string;
    found.push(...toIds(body));
  }
  expect(found).toEqual(expect.arrayContaining([alice.id, bob.id]));
});

test('4.6 4.7 finds nothing for unknown ids and types, and answers 400 for what is missing', async () => {
  const nobody = { type: 'user', id: 'nobody' };
  for (const [path, request] of [
    ['subject', { subject: { type: 'user' }, action: read, resource: { type: 'server', id: 'nothing' } }],
    ['subject', { subject: { type: 'robot' }, action: read, resource: record }],
    ['subject', { subject: { type: 'user' }, action: { name: 'fly' }, resource: record }],
    ['resource', { subject: nobody, action: read, resource: { type: 'server' } }],
    ['resource', { subject: alice, action: read, resource: { type: 'planet' } }],
    ['action', { subject: nobody, resource: record }],
    ['action', { subject: alice, resource: { type: 'planet', id: 'mars' } }],
  ] as const) {
    const { status, body } = await ask(`search/${path}`, request);
    expect([path, request, status, body.results]).toEqual([path, request, 200, []]);
  }
  for (const [path, request] of [
    ['subject', { action: read, resource: record }],
    ['subject', { subject: { type: 'user' }, action: read }],
    ['resource', { subject: alice, resource: { type: 'server' } }],
    ['resource', { action: read, resource: { type: 'server' } }],
    ['action', { subject: alice }],
    ['action', { resource: record }],
  ] as const)
    expect([path, request, (await ask(`search/${path}`, request)).status]).toEqual([path, request, 400]);
});

test('6 is found by its metadata', async () => {
  const { status, headers, body } = await identity.call('GET', '/.well-known/authzen-configuration');
  expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining('application/json')]);
  for (const name of [
    'access_evaluation',
    'access_evaluations',
    'search_subject',
    'search_resource',
    'search_action',
  ])
    expect(body[`${name}_endpoint`]).toMatch(new RegExp(`^${body.policy_decision_point}/access/v1/`));
});
