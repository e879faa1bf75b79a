import { DAY_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { type CreatedToken, startIdentity } from '../identity.js';
import { waitForLockWaiters } from '../lock-waiters.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { createTokens, lockOwner, queueBehindOwner, toOutcome, UNKNOWN_ID } from './tokens.js';

const identity = await startIdentity();
const session = await identity.login();
const { create, make, rotated, revoke, get, statuses, findEntries } = createTokens(identity, session);
afterAll(() => identity.close());

const parentOf = async ({ id }: CreatedToken) => (await get(id))['parentId'];

/** Creates a token, two children of it, and one grandchild. */
async function createFamily() {
  const root = await make();
  const child = await make(root.accessToken);
  const sibling = await make(root.accessToken);
  const grandchild = await make(child.accessToken);
  return { root, child, sibling, grandchild, all: [root, child, sibling, grandchild] };
}

test('PAT-7 a revoked token is rejected at its next use, and stays revoked', async () => {
  const token = await make();
  expect(await statuses(token)).toEqual([200]);
  const revoked = await revoke(token.id, { reason: 'left on a train' });
  expect([revoked.status, revoked.body]).toEqual([200, { message: 'Token revoked', revokedCount: 1 }]);
  const after = await identity.call('GET', '/api/v1/users/me', { token: token.accessToken });
  expect(after.status).toBe(401);
  expect(after.headers.get('www-authenticate')).toBe('Bearer realm="platform", error="invalid_token"');
  await expect(
    identity.db.query(
      `update personal_access_tokens set status = 'active', revoked_at = null where id = $1`,
      [token.id],
    ),
  ).rejects.toThrow('never leaves the state revoked');
});

test('of concurrent revocations one succeeds, and the audit has it once with the actor and the reason', async () => {
  const token = await make();
  const answers = await Promise.all(Array.from({ length: 5 }, () => revoke(token.id, { reason: 'old' })));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404, 404, 404, 404]);
  expect(await findEntries('token.revoked', token)).toMatchObject([
    { reason: 'old', actor_id: expect.any(String) },
  ]);
});

test("responds with the same 404 to others', foreign, unknown and revoked tokens", async () => {
  const member = await identity.createMember(session);
  const other = await identity.createOrganisation('other@example.com');
  const [own, foreign, revoked] = [await make(member.session), await make(other.session), await make()];
  await revoke(revoked.id);
  for (const id of [own.id, foreign.id, `admin/${foreign.id}`, UNKNOWN_ID, revoked.id]) {
    const { status, body } = await revoke(id);
    expect([status, body]).toEqual([404, { error: { code: 'NOT_FOUND', message: 'Token not found' } }]);
  }
  expect(await statuses(own, foreign)).toEqual([200, 200]);
});

test('PAT-19 a revocation includes all descendants of the token, but no ancestors or siblings', async () => {
  const { root, child, grandchild, all } = await createFamily();
  expect(await Promise.all([root, child, grandchild].map(parentOf))).toEqual([null, root.id, child.id]);
  const answer = await revoke(child.id, { reason: 'leaked' });
  expect([answer.status, answer.body]).toEqual([
    200,
    { message: 'Token revoked, with the tokens that it made', revokedCount: 2 },
  ]);
  expect(await statuses(...all)).toEqual([200, 401, 200, 401]);
  expect(await findEntries('token.revoked', child)).toMatchObject([{ reason: 'leaked', detail: {} }]);
  expect(await findEntries('token.revoked', grandchild)).toMatchObject([
    { reason: 'leaked', detail: { revokedWith: child.id } },
  ]);
});

test('PAT-19 keepDescendants revokes only one token and moves its children to its parent', async () => {
  const { root, child, grandchild, all } = await createFamily();
  const answer = await revoke(child.id, { keepDescendants: true });
  expect(answer.body).toEqual({ message: 'Token revoked', revokedCount: 1 });
  expect(await statuses(...all)).toEqual([200, 401, 200, 200]);
  expect(await parentOf(grandchild)).toBe(root.id);
  expect((await revoke(root.id, { keepDescendants: true })).body.revokedCount).toBe(1);
  expect(await parentOf(grandchild)).toBeNull();
});

test('PAT-19 a token cannot use keepDescendants, neither to outlive its parent nor to leave descendants behind', async () => {
  const { root, child, all } = await createFamily();
  for (const { id } of all)
    expect(toOutcome(await revoke(id, { keepDescendants: true }, child.accessToken))).toEqual([
      403,
      'SESSION_REQUIRED',
    ]);
  const byTool = await createCaller(identity, root.accessToken).legacy('tools/call', {
    name: 'revoke_my_token',
    arguments: { tokenId: root.id, keepDescendants: true },
  });
  expect(byTool.body.result.isError).toBe(true);
  expect(await statuses(...all)).toEqual([200, 200, 200, 200]);
  // Every token may send the default explicitly.
  const answer = await revoke(root.id, { keepDescendants: false }, root.accessToken);
  expect([answer.status, answer.body.revokedCount]).toEqual([200, 4]);
  expect(await statuses(...all)).toEqual([401, 401, 401, 401]);
});

test("PAT-11 an administrator's revocation, and one with the tool, end the descendants too", async () => {
  const member = await identity.createMember(session);
  const roots = [await make(member.session), await make(member.session)] as const;
  const children = await Promise.all(roots.map(({ accessToken }) => make(accessToken)));
  expect((await revoke(`admin/${roots[0].id}`)).body.revokedCount).toBe(2);
  const byTool = await createCaller(identity, roots[1].accessToken).legacy('tools/call', {
    name: 'revoke_my_token',
    arguments: { tokenId: roots[1].id },
  });
  expect(byTool.body.result.structuredContent).toMatchObject({ revokedCount: 2 });
  expect(await statuses(...roots, ...children)).toEqual([401, 401, 401, 401]);
});

test('a revocation that waits for creations by the token and a descendant includes the created tokens', async () => {
  const { root, child } = await createFamily();
  const [first, second, revoked] = await queueBehindOwner(identity, root, [
    () => create({}, root.accessToken),
    () => create({}, child.accessToken),
    () => revoke(root.id),
  ]);
  expect(revoked?.body.revokedCount).toBe(6);
  expect(await statuses(first?.body.token, second?.body.token)).toEqual([401, 401]);
});

test('a creation that waits for the revocation of its creator creates nothing', async () => {
  const { root, child } = await createFamily();
  const [revoked, ...created] = await queueBehindOwner(identity, root, [
    () => revoke(root.id),
    () => create({}, root.accessToken),
    () => create({}, child.accessToken),
  ]);
  expect(revoked?.body.revokedCount).toBe(4);
  expect(created.map(({ status }) => status)).toEqual([401, 401]);
});

test('a session that ends while it creates a token creates none', async () => {
  const { session: own } = await identity.createMember(session);
  const release = await lockOwner(identity, await make(own));
  const creating = create({}, own);
  await waitForLockWaiters(identity.db);
  await identity.call('POST', '/api/v1/auth/logout', { token: own });
  await release();
  expect((await creating).status).toBe(401);
});

/** A token without an end, and one two levels below it that outlives the tokens between them. */
async function createOutlivingToken() {
  const root = await make(session, { expiryDays: 'never' });
  const parent = await make(root.accessToken, { expiryDays: 30 });
  const child = await make(parent.accessToken, { expiryDays: 30 });
  const { id } = await make(child.accessToken, { expiryDays: 30 });
  return { root, outliving: await rotated(id, { expiryDays: 365 }) };
}

test('PAT-19 a token that outlives its creators is revoked with the tokens above them', async () => {
  const [unmarked, narrowed, marked] = [
    await createOutlivingToken(),
    await createOutlivingToken(),
    await createOutlivingToken(),
  ];
  identity.advance(31 * DAY_MS);
  const later = createTokens(identity, await identity.login());
  const outliving = [unmarked, narrowed, marked].map((family) => family.outliving);
  expect(await statuses(...outliving)).toEqual([200, 200, 200]);

  // The tokens between are not yet marked as expired.
  expect((await later.revoke(unmarked.root.id)).body.revokedCount).toBe(2);
  const answer = await later.rotate(narrowed.root.id, { scopes: ['pat:write'] });
  expect([answer.status, answer.body.revokedCount]).toEqual([201, 1]);
  expect(await statuses(...outliving)).toEqual([401, 401, 200]);

  await identity.sweep();
  expect(await later.get(marked.outliving.id)).toMatchObject({ parentId: marked.root.id });
  expect((await later.revoke(marked.root.id)).body.revokedCount).toBe(2);
  expect(await statuses(...outliving)).toEqual([401, 401, 401]);
});

test('PAT-31 a leaked value that rotated itself is known as long as the last of its successors is active', async () => {
  const later = createTokens(identity, await identity.login());
  const first = await later.make(undefined, { expiryDays: 'never' });
  const second = await later.rotated('self', {}, first.accessToken);
  const third = await later.rotated('self', {}, second.accessToken);
  const revoked = await later.make();
  await later.revoke(revoked.id);
  const findRows = async () => {
    const made = [first, second, third, revoked].map(({ id }) => id);
    const query = 'select id from personal_access_tokens where id = any($1) order by id';
    return (await identity.db.query<{ id: string }>(query, [made])).rows.map(({ id }) => id);
  };
  identity.advance(731 * DAY_MS);
  await identity.sweep();
  expect(await findRows()).toEqual([first.id, second.id, third.id]);

  await later.call('POST', '/leaked', { tokens: [{ token: first.accessToken }] });
  await waitFor(async () => (await statuses(third))[0] === 401, { what: 'the revocation' });
  // The reaction may still hold a lock on the first one, which a sweep passes over.
  await waitFor(
    async () => {
      await identity.sweep();
      return (await findRows()).length === 1;
    },
    { what: 'the deletion of the others' },
  );
  expect(await findRows()).toEqual([third.id]);
  identity.advance(731 * DAY_MS);
  await identity.sweep();
  expect(await findRows()).toEqual([]);
});
