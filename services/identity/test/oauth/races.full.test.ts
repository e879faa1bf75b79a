import { createSecretBox, systemClock } from '@platform/service-kit';
import { waitFor } from '@platform/testing';
import { createDecoder } from 'fast-jwt';
import { loadEncryptionKeys } from '../../src/config.js';
import { rotateKey } from '../../src/credentials/signing-keys/commands.js';
import { encryptionKeys, type IdentityUnderTest } from '../identity.js';
import { waitForLockWaiters } from '../lock-waiters.js';
import { startReplica } from '../replica.js';
import { createApplication, PUBLIC_URL, requestToken } from './applications.js';
import { startWithApplication } from './connected-application.js';
import {
  consent,
  createAuthorization,
  createBrowser,
  exchangeCode,
  listTools,
  openConsent,
  refresh,
} from './flow.js';

/*
 * Two replicas over one database: what happens at the same moment in both has one outcome. Refreshes while a connection ends
 * are explored in `test/interleavings`.
 */

const decode = createDecoder({ complete: true });
const running = await startWithApplication();
const { identity, session, clientId, browser, connect } = running;
const replica = await startReplica(identity.databaseUrl);
/** The same identity, and the same browser, reached through the other replica. */
const other: IdentityUnderTest = { ...identity, url: replica.url, call: replica.call };
const atReplica = createBrowser(other, undefined, browser.cookies);
afterAll(async () => {
  await replica.close();
  await running.close();
});

async function countGrants(): Promise<number> {
  return (await identity.db.query('select from oauth_grants')).rowCount ?? 0;
}

/** Opens a consent page. @returns a function that answers it at either replica. */
async function ask() {
  const authorization = createAuthorization(clientId);
  const { path, csrf } = await openConsent(browser, authorization);
  const form = { csrf, scope: ['user:read', 'crawl:read'] };
  const answer = (decision: 'allow' | 'deny', at = browser) => at.post(path, { ...form, decision });
  return { authorization, answer };
}

/** Goes back to the authorization server. @returns the parameters with which it sends the browser to the application. */
async function resume(location: string, at = browser): Promise<URLSearchParams> {
  return new URL(at.getLocation(await at.get(location)) || 'none:').searchParams;
}

test('OAUTH-13: a consent that reaches two replicas at once makes one connection, and both answers lead to it', async () => {
  for (let round = 0; round < 3; round += 1) {
    const before = await countGrants();
    const { authorization, answer } = await ask();
    const answers = await Promise.all([answer('allow'), answer('allow', atReplica)]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    const [first, second] = answers.map(browser.getLocation);
    expect(second).toBe(first);
    expect(await countGrants()).toBe(before + 1);
    const code = (await resume(second ?? '', atReplica)).get('code') ?? '';
    expect((await exchangeCode(identity, authorization, code)).status).toBe(200);
  }
});

test.each([
  ['allow', 'deny', 1],
  ['deny', 'allow', 0],
] as const)('OAUTH-13: the first answer counts: %s, then %s', async (earlier, later, grants) => {
  const before = await countGrants();
  const { answer } = await ask();
  const first = await answer(earlier);
  const second = await answer(later, atReplica);
  expect([second.status, browser.getLocation(second)]).toEqual([303, browser.getLocation(first)]);
  expect(await countGrants()).toBe(before + grants);
  const target = await resume(browser.getLocation(second));
  expect(target.has(earlier === 'allow' ? 'code' : 'error')).toBe(true);
});

test('OAUTH-13: a consent whose outcome has reached the application is answered with a page, and makes no connection', async () => {
  const { answer } = await ask();
  await resume(browser.getLocation(await answer('allow')));
  const before = await countGrants();
  const { status, text } = await answer('allow', atReplica);
  expect([status, text]).toEqual([400, expect.stringContaining('Start again from the application')]);
  expect(await countGrants()).toBe(before);
});

test('OAUTH-13: one consent gives one code when two replicas resume it at once', async () => {
  for (let round = 0; round < 3; round += 1) {
    const { answer } = await ask();
    const location = browser.getLocation(await answer('allow'));
    const targets = await Promise.all([resume(location), resume(location, atReplica)]);
    expect(targets.filter((target) => target.has('code'))).toHaveLength(1);
  }
});

test('a code that is used three times concurrently is exchanged at most once, and the connection ends', async () => {
  const authorization = createAuthorization(clientId);
  const code = (await consent(browser, authorization)).searchParams.get('code') ?? '';
  // All three have read the code as unused when the first of them marks it.
  const holder = await identity.db.connect();
  await holder.query('begin');
  await holder.query(`select from oauth_artifacts where model = 'AuthorizationCode' for update`);
  const exchanges = [identity, other, identity].map((one) => exchangeCode(one, authorization, code));
  try {
    await waitForLockWaiters(identity.db, exchanges.length);
  } finally {
    await holder.query('commit');
    holder.release();
  }
  const exchanged = (await Promise.all(exchanges)).filter(({ status }) => status === 200);
  expect(exchanged.length).toBeLessThanOrEqual(1);
  for (const { body } of exchanged) expect(await listTools(identity, body.access_token as string)).toBe(401);
});

const refreshAt = async (one: IdentityUnderTest, token: string) => {
  const { status, body } = await refresh(one, clientId, token);
  return {
    status,
    error: body.error as string | undefined,
    token: body.access_token as string,
    refreshToken: body.refresh_token as string,
  };
};

test('two replicas that get one refresh token concurrently issue one successor, for as long as they refresh together', async () => {
  let { refreshToken } = await connect();
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all([identity, other, other].map((one) => refreshAt(one, refreshToken)));
    for (const { token } of answers) expect(await listTools(identity, token)).toBe(200);
    const [successor, ...others] = new Set(answers.map((answer) => answer.refreshToken));
    expect(others).toEqual([]);
    refreshToken = successor ?? '';
  }
});

test('no token of an application outlives its disabling during concurrent requests', async () => {
  const created = await createApplication(identity, session);
  const credentials = { clientId: created.application.clientId, clientSecret: created.clientSecret };
  const path = `/api/v1/oauth-applications/${credentials.clientId}`;
  const request = (index: number) => requestToken(index % 2 === 0 ? other : identity, credentials);
  const [disabled, ...answers] = await Promise.all([
    identity.call('PATCH', path, { token: session, body: { isDisabled: true } }),
    ...Array.from({ length: 12 }, (_value, index) => request(index)),
  ]);
  expect(disabled.status).toBe(200);
  const tokens = answers.flatMap(({ status, body }) => (status === 200 ? [body.access_token as string] : []));
  for (const token of tokens) expect((await other.call('GET', '/api/v1/users', { token })).status).toBe(401);
  expect((await request(0)).status).toBe(401);
});

async function signInAsMember() {
  const member = await identity.createMember(session);
  const own = createBrowser(identity);
  await own.signIn(member);
  const remove = () => other.call('DELETE', `/api/v1/users/${member.id}`, { token: session });
  return { own, authorization: createAuthorization(clientId, { scope: 'user:read' }), remove };
}

test('a member who is removed at the moment of consent has no connection that works', async () => {
  const { own, authorization, remove } = await signInAsMember();
  const { path, csrf } = await openConsent(own, authorization);
  const [answered, removed] = await Promise.all([
    own.post(path, { csrf, decision: 'allow', scope: 'user:read' }),
    remove(),
  ]);
  expect(removed.status).toBe(200);
  const target = own.getLocation(await own.get(own.getLocation(answered)));
  const code = URL.parse(target, PUBLIC_URL)?.searchParams.get('code') ?? '';
  expect((await exchangeCode(other, authorization, code)).status).toBe(400);
});

test('removing a member ends the connections of the member at once', async () => {
  const { own, authorization, remove } = await signInAsMember();
  const target = await consent(own, authorization, { scope: 'user:read' });
  const { body } = await exchangeCode(identity, authorization, target.searchParams.get('code') ?? '');
  expect(await listTools(identity, body.access_token as string)).toBe(200);
  await remove();
  expect(await listTools(identity, body.access_token as string)).toBe(401);
  expect((await refresh(identity, clientId, body.refresh_token as string)).body.error).toBe('invalid_grant');
});

test('the signing key rotates between the authorization and the token without a refusal', async () => {
  const authorization = createAuthorization(clientId);
  const code = (await consent(browser, authorization)).searchParams.get('code') ?? '';
  const box = createSecretBox(loadEncryptionKeys({ ENCRYPTION_KEYS: encryptionKeys }));
  // It signs after twenty seconds, so at once.
  const published = systemClock() - 20_000;
  const kid = await identity.prisma.$transaction((tx) => rotateKey(tx, box, published));
  const isSigning = async () => decode((await connect()).token).header.kid === kid;
  await waitFor(isSigning, { what: 'the new key to sign', intervalMs: 200 });
  const { status, body } = await exchangeCode(other, authorization, code);
  expect(status).toBe(200);
  expect(await listTools(identity, body.access_token as string)).toBe(200);
});
