import { createHttpBrowser } from '../../browser.js';
import { admin, encryptionKeys, type IdentityUnderTest, startIdentity } from '../../identity.js';
import { startServer } from '../../process/process.js';

const ME = '/api/v1/users/me';
const SESSIONS = '/api/v1/sessions';
let identity: IdentityUnderTest;
let replica: Awaited<ReturnType<typeof startServer>>;

beforeAll(async () => {
  identity = await startIdentity();
  replica = await startServer({
    DATABASE_URL: identity.databaseUrl,
    ENCRYPTION_KEYS: encryptionKeys,
    HOST: '127.0.0.1',
    PORT: '0',
  });
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
