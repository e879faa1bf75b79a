import { startIdentity } from '../identity.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { createTokens, toOutcome, UNKNOWN_ID } from './tokens.js';

/* What a stolen token with `pat:write` can't do: outlive its revocation, or leave its allow list. */

const ranges = ['203.0.113.0/24', '2001:db8::/32'];

const identity = await startIdentity({ environment: { TRUST_PROXY: '127.0.0.1' } });
const session = await identity.login();
const { call, create, make, rotate, rotated, revoke, get, statuses } = createTokens(identity, session, {
  'x-forwarded-for': '203.0.113.9',
});
afterAll(() => identity.close());

const isRefusedByTool = async (token: string, name: string, tokenId: string): Promise<boolean> =>
  (await createCaller(identity, token).legacy('tools/call', { name, arguments: { tokenId } })).body.result
    .isError;

test('PAT-23 a token rotates itself and its descendants, but no other token of its owner', async () => {
  const parent = await make();
  const thief = await make(parent.accessToken);
  const sibling = await make(parent.accessToken);
  const stranger = await make();
  for (const { id } of [parent, sibling, stranger]) {
    expect(toOutcome(await rotate(id, {}, thief.accessToken))).toEqual([403, 'SESSION_REQUIRED']);
    expect(await isRefusedByTool(thief.accessToken, 'rotate_my_token', id)).toBe(true);
  }
  const child = await make(thief.accessToken);
  const grandchild = await make(child.accessToken);
  const replacement = await rotated(grandchild.id, { graceSeconds: 60 }, thief.accessToken);
  const self = await rotated(thief.id, { graceSeconds: 60 }, thief.accessToken);
  // The child still belongs to the old token, which the new one stands for.
  const newChild = await rotated(child.id, {}, self.accessToken);
  const family = [thief, self, newChild, grandchild, replacement];
  expect((await revoke(self.id)).body.revokedCount).toBe(family.length);
  expect(await statuses(parent, sibling, stranger)).toEqual([200, 200, 200]);
  expect(await statuses(...family)).toEqual(family.map(() => 401));
});

test('PAT-23 a token reads all tokens of its owner, and changes and revokes only itself and its descendants', async () => {
  const parent = await make();
  const thief = await make(parent.accessToken);
  const sibling = await make(parent.accessToken);
  const stranger = await make();
  const replaced = await make();
  const successor = await rotated(replaced.id, { graceSeconds: 600 });
  const { accessToken: by } = thief;
  for (const { id } of [parent, sibling, stranger]) {
    expect((await call('GET', `/${id}`, undefined, by)).status).toBe(200);
    for (const attempt of [call('PATCH', `/${id}`, { noticesMuted: true }, by), revoke(id, {}, by)])
      expect(toOutcome(await attempt)).toEqual([403, 'SESSION_REQUIRED']);
    expect(await isRefusedByTool(by, 'revoke_my_token', id)).toBe(true);
  }
  expect(toOutcome(await revoke(successor.id, {}, replaced.accessToken))).toEqual([403, 'SESSION_REQUIRED']);
  expect(await statuses(parent, sibling, stranger, successor)).toEqual([200, 200, 200, 200]);
  const foreign = await make((await identity.createMember(session)).session);
  for (const id of [foreign.id, UNKNOWN_ID]) expect((await revoke(id, {}, by)).status).toBe(404);
  const child = await make(by);
  for (const { id } of [thief, child])
    expect((await call('PATCH', `/${id}`, { name: 'mine' }, by)).body.token).toMatchObject({ name: 'mine' });
  for (const { id } of [child, thief]) expect((await revoke(id, {}, by)).status).toBe(200);
  expect(await statuses(thief, child, parent)).toEqual([401, 401, 200]);
});

test('PAT-22 a rotated token neither creates nor rotates during its grace', async () => {
  const leaked = await make(session, { expiryDays: 'never' });
  const child = await make(leaked.accessToken);
  const replacement = await rotated(leaked.id, { graceSeconds: 604_800 });
  const attempts = [
    await create({ expiryDays: 'never' }, leaked.accessToken),
    await rotate('self', {}, leaked.accessToken),
    await rotate(child.id, {}, leaked.accessToken),
    await rotate(replacement.id, {}, leaked.accessToken),
  ];
  expect(attempts.map(toOutcome)).toEqual(attempts.map(() => [409, 'ALREADY_ROTATED']));
  expect(await statuses(leaked, child, replacement)).toEqual([200, 200, 200]);
});

test('PAT-18 a child is allowed from no more addresses than its parent', async () => {
  const parent = await make(session, { allowList: ranges });
  const child = await make(parent.accessToken);
  expect((await get(child.id))['allowList']).toEqual(ranges);
  const narrow = await make(parent.accessToken, { allowList: ['203.0.113.128/25'] });
  expect((await get(narrow.id))['allowList']).toEqual(['203.0.113.128/25']);
  for (const allowList of [['0.0.0.0/0'], ['203.0.112.0/23'], ['203.0.113.9', '198.51.100.9'], ['::/0']]) {
    const { status, body } = await create({ allowList }, parent.accessToken);
    expect([allowList, status, body.error.details[0].field]).toEqual([allowList, 400, 'allowList']);
  }
});

test('PAT-24 narrowing the allow list of a token revokes its descendants', async () => {
  const parent = await make();
  const child = await make(parent.accessToken, { allowList: ['203.0.113.0/25'] });
  const other = await make();
  const answer = await rotate(parent.id, { allowList: ranges });
  expect([answer.status, answer.body.revokedCount]).toEqual([201, 1]);
  expect((await get(answer.body.token.id))['allowList']).toEqual(ranges);
  expect(await statuses(answer.body.token, child, other)).toEqual([200, 401, 200]);
});
