import { type CreatedToken, startIdentity } from '../identity.js';
import { waitForLockWaiters } from '../lock-waiters.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';

/* What a stolen token with `pat:write` can't do: outlive its revocation, or leave its allow list. */

const path = '/api/v1/personal-access-tokens';
const scopes = ['pat:write', 'pat:read', 'user:read'];
const ranges = ['203.0.113.0/24', '2001:db8::/32'];
const inside = { 'x-forwarded-for': '203.0.113.9' };

const identity = await startIdentity({ environment: { TRUST_PROXY: '127.0.0.1' } });
const session = await identity.login();
afterAll(() => identity.close());

const create = (token: string, fields: object = {}) =>
  identity.call('POST', path, { token, headers: inside, body: { name: 'x', scopes, ...fields } });
const make = async (token: string, fields: object = {}): Promise<CreatedToken> => {
  const answer = await create(token, fields);
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.body.token as CreatedToken;
};
/** Ends the old token at once unless the body says otherwise. */
const rotate = (id: string, token = session, body: object = {}) =>
  identity.call('POST', `${path}/${id}/rotate`, {
    token,
    headers: inside,
    body: { graceSeconds: 0, ...body },
  });
const rotated = async (id: string, token = session, body: object = {}): Promise<CreatedToken> => {
  const answer = await rotate(id, token, body);
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return answer.body.token as CreatedToken;
};
const revoke = (id: string) => identity.call('DELETE', `${path}/${id}`, { token: session, body: {} });
const statuses = (...tokens: CreatedToken[]) =>
  Promise.all(
    tokens.map(
      async ({ accessToken: token }) =>
        (await identity.call('GET', '/api/v1/users/me', { token, headers: inside })).status,
    ),
  );
const details = async (id: string) =>
  (await identity.call('GET', `${path}/${id}`, { token: session })).body.token as Record<string, unknown>;
const toOutcome = ({ status, body }: Awaited<ReturnType<typeof rotate>>) => [status, body.error?.code];

test('a token rotates itself and its descendants, but no other token of its owner', async () => {
  const parent = await make(session);
  const thief = await make(parent.accessToken);
  const sibling = await make(parent.accessToken);
  const stranger = await make(session);
  for (const target of [parent, sibling, stranger]) {
    const refused = await rotate(target.id, thief.accessToken, { graceSeconds: 604_800 });
    expect(toOutcome(refused)).toEqual([403, 'SESSION_REQUIRED']);
    const byTool = await createCaller(identity, thief.accessToken).legacy('tools/call', {
      name: 'rotate_my_token',
      arguments: { tokenId: target.id },
    });
    expect(byTool.body.result.isError).toBe(true);
  }
  const child = await make(thief.accessToken);
  const grandchild = await make(child.accessToken);
  const replacement = await rotated(grandchild.id, thief.accessToken, { graceSeconds: 60 });
  const self = await rotated(thief.id, thief.accessToken, { graceSeconds: 60 });
  // The child still belongs to the old token, which the new one stands for.
  const newChild = await rotated(child.id, self.accessToken);
  const family = [thief, self, newChild, grandchild, replacement];
  expect((await revoke(self.id)).body.revokedCount).toBe(family.length);
  expect(await statuses(parent, sibling, stranger, ...family)).toEqual([
    200,
    200,
    200,
    ...family.map(() => 401),
  ]);
});

test('PAT-23 a token reads all tokens of its owner, and changes and revokes only itself and its descendants', async () => {
  const parent = await make(session);
  const thief = await make(parent.accessToken);
  const sibling = await make(parent.accessToken);
  const stranger = await make(session);
  const replaced = await make(session);
  const successor = await rotated(replaced.id, session, { graceSeconds: 600 });
  const { accessToken: token } = thief;
  const request = (method: string, id: string, body: object, by = token) =>
    identity.call(method, `${path}/${id}`, {
      token: by,
      headers: inside,
      body,
    });
  const attempts = [{ name: 'innocent' }, { noticesMuted: true }].map(
    (body) => (id: string) => request('PATCH', id, body),
  );
  for (const { id } of [parent, sibling, stranger]) {
    expect((await identity.call('GET', `${path}/${id}`, { token, headers: inside })).status).toBe(200);
    for (const attempt of [...attempts, () => request('DELETE', id, {})])
      expect(toOutcome(await attempt(id))).toEqual([403, 'SESSION_REQUIRED']);
    const byTool = await createCaller(identity, token).legacy('tools/call', {
      name: 'revoke_my_token',
      arguments: { tokenId: id },
    });
    expect(byTool.body.result.isError).toBe(true);
  }
  expect(toOutcome(await request('DELETE', successor.id, {}, replaced.accessToken))).toEqual([
    403,
    'SESSION_REQUIRED',
  ]);
  expect(await statuses(parent, sibling, stranger, successor)).toEqual([200, 200, 200, 200]);
  const foreign = await make((await identity.createMember(session)).session);
  for (const id of [foreign.id, '01900000-0000-7000-8000-000000000000'])
    expect((await request('DELETE', id, {})).status).toBe(404);
  const child = await make(token);
  for (const { id } of [thief, child])
    expect((await request('PATCH', id, { name: 'mine', noticesMuted: true })).body.token).toMatchObject({
      name: 'mine',
      noticesMuted: true,
    });
  expect((await request('DELETE', child.id, {})).status).toBe(200);
  expect((await request('DELETE', thief.id, {})).status).toBe(200);
  expect(await statuses(thief, child, parent)).toEqual([401, 401, 200]);
});

test('a rotated token neither creates nor rotates during its grace', async () => {
  const leaked = await make(session, { expiryDays: 'never' });
  const child = await make(leaked.accessToken);
  const replacement = await rotated(leaked.id, session, { graceSeconds: 604_800 });
  expect(await statuses(leaked)).toEqual([200]);
  const attempts = [
    await create(leaked.accessToken, { expiryDays: 'never' }),
    await rotate('self', leaked.accessToken),
    await rotate(child.id, leaked.accessToken),
    await rotate(replacement.id, leaked.accessToken),
  ];
  expect(attempts.map(toOutcome)).toEqual(attempts.map(() => [409, 'ALREADY_ROTATED']));
  expect(await statuses(leaked, child, replacement)).toEqual([200, 200, 200]);
});

test('a child is allowed from no more addresses than its parent', async () => {
  const parent = await make(session, { allowList: ranges });
  const child = await make(parent.accessToken);
  expect((await details(child.id))['allowList']).toEqual(ranges);
  const narrow = await make(parent.accessToken, { allowList: ['203.0.113.128/25'] });
  expect((await details(narrow.id))['allowList']).toEqual(['203.0.113.128/25']);
  for (const allowList of [['0.0.0.0/0'], ['203.0.112.0/23'], ['203.0.113.9', '198.51.100.9'], ['::/0']]) {
    const { status, body } = await create(parent.accessToken, { allowList });
    expect([allowList, status, body.error.details[0].field]).toEqual([allowList, 400, 'allowList']);
  }
});

test('narrowing the allow list of a token revokes its descendants', async () => {
  const parent = await make(session);
  const child = await make(parent.accessToken, { allowList: ['203.0.113.0/25'] });
  const other = await make(session);
  const answer = await rotate(parent.id, session, { allowList: ranges });
  expect([answer.status, answer.body.revokedCount]).toEqual([201, 1]);
  const narrowed = answer.body.token as CreatedToken;
  expect((await details(narrowed.id))['allowList']).toEqual(ranges);
  expect(await statuses(narrowed, child, other)).toEqual([200, 401, 200]);
});

test('of rotations that wait for each other, one wins, although the grace keeps the token active', async () => {
  const old = await make(session);
  const blocker = await identity.db.connect();
  try {
    await blocker.query('begin');
    await blocker.query(
      `select from users where id = (select owner_id from personal_access_tokens where id = $1) for no key update`,
      [old.id],
    );
    const rotations = Array.from({ length: 3 }, () =>
      identity.call('POST', `${path}/${old.id}/rotate`, { token: session, body: { graceSeconds: 60 } }),
    );
    await waitForLockWaiters(identity.db, rotations.length);
    await blocker.query('commit');
    const answers = await Promise.all(rotations);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409]);
  } finally {
    blocker.release();
  }
});

test('a token that is created while its parent waits to be rotated joins the family of the new one', async () => {
  const parent = await make(session);
  const blocker = await identity.db.connect();
  try {
    await blocker.query('begin');
    await blocker.query(
      `select from users where id = (select owner_id from personal_access_tokens where id = $1) for no key update`,
      [parent.id],
    );
    const creating = create(parent.accessToken);
    await waitForLockWaiters(identity.db, 1);
    const rotating = rotate(parent.id);
    await waitForLockWaiters(identity.db, 2);
    await blocker.query('commit');
    const child = (await creating).body.token as CreatedToken;
    const replacement = (await rotating).body.token as CreatedToken;
    expect((await details(child.id))['parentId']).toBe(replacement.id);
    expect((await revoke(replacement.id)).body.revokedCount).toBe(2);
    expect(await statuses(child)).toEqual([401]);
  } finally {
    blocker.release();
  }
});
