import { callUrl } from '@platform/testing';
import { createHttpBrowser } from '../../browser.js';
import { admin, encryptionKeys, startIdentity } from '../../identity.js';
import { startServer } from '../../process/process.js';

const ME = '/api/v1/users/me';
const SESSIONS = '/api/v1/sessions';

const identity = await startIdentity();
const replica = await startServer({
  DATABASE_URL: identity.databaseUrl,
  ENCRYPTION_KEYS: encryptionKeys,
  HOST: '127.0.0.1',
  PORT: '0',
});
afterAll(async () => {
  replica.child.kill('SIGTERM');
  await replica.exit;
  await identity.close();
});

/** The same browser at two replicas: they share its cookies. */
function openBrowsers() {
  const first = createHttpBrowser(identity.url);
  const second = createHttpBrowser(replica.url);
  const share = () => {
    second.cookies.clear();
    for (const [name, value] of first.cookies) second.cookies.set(name, value);
  };
  return { first, second, share };
}

test('AUTH-20 a session that one replica ends is refused by the other at once, even with requests in flight', async () => {
  const { first, second, share } = openBrowsers();
  await first.signIn(admin);
  share();
  const ended = new AbortController();
  let acceptedLate = 0;
  const ask = async () => {
    while (!ended.signal.aborted) await second.call('GET', ME);
    for (let round = 0; round < 5; round += 1)
      if ((await second.call('GET', ME)).status !== 401) acceptedLate += 1;
  };
  const asking = Array.from({ length: 8 }, ask);
  expect((await second.call('GET', ME)).status).toBe(200);
  const [current] = (await first.call('GET', SESSIONS)).body.sessions as { id: string }[];
  expect((await first.call('DELETE', `${SESSIONS}/${current?.id}`)).status).toBe(200);
  ended.abort();
  await Promise.all(asking);
  expect(acceptedLate).toBe(0);
});

test('AUTH-21 a browser that signs in at two replicas concurrently keeps one session and lists the other', async () => {
  const { first, second, share } = openBrowsers();
  await first.open('/sign-in');
  share();
  const answers = await Promise.all([first.signIn(admin), second.signIn(admin)]);
  expect(answers.map(({ status }) => status)).toEqual([303, 303]);
  share();
  expect([(await first.call('GET', ME)).status, (await second.call('GET', ME)).status]).toEqual([200, 200]);
  expect((await first.call('DELETE', SESSIONS)).body.endedCount).toBeGreaterThanOrEqual(1);
  expect((await first.call('GET', SESSIONS)).body.sessions).toHaveLength(1);
});

test('AUTH-25 when two replicas end the same session concurrently, one responds with 200 and one with 404', async () => {
  const [kept, ended] = [await identity.login(), await identity.login()];
  const { sessions } = (await identity.call('GET', SESSIONS, { token: ended })).body as {
    sessions: { id: string; current: boolean }[];
  };
  const path = `${SESSIONS}/${sessions.find(({ current }) => current)?.id}`;
  const end = async (url: string) =>
    (await fetch(url + path, { method: 'DELETE', headers: { authorization: `Bearer ${kept}` } })).status;
  const statuses = await Promise.all([end(identity.url), end(replica.url)]);
  expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 404]);
});

/** Gives the organisation 50,000 open sessions of a thousand members, and one of a member who signs in now. */
async function openManySessions(firstFactor: 'password' | 'provider') {
  const boss = await identity.createOrganisation(`boss@${firstFactor}.example`);
  const member = await identity.createMember(boss.session);
  const { db } = identity;
  await db.query(
    `insert into users (id, org_id, email, full_name, role, password_hash, created_at)
     select gen_random_uuid(), $1, n || '@' || $2 || '.example', 'Many', 'member', 'x', now() from generate_series(1, 1000) n`,
    [boss.orgId, firstFactor],
  );
  await db.query(
    `insert into sessions (id, org_id, user_id, token_hash, created_at, expires_at, first_factor, provider_generation, single_factor_generation)
     select gen_random_uuid(), org_id, id, gen_random_uuid()::text, now(), now() + interval '1 day', $2,
            case when $2 = 'provider' then 0 end, 0
     from users, generate_series(1, 50) where org_id = $1 and full_name = 'Many'`,
    [boss.orgId, firstFactor],
  );
  const status = async (token: string) =>
    (await Promise.all([identity, replica].map(({ url }) => callUrl(`${url}${ME}`, 'GET', { token })))).map(
      (answer) => answer.status,
    );
  return { boss, member, status };
}

test('AUTH-33 50,000 sessions without a second factor end at once, but for that of the caller', async () => {
  const { boss, member, status } = await openManySessions('password');
  const body = { codesEnabled: true, secondFactorRequired: true, endSessions: true };
  const path = '/api/v1/configurationManager/signInConfig';
  const saved = await identity.call('POST', path, { token: boss.session, body });
  expect([saved.status, saved.body.endedCount]).toEqual([200, 50_001]);
  expect([await status(member.session), await status(boss.session)]).toEqual([[401, 401], [200, 200]]);
  const again = await identity.call('POST', path, { token: boss.session, body });
  expect([again.status, again.body.endedCount, await status(boss.session)]).toEqual([200, 0, [200, 200]]);
}); // prettier-ignore

test('IDP-4 50,000 sessions and connections of a provider end at once with it', async () => {
  const { boss, member, status } = await openManySessions('provider');
  const { db } = identity;
  await db.query(
    `insert into identity_providers (org_id, issuer, client_id, scopes, second_factor_values, is_just_in_time, is_required, revision, created_at, updated_at)
     values ($1, 'https://sso.example', 'c', '{}', '{}', false, false, gen_random_uuid(), now(), now())`,
    [boss.orgId],
  );
  await db.query(
    `insert into provider_links (user_id, org_id, issuer, subject, created_at)
     select id, org_id, 'https://sso.example', id::text, now() from users where org_id = $1 and full_name = 'Many'`,
    [boss.orgId],
  );
  const removed = await identity.call('DELETE', '/api/v1/organisation/identity-provider', { token: boss.session });
  expect([removed.status, removed.body.endedCount]).toEqual([200, 50_000]);
  expect([await status(member.session), await status(boss.session)]).toEqual([[200, 200], [200, 200]]);
}); // prettier-ignore
