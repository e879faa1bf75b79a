import { createSecretBox, encryptionKeys } from '@platform/service-kit';
import { ownSecretContext } from '../../../src/mcp/servers/upstream/credentials.js';
import { parseGrant } from '../../../src/mcp/servers/upstream/oauth/grant.js';
import { waitFor } from '@platform/testing';
import { createHttpBrowser } from '../../browser.js';
import { encryptionKeys as keys } from '../../identity.js';
import { startReplica } from '../../replica.js';
import { givenClient, type OauthUpstream, type SeenCaller, startOauthUpstream } from './oauth-upstream.js';
import { ALLOW_LOCAL, createAgent, useMounts } from './platform.js';
import { createPeople } from './signing-in.js';
import type { Seen } from './stateful-server.js';

/* Servers at which each member signs in. */

const PLATFORM = 'http://127.0.0.1:8080';
const CALLBACK = `${PLATFORM}/oauth2/upstream/callback`;
const environment = { MCP_SERVER_CALLS: '2000' };
const site = await useMounts(environment);
const { identity, session, mounts } = site;
let upstream: OauthUpstream;
beforeEach(async () => {
  upstream = await startOauthUpstream(CALLBACK);
});
afterEach(() => upstream.close());

const people = createPeople(identity, session);
const { createPerson, begin, comeBack } = people;
type Person = Awaited<ReturnType<typeof createPerson>>;
const mount = (fields: Readonly<Record<string, unknown>> = {}): Promise<string> =>
  people.mount(upstream.url, upstream, fields);
const signIn = (person: Person, id: string) => people.signIn(person, id, upstream);
const countRefreshes = (subject: string) => upstream.state.refreshes.filter((one) => one === subject).length;
const see = async ({ agent }: Person) => JSON.parse(await agent.getText()) as Seen<SeenCaller>;
const getConnection = async ({ session: token }: Person, id: string) =>
  (await identity.call('GET', `/api/v1/mcp-servers/${id}/my-credential`, { token })).body.server
    .connection as {
    refusedAt: string | null;
  } | null;
const findSealed = async ({ id: account }: Person, server: string): Promise<string> =>
  (await identity.db.query<{ sealed: string }>(
    'select secret_sealed as sealed from mcp_credentials where account_id = $1 and server_id = $2', [account, server],
  )).rows[0]?.sealed ?? ''; // oxfmt-ignore
const box = createSecretBox(encryptionKeys.parse(keys) ?? []);
const findGrant = async (person: Person, server: string) =>
  parseGrant(box.open(await findSealed(person, server), ownSecretContext(server, person.id)));

test('MCP-58 a member signs in once at the server, and is called as the person that the server knows', async () => {
  const id = await mount();
  const [ada, ben] = [await createPerson('ada'), await createPerson('ben')];
  const before = await ada.agent.getText();
  expect(before).toContain(`Open ${PLATFORM}/account/services/${id}`);
  for (const person of [ada, ben]) expect(await signIn(person, id)).toBe(`/account/services/${id}?signIn=connected`);
  for (const person of [ada, ben, ada]) {
    const { begun, caller } = await see(person);
    expect([begun?.sub, caller.sub]).toEqual([person.subject, person.subject]);
  }
  // Registered once, with PKCE, the resource and a state of its own for each sign-in.
  expect(upstream.state.registrations).toBe(1);
  const requests = upstream.state.requests;
  for (const request of requests)
    expect(Object.fromEntries(request)).toMatchObject({
      code_challenge_method: 'S256', resource: upstream.url, redirect_uri: CALLBACK, response_type: 'code',
    });
  expect(new Set(requests.map((request) => request.get('state'))).size).toBe(requests.length);
  // A leaked database gives no token away, nor do logs and answers.
  const { tokens } = await findGrant(ada, id);
  const dump = JSON.stringify((await identity.db.query('select * from mcp_credentials, mcp_servers')).rows);
  const own = await identity.call('GET', `/api/v1/mcp-servers/${id}/my-credential`, { token: ada.session });
  for (const token of [tokens.access_token, tokens.refresh_token ?? '?'])
    for (const text of [dump, identity.logged(), own.text]) expect(text).not.toContain(token);
}); // oxfmt-ignore

test('MCP-59 an answer counts once, and in the session that began the sign-in alone', async () => {
  const id = await mount();
  const [ada, ben] = [await createPerson('ada'), await createPerson('ben')];
  upstream.state.subject = 'ada';
  const answer = await upstream.authorize(await begin(ada, id));
  const stranger = createHttpBrowser(identity.url);
  const { headers } = await stranger.open(answer.pathname + answer.search);
  expect(headers.get('location')).toBe('/account/services?signIn=expired');
  const other = createHttpBrowser(identity.url);
  await other.signIn(ada);
  for (const person of [ben, { ...ada, browser: other }])
    expect(await comeBack(person, answer)).toBe('/account/services?signIn=expired');
  expect(await getConnection(ben, id)).toBe(null);
  expect(await comeBack(ada, answer)).toBe(`/account/services/${id}?signIn=connected`);
  expect(await comeBack(ada, answer)).toBe('/account/services?signIn=expired');
  // Nor does one that comes too late, or after the server was changed.
  const tooLate = await upstream.authorize(await begin(ada, id));
  identity.advance(601_000);
  expect(await comeBack(ada, tooLate)).toBe('/account/services?signIn=expired');
  await ada.browser.signIn(ada);
  const late = await upstream.authorize(await begin(ada, id));
  await mounts.call('PATCH', `/${id}`, { credential: { kind: 'oauth' } });
  expect(await comeBack(ada, late)).toBe(`/account/services/${id}?signIn=failed`);
}); // oxfmt-ignore

test('MCP-59 an answer of another authorization server, or without a code, connects nobody', async () => {
  const id = await mount();
  const ada = await createPerson('ada');
  for (const [change, outcome] of [
    [(query: URLSearchParams) => query.set('iss', 'https://evil.example'), 'failed'],
    [(query: URLSearchParams) => query.delete('iss'), 'failed'],
    [(query: URLSearchParams) => query.set('code', 'another'), 'failed'],
    [(query: URLSearchParams) => query.delete('code'), 'refused'],
  ] as const) {
    const answer = await upstream.authorize(await begin(ada, id));
    change(answer.searchParams);
    expect(await comeBack(ada, answer)).toBe(`/account/services/${id}?signIn=${outcome}`);
  }
  expect(await getConnection(ada, id)).toBe(null);
});

test('MCP-60 tokens are renewed before they expire, once for all calls at all replicas', async () => {
  const id = await mount();
  const ada = await createPerson('ada');
  await signIn(ada, id);
  const replica = await startReplica(identity.databaseUrl, { ...ALLOW_LOCAL, ...environment });
  try {
    const there = createAgent({ call: replica.call }, ada.session);
    for (let round = 1; round <= 3; round += 1) {
      identity.advance(290_000);
      replica.advance(290_000);
      const texts = await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? ada.agent : there).getText()),
      );
      for (const text of texts) expect((JSON.parse(text) as Seen<SeenCaller>).caller.sub).toBe('ada');
      expect(countRefreshes('ada')).toBe(round);
    }
  } finally {
    await replica.close();
  }
});

test('MCP-60 a call that is answered with 401 is sent again once with renewed tokens', async () => {
  const id = await mount();
  const ada = await createPerson('ada');
  await signIn(ada, id);
  await upstream.forgetAccessTokens((await findGrant(ada, id)).tokens.access_token);
  const seen = await Promise.all(Array.from({ length: 5 }, () => see(ada)));
  expect(seen.map(({ caller }) => caller.sub)).toEqual(Array.from({ length: 5 }, () => 'ada'));
  expect(countRefreshes('ada')).toBe(1);
});

test('MCP-87 tokens that last for two minutes or less are used for half of their time', async () => {
  const id = await mount();
  const ada = await createPerson('ada');
  upstream.state.tokenSeconds = 30;
  await signIn(ada, id);
  for (let call = 0; call < 3; call += 1) expect((await see(ada)).caller.sub).toBe('ada');
  expect(countRefreshes('ada')).toBe(0);
  identity.advance(16_000);
  for (let call = 0; call < 3; call += 1) expect((await see(ada)).caller.sub).toBe('ada');
  expect(countRefreshes('ada')).toBe(1);
});

test('MCP-88 a server that refuses renewed tokens, too, is sent no others with each call, and is in the audit once', async () => {
  const id = await mount();
  const ada = await createPerson('ada');
  await signIn(ada, id);
  upstream.state.refusesTokens = true;
  for (let call = 0; call < 5; call += 1)
    expect(await ada.agent.getText()).toContain('does not accept your account there any more');
  expect(countRefreshes('ada')).toBe(1);
  const { rowCount } = await identity.db.query(
    `select from audit_entries where subject_id = $1 and action = 'mcp_credential.refused'`, [ada.id],
  );
  expect(rowCount).toBe(1);
  upstream.state.refusesTokens = false;
  expect((await see(ada)).caller.sub).toBe('ada');
  expect((await getConnection(ada, id))?.refusedAt).toBe(null);
}); // oxfmt-ignore

test('MCP-88 an account that a server refused for a while needs no other sign-in, though its tokens have expired meanwhile', async () => {
  const id = await mount();
  const ada = await createPerson('ada');
  await signIn(ada, id);
  upstream.state.refusesTokens = true;
  expect(await ada.agent.getText()).toContain('does not accept your account there any more');
  upstream.state.refusesTokens = false;
  identity.advance(400_000);
  expect((await see(ada)).caller.sub).toBe('ada');
  expect((await getConnection(ada, id))?.refusedAt).toBe(null);
});

test('MCP-61 a renewal whose answer is lost asks for another sign-in, once in the audit, and says so to the caller', async () => {
  const id = await mount();
  const ada = await createPerson('ada');
  await signIn(ada, id);
  upstream.state.losesAnswers = true;
  identity.advance(400_000);
  // Nothing is known of it: the next one tries again.
  expect(await ada.agent.getText()).toContain('cannot be called with your account at the moment');
  upstream.state.losesAnswers = false;
  for (let attempt = 0; attempt < 3; attempt += 1)
    expect(await ada.agent.getText()).toContain('does not accept your account there any more');
  expect((await getConnection(ada, id))?.refusedAt).toEqual(expect.any(String));
  const tested = await identity.call('POST', `/api/v1/mcp-servers/${id}/my-credential/test`, { token: ada.session });
  expect(tested.body).toMatchObject({ isUsable: false, fault: 'unauthorized' });
  const { rows } = await identity.db.query(
    `select action from audit_entries where subject_id = $1 and action = 'mcp_credential.refused'`, [ada.id],
  );
  expect(rows).toHaveLength(1);
  expect(await signIn(ada, id)).toBe(`/account/services/${id}?signIn=connected`);
  expect((await see(ada)).caller.sub).toBe('ada');
}); // oxfmt-ignore

test('MCP-62 a server that wants more scopes gets them by another sign-in', async () => {
  const id = await mount();
  const ada = await createPerson('ada');
  await signIn(ada, id);
  upstream.state.neededScope = 'write';
  expect(await ada.agent.getText()).toContain('asks for more permissions than your account there has given');
  expect((await getConnection(ada, id))?.refusedAt).toBe(null);
  await signIn(ada, id);
  expect(upstream.state.requests.at(-1)?.get('scope')?.split(' ')).toEqual(
    expect.arrayContaining(['read', 'write']),
  );
  expect((await see(ada)).caller.sub).toBe('ada');
});

test('MCP-63 disconnecting revokes the tokens at the authorization server', async () => {
  const id = await mount();
  const [ada, ben] = [await createPerson('ada'), await createPerson('ben')];
  for (const person of [ada, ben]) await signIn(person, id);
  const { tokens } = await findGrant(ada, id);
  await ada.browser.call('DELETE', `/api/v1/mcp-servers/${id}/my-credential`);
  await identity.call('DELETE', `/api/v1/mcp-servers/${id}/credentials/${ben.id}`, { token: await identity.login() });
  await waitFor(() => upstream.state.revocations === 2, { what: 'the revocations' });
  const response = await fetch(upstream.url, { method: 'POST', headers: { authorization: `Bearer ${tokens.access_token}` } });
  expect(response.status).toBe(401);
  for (const person of [ada, ben]) expect(await person.agent.getText()).toContain('have not connected yet');
}); // oxfmt-ignore

const refuses = async (token: string): Promise<boolean> =>
  (await fetch(upstream.url, { method: 'POST', headers: { authorization: `Bearer ${token}` } })).status ===
  401;
const countWaiting = async (server: string): Promise<number> =>
  (await identity.db.query('select from mcp_revocations where server_id = $1', [server])).rowCount ?? 0;
/** Finds why the connections of a person have ended, as their events say. */
const findEnds = async ({ id }: Person): Promise<unknown[]> =>
  (await identity.db.query<{ data: Record<string, unknown> }>(
    `select event -> 'data' as data from outbox.events where event ->> 'type' = 'mcp.disconnected'
       and event -> 'data' ->> 'subjectId' = $1 order by position`, [id],
  )).rows.map(({ data: { reason, detail } }) => ({ reason, detail })); // oxfmt-ignore

test.each([
  ['account_removed', (_id: string, ada: Person) => identity.call('DELETE', `/api/v1/users/${ada.id}`, { token: session })],
  ['server_removed', (id: string) => mounts.call('DELETE', `/${id}`)],
  ['server_changed', (id: string) => mounts.call('PATCH', `/${id}`, { url: 'http://127.0.0.2:9/mcp' })],
  ['server_changed', (id: string) => mounts.call('PATCH', `/${id}`, { credential: { kind: 'none' } })],
  [null, (_id: string, ada: Person) => ada.browser.call('DELETE', '/api/v1/mcp-servers/mine')],
] as const)('MCP-65 tokens that end with an act (%s) are revoked, once their authorization server can', async (reason, act) => {
  const id = await mount();
  const ada = await createPerson('ada');
  await signIn(ada, id);
  const { tokens } = await findGrant(ada, id);
  upstream.state.failsRevocations = true;
  expect((await act(id, ada)).status).toBe(200);
  expect(await findEnds(ada)).toEqual([{ reason, detail: { server: 'wiki', serverId: id } }]);
  expect(await refuses(tokens.access_token)).toBe(false);
  // What is left to do survives the process, which knows nothing else of it.
  await waitFor(() => identity.logged().includes('failed to revoke tokens'), { what: 'the first attempt' });
  expect(await countWaiting(id)).toBeGreaterThan(0);
  upstream.state.failsRevocations = false;
  identity.advance(20_000);
  await waitFor(() => refuses(tokens.access_token), { what: 'the revocation', patienceMs: 30_000 });
  await waitFor(async () => (await countWaiting(id)) === 0, { what: 'the end of the job', patienceMs: 30_000 });
  for (const token of [tokens.access_token, tokens.refresh_token ?? '?']) expect(identity.logged()).not.toContain(token);
}); // oxfmt-ignore

test('MCP-65 tokens that nobody can revoke are given up after a day', async () => {
  const id = await mount();
  const ada = await createPerson('ada');
  await signIn(ada, id);
  upstream.state.failsRevocations = true;
  await ada.browser.call('DELETE', `/api/v1/mcp-servers/${id}/my-credential`);
  expect(await countWaiting(id)).toBe(1);
  await identity.db.query(
    `update mcp_revocations set ended_at = ended_at - interval '1 day', next_attempt_at = ended_at where server_id = $1`, [id],
  );
  await waitFor(async () => (await countWaiting(id)) === 0, { what: 'the end', patienceMs: 30_000 });
  expect(identity.logged()).toContain('gave up revoking tokens');
}); // oxfmt-ignore

test('MCP-64 an administrator can give the client, which belongs to one authorization server', async () => {
  const id = await mount({ ...givenClient, scope: 'read' });
  expect((await mounts.get(id)).credential).toMatchObject({
    kind: 'oauth',
    clientId: 'platform',
    scope: 'read',
  });
  const ada = await createPerson('ada');
  await signIn(ada, id);
  expect((await see(ada)).caller).toEqual({ sub: 'ada', client: 'platform' });
  expect(upstream.state.registrations).toBe(0);
  // Another client is another agreement: nobody stays connected with the one before.
  await mounts.call('PATCH', `/${id}`, { credential: { kind: 'oauth' } });
  expect(await getConnection(ada, id)).toBe(null);
  expect((await mounts.get(id)).credential.clientId).toBe(null);
});

test('MCP-58 nobody signs in at a server that is down, and no token is pasted', async () => {
  const id = await mounts.mount('http://127.0.0.1:9/mcp', { credential: { kind: 'oauth' } });
  const ada = await createPerson('ada');
  const { status, body } = await ada.browser.call('POST', `/api/v1/mcp-servers/${id}/my-credential/sign-in`);
  expect([status, body.error.code]).toEqual([502, 'SIGN_IN_FAILED']);
  const pasted = await identity.call('PUT', `/api/v1/mcp-servers/${id}/my-credential`, { token: ada.session, body: { value: 'a' } });
  expect(pasted.status).toBe(404);
}); // oxfmt-ignore
