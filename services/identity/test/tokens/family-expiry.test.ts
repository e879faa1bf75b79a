import { DAY_MS } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { type CreatedToken, type IdentityUnderTest, startIdentity } from '../identity.js';

const path = '/api/v1/personal-access-tokens';
const scopes = ['pat:write', 'pat:read', 'user:read'];
let identity: IdentityUnderTest;
let session: string;

beforeAll(async () => {
  identity = await startIdentity();
  session = await identity.login();
});
afterAll(() => identity.close());

const make = (maker: string, fields: object = {}) => identity.createToken(maker, { scopes, ...fields });

/** A token without an end, and one two levels below it that outlives the token between them. */
async function createOutlivingToken() {
  const root = await make(session, { expiryDays: 'never' });
  const parent = await make(root.accessToken, { expiryDays: 30 });
  const child = await make(parent.accessToken, { expiryDays: 30 });
  const grandchild = await make(child.accessToken, { expiryDays: 30 });
  const rotation = {
    token: session,
    body: { expiryDays: 365, graceSeconds: 0 },
  };
  const { body } = await identity.call('POST', `${path}/${grandchild.id}/rotate`, rotation);
  return { root, outliving: body.token as CreatedToken };
}
const isAlive = async ({ accessToken: token }: CreatedToken) =>
  (await identity.call('GET', '/api/v1/users/me', { token })).status === 200;

test('a token that outlives those that created it is revoked with the ones above them', async () => {
  const [unmarked, marked] = [await createOutlivingToken(), await createOutlivingToken()];
  const narrowed = await createOutlivingToken();
  identity.advance(31 * DAY_MS);
  session = await identity.login();
  const revoke = async ({ id }: CreatedToken) =>
    (await identity.call('DELETE', `${path}/${id}`, { token: session })).body.revokedCount as number;
  expect(await Promise.all([unmarked, marked].map(({ outliving }) => isAlive(outliving)))).toEqual([
    true,
    true,
  ]);

  // The tokens between are not yet marked as expired.
  expect([await revoke(unmarked.root), await isAlive(unmarked.outliving)]).toEqual([2, false]);
  const rotated = await identity.call('POST', `${path}/${narrowed.root.id}/rotate`, {
    token: session,
    body: { scopes: ['pat:write'], graceSeconds: 0 },
  });
  expect([rotated.status, rotated.body.revokedCount]).toEqual([201, 1]);
  expect(await isAlive(narrowed.outliving)).toBe(false);
  const details = async ({ id }: CreatedToken) =>
    (await identity.call('GET', `${path}/${id}`, { token: session })).body.token;

  await identity.sweep();
  expect(await details(marked.outliving)).toMatchObject({ parentId: marked.root.id });
  expect([await revoke(marked.root), await isAlive(marked.outliving)]).toEqual([2, false]);
});

test('PAT-31 a leaked value that rotated itself is known as long as the last of its successors is active', async () => {
  const first = await make(session, { expiryDays: 'never' });
  const rotateItself = async ({ id, accessToken: token }: CreatedToken) =>
    (await identity.call('POST', `${path}/${id}/rotate`, { token, body: { graceSeconds: 0 } })).body
      .token as CreatedToken;
  const second = await rotateItself(first);
  const third = await rotateItself(second);
  const revoked = await make(session);
  await identity.call('DELETE', `${path}/${revoked.id}`, { token: session });
  const findRows = async () => {
    const made = [first, second, third, revoked].map(({ id }) => id);
    const query = 'select id from personal_access_tokens where id = any($1) order by id';
    return (await identity.db.query<{ id: string }>(query, [made])).rows.map(({ id }) => id);
  };
  identity.advance(731 * DAY_MS);
  await identity.sweep();
  expect(await findRows()).toEqual([first.id, second.id, third.id]);

  await identity.call('POST', `${path}/leaked`, { body: { tokens: [{ token: first.accessToken }] } });
  await waitFor(async () => !(await isAlive(third)), { what: 'the revocation' });
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
