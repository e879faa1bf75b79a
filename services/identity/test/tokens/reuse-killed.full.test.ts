import { waitFor } from '@platform/testing';
import { type CreatedToken, encryptionKeys, PATIENT, startIdentity } from '../identity.js';
import { waitForLockWaiters } from '../lock-waiters.js';
import { startServer } from '../process/process.js';

const path = '/api/v1/personal-access-tokens';
const MAIL_URL = 'http://127.0.0.1:9';

const identity = await startIdentity({ environment: { MAIL_URL } });
const replica = await startServer({
  ...PATIENT,
  DATABASE_URL: identity.databaseUrl,
  ENCRYPTION_KEYS: encryptionKeys,
  HOST: '127.0.0.1',
  PORT: '0',
  MAIL_URL,
});
afterAll(async () => {
  replica.child.kill('SIGKILL');
  await replica.exit;
  await identity.close();
});

const findReports = async () =>
  (
    await identity.db.query<{ user_id: string }>(
      `select user_id from outgoing_mails where kind = 'token_alert' and reports_theft`,
    )
  ).rows;

test('the reuse of a rotated token ends its family and is mailed once, although the replica that noted it is killed', async () => {
  const session = await identity.login();
  const policy = {
    allowList: [],
    maxLifetimeDays: null,
    allowsNever: true,
    deniedScopes: [],
    revokeFamilyOnReuse: true,
    revokeUnusedDays: null,
  };
  await identity.call('PUT', '/api/v1/organisation/token-policy', { token: session, body: policy });
  const owner = await identity.createMember(session);
  const old = await identity.createToken(owner.session, {
    scopes: ['user:read', 'pat:write'],
  });
  const { body } = await identity.call('POST', `${path}/${old.id}/rotate`, {
    token: owner.session,
    body: { graceSeconds: 0 },
  });
  const current = body.token as CreatedToken;
  const getStatus = async (url: string, { accessToken }: CreatedToken) =>
    (await fetch(`${url}/api/v1/users/me`, { headers: { authorization: `Bearer ${accessToken}` } })).status;

  // Holds the reaction up before its mail, after the family was revoked.
  const client = await identity.db.connect();
  await client.query('begin');
  await client.query('select from personal_access_tokens where id = $1 for no key update', [old.id]);
  expect(await getStatus(replica.url, old)).toBe(401);
  await waitForLockWaiters(identity.db);
  replica.child.kill('SIGKILL');
  await replica.exit;
  const { rows } = await identity.db.query(
    `select id from audit_entries where action = 'token.reused' and subject_id = $1`,
    [old.id],
  );
  expect(rows).toHaveLength(1);
  expect(await findReports()).toEqual([]);
  await client.query('commit');
  client.release();

  await waitFor(async () => (await findReports()).length > 0, { what: 'the mail' });
  expect(await findReports()).toEqual([{ user_id: owner.id }]);
  expect(await getStatus(identity.url, current)).toBe(401);
  expect((await identity.db.query('select from token_reuses')).rowCount).toBe(0);
});
