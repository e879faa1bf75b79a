import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { waitFor } from '@platform/testing';
import { type CreatedToken, startIdentity } from '../identity.js';
import { createApplication, requestToken } from '../oauth/applications.js';
import { startProbeService } from '../credentials/verification/probe-service.js';
import { noPolicy, policyPath } from '../token-policy.js';
import { createTokens, TOKENS } from './tokens.js';

const OFFICE = '203.0.113.9';
const HOME = '198.51.100.9';

const identity = await startIdentity({ environment: { TRUST_PROXY: '127.0.0.1' } });
const session = await identity.login();
const probe = await startProbeService(identity.url);
const { create, make, rotate, get } = createTokens(identity, session);
afterAll(async () => {
  await probe.close();
  await identity.close();
});

const makeFor = (...allowList: string[]) => make(session, { allowList });
const useFrom = (address: string, { accessToken: token }: CreatedToken) =>
  identity.call('GET', '/api/v1/users/me', {
    token,
    headers: { 'x-forwarded-for': address, 'user-agent': 'thief/1.0' },
  });
/** Calls identity, and a service that asks identity, as the gateway does for a client at the address. */
const statusesFrom = async (address: string, token: CreatedToken) => [
  (await useFrom(address, token)).status,
  (await probe.whoami(token.accessToken, { 'x-forwarded-for': address })).status,
];
const setRanges = async (allowList: string[]) => {
  const body = { ...noPolicy, allowList };
  expect((await identity.call('PUT', policyPath, { token: session, body })).status).toBe(200);
};
const findRefusals = async (id: string) =>
  (
    await identity.db.query(
      `select org_id, credential_kind, subject_id, address, user_agent, reason, detail from audit_entries
       where action = 'token.refused' and credential_id = $1`,
      [id],
    )
  ).rows;
const waitForRefusal = (id: string) =>
  waitFor(async () => (await findRefusals(id)).length > 0, { what: 'the entry' });

test('PAT-26 a token with an allow list works from its ranges only, in every service', async () => {
  const token = await makeFor('203.0.113.0/24', '2001:db8::/32');
  for (const address of [OFFICE, `::ffff:${OFFICE}`, '2001:db8::7', `${HOME}, ${OFFICE}`])
    expect([address, await statusesFrom(address, token)]).toEqual([address, [200, 200]]);
  // What a client claims in front of the trusted proxy's own entry has no effect, and an unknown address is refused.
  for (const address of [HOME, '2001:db9::7', `${OFFICE}, ${HOME}`, 'unknown', '203.0.113.9:80', 'fe80::1%eth0'])
    expect([address, await statusesFrom(address, token)]).toEqual([address, [401, 401]]);
}); // oxfmt-ignore

test('PAT-26 the refusal is the usual 401, and the audit has one entry with the address', async () => {
  const token = await makeFor('203.0.113.0/24');
  const answer = await useFrom(HOME, token);
  const garbage = await identity.call('GET', '/api/v1/users/me', { token: 'pat_a.b.c' });
  expect([answer.status, answer.text]).toEqual([401, garbage.text]);
  expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
  await useFrom(HOME, token);
  await waitForRefusal(token.id);
  expect(await findRefusals(token.id)).toMatchObject([
    {
      org_id: identity.orgId,
      subject_id: token.id,
      address: HOME,
      user_agent: 'thief/1.0',
      reason: 'address not allowed',
    },
  ]);
  expect(identity.logged()).not.toContain(token.accessToken);
  const { rowCount } = await identity.db.query('select from token_last_used where token_id = $1', [token.id]);
  expect(rowCount).toBe(0);
});

test('PAT-26 a token adds one entry for a network, and 20 for all networks, however many addresses it is used from', async () => {
  const [neighbours, scattered] = [await makeFor('203.0.113.0/24'), await makeFor('203.0.113.0/24')];
  for (let host = 1; host <= 25; host += 1) {
    await useFrom(`2001:db8:0:1::${host}`, neighbours);
    await useFrom(`2001:db8:0:${host}::1`, scattered);
  }
  const last = await makeFor('203.0.113.0/24');
  await useFrom(HOME, last);
  await waitForRefusal(last.id);
  const counts = await Promise.all([neighbours, scattered].map(({ id }) => findRefusals(id)));
  expect(counts.map(({ length }) => length)).toEqual([1, 20]);
});

test("PAT-26 an organisation's allow list applies to all its tokens, and not to sessions or other organisations", async () => {
  const other = await identity.createOrganisation('allow-list@example.com');
  const [token, foreign] = [await make(), await make(other.session)];
  const created = await createApplication(identity, session);
  const { clientId } = created.application;
  const { body } = await requestToken(identity, { clientId, clientSecret: created.clientSecret });
  const application = body.access_token as string;
  const { jti } = JSON.parse(Buffer.from(application.split('.')[1] ?? '', 'base64url').toString()) as {
    jti: string;
  };
  expect(await statusesFrom(HOME, token)).toEqual([200, 200]);
  await setRanges(['203.0.113.0/24']);
  try {
    expect([await statusesFrom(HOME, token), await statusesFrom(OFFICE, token)]).toEqual([
      [401, 401],
      [200, 200],
    ]);
    expect(await statusesFrom(HOME, foreign)).toEqual([200, 200]);
    const headers = { 'x-forwarded-for': HOME };
    expect((await identity.call('GET', '/api/v1/users/me', { token: session, headers })).status).toBe(200);
    expect((await identity.call('GET', '/api/v1/users', { token: application, headers })).status).toBe(401);
    await waitForRefusal(jti);
    expect(await findRefusals(jti)).toMatchObject([
      { credential_kind: 'oauth', subject_id: jti, address: HOME, detail: { clientId } },
    ]);
  } finally {
    await setRanges([]);
  }
});

test("a request is refused when the organisation's allow list changes while the body is delayed", async () => {
  const token = await makeFor('198.51.100.0/24', '203.0.113.0/24');
  const content = JSON.stringify({ name: 'moved', scopes: ['user:read'] });
  const held = request(identity.url + TOKENS, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token.accessToken}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(content),
      'x-forwarded-for': HOME,
    },
    agent: false,
  });
  const answered = once(held, 'response') as Promise<[IncomingMessage]>;
  held.flushHeaders();
  const isVerified = async () =>
    (await identity.db.query('select from token_last_used where token_id = $1', [token.id])).rowCount === 1;
  await waitFor(isVerified, { what: 'the verification' });
  await setRanges(['203.0.113.0/24']);
  identity.advance(1_000);
  held.end(content);
  const [answer] = await answered;
  await setRanges([]);
  expect([answer.statusCode, JSON.parse(await text(answer)).error.code]).toEqual([401, 'UNAUTHORIZED']);
  const { rowCount } = await identity.db.query(`select from personal_access_tokens where name = 'moved'`);
  expect(rowCount).toBe(0);
});

test('PAT-26 a rotation keeps the list or narrows it, and never widens it', async () => {
  const token = await makeFor('203.0.113.0/24');
  for (const allowList of [[], ['203.0.112.0/23'], ['0.0.0.0/0'], ['203.0.113.0/25', HOME]]) {
    const { status, body } = await rotate(token.id, { allowList });
    expect([allowList, status, body.error?.details[0].field]).toEqual([allowList, 400, 'allowList']);
  }
  const narrowed = (await rotate(token.id, { allowList: [OFFICE, '203.0.113.128/25'] })).body.token;
  expect((await get(narrowed.id))['allowList']).toEqual(['203.0.113.9/32', '203.0.113.128/25']);
  const rotated = (await rotate(narrowed.id)).body.token;
  expect([await statusesFrom(OFFICE, rotated), await statusesFrom('203.0.113.10', rotated)]).toEqual([
    [200, 200],
    [401, 401],
  ]);
});

test('PAT-26 rejects invalid ranges, and more than 20', async () => {
  const answer = await create({ allowList: ['10.0.0.0/8', '10.0.0.1/8'] });
  expect([answer.status, answer.body.error.details]).toEqual([
    400,
    [{ field: 'allowList.1', message: expect.stringMatching(/^must be a CIDR range/) }],
  ]);
  const many = Array.from({ length: 21 }, (_value, index) => `10.${index}.0.0/16`);
  expect((await create({ allowList: many })).status).toBe(400);
  expect((await create({ allowList: many.slice(1) })).status).toBe(201);
});
