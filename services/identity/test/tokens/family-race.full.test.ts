import { DAY_MS } from '@platform/service-kit';
import { expireTokens } from '../../src/jobs/jobs.sql.js';
import { type CreatedToken, startIdentity } from '../identity.js';
import { waitForLockWaiters } from '../lock-waiters.js';

const path = '/api/v1/personal-access-tokens';
const scopes = ['pat:write', 'pat:read', 'user:read'];

const identity = await startIdentity();
const session = await identity.login();
afterAll(() => identity.close());

/** Creates a family in which the root and the youngest token outlive the two between them. */
async function createFamily(maker = session) {
  const make = (by: string, expiryDays: number | 'never') => identity.createToken(by, { scopes, expiryDays });
  const root = await make(maker, 'never');
  const parent = await make(root.accessToken, 30);
  const child = await make(parent.accessToken, 30);
  const { id } = await make(child.accessToken, 30);
  const rotation = { token: maker, body: { expiryDays: 365, graceSeconds: 0 } };
  const { body } = await identity.call('POST', `${path}/${id}/rotate`, rotation);
  return { root, parent, child, youngest: body.token as CreatedToken };
}

/** The clock of the expiry job. That of the service stands before it, so that its own job expires nothing. */
const later = () => new Date(Date.now() + 31 * DAY_MS);

async function lockToken({ id }: CreatedToken): Promise<() => Promise<void>> {
  const client = await identity.db.connect();
  await client.query('begin');
  await client.query('select from personal_access_tokens where id = $1 for no key update', [id]);
  return async () => {
    await client.query('commit');
    client.release();
  };
}

const findOrphans = async () =>
  (
    await identity.db.query<{ id: string }>(
      `select child.id from personal_access_tokens child join personal_access_tokens parent on parent.id = child.parent_id
       where child.status = 'active' and parent.status <> 'active'`,
    )
  ).rows;

test('replicas that expire a token and its parent at the same time leave no child at an expired one', async () => {
  const { root, parent, child, youngest } = await createFamily();
  const [releaseParent, releaseYoungest] = [await lockToken(parent), await lockToken(youngest)];
  // The first replica skips the parent, takes the child, and waits for its child.
  const first = expireTokens(identity.db, later(), 100);
  await waitForLockWaiters(identity.db);
  await releaseParent();
  // The second one takes the parent, or leaves the family to the first one.
  const second = expireTokens(identity.db, later(), 100);
  await Promise.race([second, waitForLockWaiters(identity.db, 2)]);
  await releaseYoungest();
  await Promise.all([first, second]);
  while ((await expireTokens(identity.db, later(), 100)) > 0);

  const { rows } = await identity.db.query(
    `select id from personal_access_tokens where id = any($1) and status = 'expired'`,
    [[parent.id, child.id]],
  );
  expect(rows).toHaveLength(2);
  expect(await findOrphans()).toEqual([]);
  const revoked = await identity.call('DELETE', `${path}/${root.id}`, { token: session });
  expect(revoked.body.revokedCount).toBe(2);
});

test('a token that is revoked alone while its child expires leaves no child at a revoked token', async () => {
  const { root, parent, youngest } = await createFamily();
  const releases = [await lockToken(parent), await lockToken(youngest)];
  const expiry = expireTokens(identity.db, later(), 100);
  await waitForLockWaiters(identity.db);
  await releases[0]?.();
  const revoke = () =>
    identity.call('DELETE', `${path}/${parent.id}`, { token: session, body: { keepDescendants: true } });
  const revocation = revoke();
  await Promise.race([revocation, waitForLockWaiters(identity.db, 2)]);
  await releases[1]?.();
  await expiry;
  // On a busy machine, the lock may have timed out.
  const { status } = await revocation;
  expect(status === 200 ? status : (await revoke()).status).toBe(200);

  expect(await findOrphans()).toEqual([]);
  const revoked = await identity.call('DELETE', `${path}/${root.id}`, { token: session });
  expect(revoked.body.revokedCount).toBe(2);
});

test('replicas that expire and revoke many families at once neither deadlock nor leave a child at an ended token', async () => {
  const members = [];
  for (let count = 0; count < 4; count += 1) members.push(await identity.createMember(session));
  const families = await Promise.all(
    members.flatMap(({ session: own }) => [1, 2, 3].map(async () => ({ own, ...(await createFamily(own)) }))),
  );
  const expireAll = async () => {
    while ((await expireTokens(identity.db, later(), 3)) > 0);
  };
  const revocations = families.slice(0, 6).map(async ({ own, parent }) => {
    const body = { keepDescendants: true };
    return (await identity.call('DELETE', `${path}/${parent.id}`, { token: own, body })).status;
  });
  const [statuses] = await Promise.all([Promise.all(revocations), expireAll(), expireAll(), expireAll()]);
  // The expiry may have come first.
  for (const status of statuses) expect([200, 404]).toContain(status);
  await expireAll();
  expect(await findOrphans()).toEqual([]);
  for (const { own, root, youngest } of families) {
    await identity.call('DELETE', `${path}/${root.id}`, { token: own });
    const { accessToken: token } = youngest;
    expect((await identity.call('GET', '/api/v1/users/me', { token })).status).toBe(401);
  }
});
