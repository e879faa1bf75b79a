import { DAY_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { type CreatedToken, startIdentity } from '../identity.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { startProbeService } from '../credentials/verification/probe-service.js';
import { startReplica } from '../replica.js';
import { createTokens, queueBehindOwner, SCOPES, TOKENS, toOutcome, UNKNOWN_ID } from './tokens.js';

const identity = await startIdentity();
const session = await identity.login();
const { call, create, make, rotate, rotated, revoke, get, statuses, findEntries } = createTokens(
  identity,
  session,
);
afterAll(() => identity.close());

test('PAT-22 a rotation returns a new token with the same name and scopes, and ends the old one at once', async () => {
  const fields = { name: 'ci', description: 'for the pipeline', expiryDays: 90 };
  const old = await make(session, fields);
  await call('PATCH', `/${old.id}`, { noticesMuted: true });
  const answer = await rotate(old.id);
  expect(answer.status).toBe(201);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const token = answer.body.token as CreatedToken;
  expect(answer.body).toMatchObject({
    token: { name: 'ci', scopes: SCOPES, parentId: null, accessToken: expect.stringMatching(/^pat_/) },
    replaced: { id: old.id, endsAt: token.createdAt },
    revokedCount: 0,
  });
  const lifetimeMs = Date.parse(token.expiresAt ?? '') - Date.parse(token.createdAt);
  expect(Math.round(lifetimeMs / DAY_MS)).toBe(90);
  expect(await statuses(old, token)).toEqual([401, 200]);
  expect(await get(old.id)).toMatchObject({
    state: 'revoked',
    replacedBy: token.id,
    revokedReason: 'rotated',
    revokedAt: token.createdAt,
  });
  expect(await get(token.id)).toMatchObject({
    state: 'active',
    description: 'for the pipeline',
    noticesMuted: true,
    replacedBy: null,
  });
  expect(await findEntries('token.created', token)).toMatchObject([{ detail: { replaces: old.id } }]);
  expect(await findEntries('token.rotated', old)).toMatchObject([{ detail: { replacedBy: token.id } }]);
  expect(await findEntries('token.revoked', old)).toMatchObject([{ reason: 'rotated' }]);
});

test('the old token works until its grace ends, and is then revoked as rotated', async () => {
  const old = await make();
  const child = await make(old.accessToken);
  const token = await rotated(old.id, { graceSeconds: 600 });
  expect(await statuses(old, token)).toEqual([200, 200]);
  expect(await get(old.id)).toMatchObject({ state: 'active', replacedBy: token.id });
  identity.advance(601 * 1_000);
  expect(await statuses(old, token, child)).toEqual([401, 200, 200]);
  expect(await get(old.id)).toMatchObject({ state: 'revoked', revokedReason: 'rotated' });
  await identity.sweep();
  expect(await get(old.id)).toMatchObject({ state: 'revoked', revokedReason: 'rotated' });
  // The job may sweep at the same time, and then moves it.
  await waitFor(async () => (await get(child.id))['parentId'] === token.id, { what: 'the new parent' });
  expect(await findEntries('token.revoked', old)).toMatchObject([{ actor_id: null, reason: 'rotated' }]);
  expect((await revoke(token.id)).body.revokedCount).toBe(2);
});

test('the old token works for another minute when a rotation names no grace', async () => {
  const tokens = [await make(), await make()];
  for (const [index, body] of [undefined, {}].entries()) {
    const answer = await call('POST', `/${tokens[index]?.id}/rotate`, body);
    const { replaced, token } = answer.body;
    expect(Date.parse(replaced.endsAt) - Date.parse(token.createdAt)).toBe(60 * 1_000);
  }
  expect(await statuses(...tokens)).toEqual([200, 200]);
  identity.advance(61 * 1_000);
  expect(await statuses(...tokens)).toEqual([401, 401]);
});

test('of rotations that wait for each other at two replicas, one wins and the others answer 409', async () => {
  const old = await make();
  const replica = await startReplica(identity.databaseUrl);
  try {
    // The tests before have advanced the clock of the service.
    replica.advance(Date.parse(old.createdAt) - Date.now());
    const body = { graceSeconds: 60 };
    const answers = await queueBehindOwner(identity, old, [
      () => call('POST', `/${old.id}/rotate`, body),
      () => replica.call('POST', `${TOKENS}/self/rotate`, { token: old.accessToken, body }),
      () => replica.call('POST', `${TOKENS}/${old.id}/rotate`, { token: session, body }),
    ]);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409]);
    expect(await findEntries('token.rotated', old)).toHaveLength(1);
    expect(toOutcome(await rotate(old.id))).toEqual([409, 'ALREADY_ROTATED']);
    const { status } = await replica.call('GET', '/api/v1/users/me', { token: old.accessToken });
    expect(status).toBe(200);
  } finally {
    await replica.close();
  }
});

test('a token that is created while its parent waits to be rotated joins the family of the new one', async () => {
  const parent = await make();
  const [created, replaced] = await queueBehindOwner(identity, parent, [
    () => create({}, parent.accessToken),
    () => rotate(parent.id),
  ]);
  const child = created?.body.token as CreatedToken;
  const id = replaced?.body.token.id as string;
  expect((await get(child.id))['parentId']).toBe(id);
  expect((await revoke(id)).body.revokedCount).toBe(2);
  expect(await statuses(child)).toEqual([401]);
});

test('a family of depth 5 stays whole through rotations, and a revocation ends all of it', async () => {
  const root = await make();
  const child = await make(root.accessToken);
  const middle = await make(child.accessToken);
  const third = await make(middle.accessToken);
  const leaf = await make(third.accessToken);
  const newMiddle = await rotated(middle.id);
  const parentOf = async ({ id }: CreatedToken) => (await get(id))['parentId'];
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
  const old = await make();
  const child = await make(old.accessToken);
  const token = await rotated(old.id, { graceSeconds: 600 });
  expect((await revoke(old.id, { keepDescendants: true })).body.revokedCount).toBe(1);
  expect(await statuses(old, token, child)).toEqual([401, 200, 200]);
  expect((await get(child.id))['parentId']).toBe(token.id);
  expect((await revoke(token.id)).body.revokedCount).toBe(2);
});

test('PAT-23 a token rotates itself, and never into a later expiry than its own', async () => {
  const old = await make(session, { expiryDays: 90 });
  const self = (by: string, body: object = {}) => rotate('self', body, by);
  const refused = await self(old.accessToken, { expiryDays: 365 });
  expect([refused.status, refused.body.error.details[0].field]).toEqual([400, 'expiryDays']);
  const answer = await self(old.accessToken);
  expect([answer.status, answer.body.token.expiresAt]).toEqual([201, old.expiresAt]);
  expect(await statuses(old, answer.body.token)).toEqual([401, 200]);
  expect((await self(old.accessToken)).status).toBe(401);
  expect(toOutcome(await self(session))).toEqual([403, 'TOKEN_REQUIRED']);
});

test('PAT-29 an agent rotates its token with the tool, and lists what it replaced', async () => {
  const agent = await make();
  const useTool = async (token: string, name: string, args: object) =>
    (await createCaller(identity, token).legacy('tools/call', { name, arguments: args })).body.result;
  const { structuredContent } = await useTool(agent.accessToken, 'rotate_my_token', { graceSeconds: 60 });
  const { id, accessToken } = structuredContent.token as CreatedToken;
  expect(structuredContent).toMatchObject({ token: { name: 'test' }, replaced: { id: agent.id } });
  const listed = await useTool(accessToken, 'list_my_tokens', { limit: 2 });
  expect(listed.structuredContent.tokens).toMatchObject([
    { id, state: 'active', parentId: null, replacedBy: null },
    { id: agent.id, state: 'active', replacedBy: id },
  ]);
  expect((await useTool(accessToken, 'rotate_my_token', { tokenId: agent.id })).isError).toBe(true);
});

test('PAT-23 a token cannot rotate one with scopes that it lacks', async () => {
  const wide = await make();
  const narrow = await make(session, { scopes: ['pat:write'] });
  const refused = await rotate(wide.id, {}, narrow.accessToken);
  expect(toOutcome(refused)).toEqual([403, 'INSUFFICIENT_SCOPE']);
  expect(refused.headers.get('www-authenticate')).toContain('scope="pat:read user:read"');
  expect(await statuses(wide)).toEqual([200]);
});

test("rejects invalid options, and does not find unknown, others' and revoked tokens", async () => {
  const [token, revoked] = [await make(), await make()];
  for (const body of [{ graceSeconds: -1 }, { graceSeconds: 604_801 }, { expiryDays: 31 }, { scopes: [] }])
    expect([body, (await rotate(token.id, body)).status]).toEqual([body, 400]);
  const member = await identity.createMember(session);
  await revoke(revoked.id);
  for (const [id, by] of [
    [token.id, member.session],
    [revoked.id, session],
    [UNKNOWN_ID, session],
  ] as const)
    expect((await rotate(id, {}, by)).status).toBe(404);
  expect(await statuses(token)).toEqual([200]);
});

test('PAT-24 a rotation takes scopes from a token, in every service, and never adds one', async () => {
  const probe = await startProbeService(identity.url, () => Date.now());
  try {
    const token = await make();
    const child = await make(token.accessToken);
    const same = await rotated(token.id, { scopes: SCOPES.toReversed() });
    expect([same.scopes.toSorted(), await statuses(child)]).toEqual([SCOPES.toSorted(), [200]]);
    const narrow = await rotated(same.id, { scopes: ['pat:write'] });
    expect(narrow.scopes).toEqual(['pat:write']);
    expect([await statuses(narrow), (await probe.whoami(narrow.accessToken)).status]).toEqual([[403], 403]);
    expect((await create({ scopes: ['user:read'] }, narrow.accessToken)).status).toBe(400);
    const wider = await rotate(narrow.id, { scopes: ['pat:write', 'user:read'] });
    expect([wider.status, wider.body.error.details]).toEqual([
      400,
      [{ field: 'scopes.1', message: expect.stringContaining('"user:read"') }],
    ]);
  } finally {
    await probe.close();
  }
});

test('PAT-24 narrowing a token revokes what it and its predecessors created, and nothing else', async () => {
  const stranger = await make();
  const parent = await make();
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
  expect(await get(grandchild.id)).toMatchObject({ state: 'revoked', revokedReason: 'narrowed' });
  expect(await findEntries('token.revoked', child)).toMatchObject([
    { reason: 'narrowed', detail: { revokedWith: token.id } },
  ]);
  // What is left of the family still ends with the token above it.
  expect((await revoke(parent.id)).body.revokedCount).toBe(4);
});

test('PAT-24 a token that is created while its parent is narrowed is revoked as well', async () => {
  const parent = await make();
  const [created, narrowed] = await queueBehindOwner(identity, parent, [
    () => create({}, parent.accessToken),
    () => rotate(parent.id, { scopes: ['user:read'] }),
  ]);
  expect([narrowed?.status, narrowed?.body.revokedCount]).toEqual([201, 1]);
  expect(await statuses(created?.body.token as CreatedToken)).toEqual([401]);
});
