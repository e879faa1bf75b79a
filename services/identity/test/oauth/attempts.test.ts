import { createLogger, firstIdAt } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { createAttemptJournal } from '../../src/oauth/attempts/journal.js';
import { createCaller } from '../mcp/endpoint/endpoint.js';
import { startWithApplication } from './connected-application.js';
import { consentAt, createAuthorization, createBrowser, exchangeCode, openConsent } from './flow.js';

/* The journal of attempts to connect: what the authorization server and the tool endpoint saw of each. */

const running = await startWithApplication({ OAUTH_REGISTRATION: 'on' });
const { identity, session, clientId, browser } = running;
afterAll(() => running.close());

interface AttemptView {
  readonly client: string | null;
  readonly userId: string | null;
  readonly fault: string | null;
  readonly stuckAt: string | null;
  readonly steps: { step: string }[];
}
const list = async (token = session, path = ''): Promise<AttemptView[]> =>
  (await identity.call('GET', `/api/v1/agents/attempts${path}`, { token })).body.data;
const clear = () => identity.db.query('delete from connection_steps');
/** Waits until the newest attempt has come so far. */
const stuckAt = (step: string | null, token = session): Promise<AttemptView> =>
  waitFor(
    async () => {
      const [newest] = await list(token);
      return newest?.stuckAt === step && newest;
    },
    { what: `an attempt that is stuck at ${step}` },
  );
const names = ({ steps }: AttemptView) => steps.map(({ step }) => step);

test('an attempt is followed from the challenge to the first call, and names what is missing [OAUTH-28]', async () => {
  await identity.call('POST', '/mcp', { raw: '{}' });
  await stuckAt('metadata');
  await identity.call('GET', '/.well-known/oauth-protected-resource/mcp');
  await stuckAt('authorize');
  const authorization = createAuthorization(clientId);
  await browser.get(authorization.url);
  await stuckAt('consent');
  const { path } = await openConsent(browser, createAuthorization(clientId));
  expect(path).toContain('/oauth2');
  await stuckAt('code');
  const target = await consentAt(browser, authorization.url);
  await stuckAt('token');
  const answer = await exchangeCode(identity, authorization, target.searchParams.get('code') ?? '');
  const connected = await stuckAt('call');
  expect(names(connected)).toEqual(['challenge', 'metadata', 'authorize', 'consent', 'code', 'token']);
  const { body: me } = await identity.call('GET', '/api/v1/users/me', { token: session });
  expect(connected).toMatchObject({ client: clientId, userId: me.user.id, fault: null });
  const { legacy } = createCaller(identity, answer.body.access_token as string);
  await legacy('tools/call', { name: 'whoami', arguments: {} });
  await stuckAt(null);
  const { rows } = await identity.db.query('select row_to_json(s)::text as row from connection_steps s');
  const stored = JSON.stringify(rows);
  const { verifier, state } = authorization;
  for (const secret of [target.searchParams.get('code') ?? 'code', verifier, state, answer.body.access_token, answer.body.refresh_token])
    expect(stored).not.toContain(secret);
}); // oxfmt-ignore

test('the console, which reads the metadata as well, is no attempt to connect [OAUTH-28]', async () => {
  // Anew, because the same step is recorded once a minute.
  const other = await startWithApplication();
  const call = (site: string) =>
    other.identity.call('GET', '/.well-known/oauth-protected-resource/mcp', {
      headers: { 'sec-fetch-site': site },
    });
  const count = async () => (await other.identity.db.query('select from connection_steps')).rowCount;
  await call('same-origin');
  await other.identity.call('POST', '/mcp', { raw: '{}' });
  await waitFor(async () => (await count()) === 1, { what: 'the challenge' });
  await call('cross-site');
  await waitFor(async () => (await count()) === 2, { what: 'the metadata' });
  const { rows } = await other.identity.db.query('select step from connection_steps order by id');
  expect(rows.map(({ step }) => step)).toEqual(['challenge', 'metadata']);
  await other.close();
});

test('an attempt says at which step it failed, and with which fault [OAUTH-28]', async () => {
  await clear();
  await browser.get(createAuthorization('no-such-client').url);
  const unknown = await stuckAt('authorize');
  expect(unknown).toMatchObject({ client: 'no-such-client', fault: 'invalid_client', userId: null });
  await clear();
  const denied = createAuthorization(clientId, { state: 'denied' });
  await consentAt(browser, denied.url, { decision: 'deny' });
  expect(await stuckAt('consent')).toMatchObject({ fault: 'denied', client: clientId });
  await clear();
  const body = { redirect_uris: ['http://elsewhere.example/callback'], token_endpoint_auth_method: 'none' };
  await identity.call('POST', '/oauth2/register', { body });
  expect(await stuckAt('registration')).toMatchObject({ fault: expect.stringMatching(/^invalid_/) });
});

test('others see what belongs to nobody from their own network alone, and nothing of a member [OAUTH-29]', async () => {
  await clear();
  const other = await identity.createMember(session);
  const { session: elsewhere } = await identity.createOrganisation('attempts@example.org');
  const guest = createBrowser(identity);
  await guest.signIn({ email: other.email, password: other.password });
  const at = new Date();
  const insert = (network: string, userId: string | null, minutesAgo: number) =>
    identity.db.query(
      `insert into connection_steps (id, at, network, step, client_id, user_id, org_id)
       select $1, $2, $3, 'authorize', $5, $4, (select org_id from users where id = $4)`,
      [
        firstIdAt(at.getTime() - minutesAgo * 60_000),
        new Date(at.getTime() - minutesAgo * 60_000),
        network,
        userId,
        `${network} ${minutesAgo}`,
      ],
    );
  await insert('127.0.0.1/32', null, 1);
  await insert('127.0.0.1/32', other.id, 2);
  await insert('203.0.113.7/32', null, 3);
  await insert('127.0.0.1/32', null, 121);
  const own = (await list(other.session)).map(({ client, userId }) => [client, userId]);
  expect(own).toEqual([
    ['127.0.0.1/32 1', null],
    ['127.0.0.1/32 2', other.id],
  ]);
  for (const by of [session, elsewhere]) expect((await list(by)).map(({ userId }) => userId)).toEqual([null]);
  // Administrators see those of members, and of nobody else.
  expect(await list(session, '/all')).toMatchObject([{ userId: other.id, email: other.email }]);
  expect(await list(elsewhere, '/all')).toEqual([]);
  const refused = await identity.call('GET', '/api/v1/agents/attempts/all', { token: other.session });
  expect(refused.status).toBe(403);
});

test('a flood takes no place of others, grows no faster than the journal allows, and is cleaned [OAUTH-30]', async () => {
  await clear();
  const log = createLogger('test', 'silent');
  let now = Date.now();
  const journal = createAttemptJournal({ pool: identity.db, clock: () => now, log });
  for (let count = 0; count < 5_000; count += 1)
    journal.record({ step: 'authorize', address: `198.51.100.${count % 250}`, userAgent: `bot ${count}`, clientId: `c-${count}` });
  journal.record({ step: 'authorize', address: '203.0.113.9', userAgent: 'honest/1', clientId: 'https://honest.example/client.json?secret=1#x' });
  journal.record({ step: 'authorize', address: 'no address', userAgent: `a\u0000b\u202e${'x'.repeat(500)}`, clientId: 'y'.repeat(5_000), fault: 'DROP TABLE' });
  await journal.flush();
  const { rows } = await identity.db.query('select network, client_id, user_agent, fault from connection_steps order by network');
  expect(rows.length).toBeLessThanOrEqual(10);
  const honest = rows.find(({ user_agent: agent }) => agent === 'honest/1');
  expect(honest).toMatchObject({ client_id: 'https://honest.example/client.json', network: '203.0.113.9/32' });
  const hostile = rows.find(({ network }) => network === 'unknown');
  expect(hostile).toMatchObject({ fault: 'other', client_id: 'y'.repeat(200) });
  expect(hostile.user_agent).toMatch(/^a b x{96}$/);
  for (let round = 0; round < 20; round += 1) await journal.flush();
  const { rows: all } = await identity.db.query(`select count(*)::int from connection_steps where client_id like 'c-%'`);
  expect(all[0].count).toBe(10);
  // What a member does is never behind the others.
  now += 120_000;
  for (let count = 0; count < 5_000; count += 1)
    journal.record({ step: 'authorize', address: `10.${count % 250}.${Math.floor(count / 250)}.1`, userAgent: 'bot', clientId: 'flood' });
  const { body: me } = await identity.call('GET', '/api/v1/users/me', { token: session });
  journal.record({ step: 'consent', address: '203.0.113.9', userAgent: 'browser', clientId: 'x', userId: me.user.id });
  await journal.flush();
  const { rows: own } = await identity.db.query('select step, org_id from connection_steps where user_id = $1', [me.user.id]);
  expect(own).toEqual([{ step: 'consent', org_id: identity.orgId }]);
}); // oxfmt-ignore

test('steps of nobody are deleted after two hours, and those of members after 14 days [OAUTH-30]', async () => {
  await clear();
  const { body: me } = await identity.call('GET', '/api/v1/users/me', { token: session });
  const hours = [1, 3, 24 * 13, 24 * 15];
  for (const [index, ago] of hours.entries())
    for (const userId of [null, me.user.id as string])
      await identity.db.query(
        `insert into connection_steps (id, at, network, step, client_id, user_id) values ($1, now(), '127.0.0.1/32', 'authorize', $2, $3)`,
        [firstIdAt(Date.now() - ago * 3_600_000 + index + (userId ? 100 : 0)), String(ago), userId],
      );
  await identity.sweep();
  const { rows } = await identity.db.query('select client_id, user_id is null as unowned from connection_steps order by id');
  expect(rows.map(({ client_id: ago, unowned }) => [Number(ago), unowned])).toEqual([
    [24 * 13, false],
    [3, false],
    [1, true],
    [1, false],
  ]);
}); // oxfmt-ignore
