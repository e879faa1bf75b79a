import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { waitFor } from '@platform/testing';
import { type CreatedToken, startIdentity } from '../identity.js';
import { createApplication, requestToken } from '../oauth/applications.js';
import { startProbeService } from '../credentials/verification/probe-service.js';

const path = '/api/v1/personal-access-tokens';
const scopes = ['pat:write', 'pat:read', 'user:read'];
const OFFICE = '203.0.113.9';
const HOME = '198.51.100.9';

const identity = await startIdentity({ environment: { TRUST_PROXY: '127.0.0.1' } });
const session = await identity.login();
const probe = await startProbeService(identity.url);
afterAll(async () => {
  await probe.close();
  await identity.close();
});

const make = (allowList: string[], fields: object = {}) =>
  identity.createToken(session, { scopes, allowList, ...fields });
/** Calls identity, and a service that asks identity, as the gateway does for a client at the address. */
const statusesFrom = async (address: string, { accessToken: token }: CreatedToken) => {
  const headers = { 'x-forwarded-for': address };
  const answers = [
    await identity.call('GET', '/api/v1/users/me', { token, headers }),
    await probe.whoami(token, headers),
  ];
  return answers.map(({ status }) => status);
};
const rotate = (id: string, body: object = {}) =>
  identity.call('POST', `${path}/${id}/rotate`, {
    token: session,
    body: { graceSeconds: 0, ...body },
  });

test('a token with an allow list works from its ranges only, in every service', async () => {
  const token = await make(['203.0.113.0/24', '2001:db8::/32']);
  for (const address of [OFFICE, `::ffff:${OFFICE}`, '2001:db8::7', `${HOME}, ${OFFICE}`])
    expect([address, await statusesFrom(address, token)]).toEqual([address, [200, 200]]);
  // What a client claims in front of the trusted proxy's own entry has no effect, and an unknown address is refused.
  for (const address of [
    HOME,
    '2001:db9::7',
    `${OFFICE}, ${HOME}`,
    'unknown',
    '203.0.113.9:80',
    'fe80::1%eth0',
  ])
    expect([address, await statusesFrom(address, token)]).toEqual([address, [401, 401]]);
});

test('the refusal is the usual 401, and the audit has one entry with the address', async () => {
  const token = await make(['203.0.113.0/24']);
  const refused = () =>
    identity.call('GET', '/api/v1/users/me', {
      token: token.accessToken,
      headers: { 'x-forwarded-for': HOME, 'user-agent': 'thief/1.0' },
    });
  const answer = await refused();
  const garbage = await identity.call('GET', '/api/v1/users/me', { token: 'pat_a.b.c' });
  expect([answer.status, answer.text]).toEqual([401, garbage.text]);
  expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"');
  await refused();
  const find = async () =>
    (
      await identity.db.query(
        `select org_id, credential_id, address, user_agent, reason from audit_entries
         where action = 'token.refused' and subject_id = $1`,
        [token.id],
      )
    ).rows;
  await waitFor(async () => (await find()).length > 0, { what: 'the entry' });
  expect(await find()).toEqual([
    {
      org_id: identity.orgId,
      credential_id: token.id,
      address: HOME,
      user_agent: 'thief/1.0',
      reason: 'address not allowed',
    },
  ]);
  expect(identity.logged()).not.toContain(token.accessToken);
  const { rowCount } = await identity.db.query('select from token_last_used where token_id = $1', [token.id]);
  expect(rowCount).toBe(0);
});

const setRanges = (list: string[]) =>
  identity.db.query(
    `insert into token_policies (org_id, allow_list, updated_at) values ($1, $2, now())
     on conflict (org_id) do update set allow_list = excluded.allow_list`,
    [identity.orgId, list],
  );
const findRefusals = async (id: string) =>
  (
    await identity.db.query(
      `select org_id, credential_kind, subject_id, address, detail from audit_entries
       where action = 'token.refused' and credential_id = $1`,
      [id],
    )
  ).rows;

test('a token adds one entry for a network, and 20 for all networks, however many addresses it is used from', async () => {
  const [neighbours, scattered] = [await make(['203.0.113.0/24']), await make(['203.0.113.0/24'])];
  const use = async (address: string, { accessToken: token }: CreatedToken) => {
    const headers = { 'x-forwarded-for': address };
    expect((await identity.call('GET', '/api/v1/users/me', { token, headers })).status).toBe(401);
  };
  for (let host = 1; host <= 30; host += 1) {
    await use(`2001:db8:0:1::${host}`, neighbours);
    await use(`2001:db8:0:${host}::1`, scattered);
  }
  const last = await make(['203.0.113.0/24']);
  await use(HOME, last);
  await waitFor(async () => (await findRefusals(last.id)).length > 0, {
    what: 'the last entry',
  });
  expect([(await findRefusals(neighbours.id)).length, (await findRefusals(scattered.id)).length]).toEqual([
    1, 20,
  ]);
});

test("the audit has the use of an application's token outside of the organisation's allow list", async () => {
  const created = await createApplication(identity, session);
  const { clientId } = created.application;
  const { body } = await requestToken(identity, { clientId, clientSecret: created.clientSecret });
  const token = body.access_token as string;
  const { jti } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as {
    jti: string;
  };
  await setRanges(['203.0.113.0/24']);
  try {
    const headers = { 'x-forwarded-for': HOME };
    const refused = await identity.call('GET', '/api/v1/users', { token, headers });
    expect(refused.status).toBe(401);
    await waitFor(async () => (await findRefusals(jti)).length > 0, { what: 'the entry' });
    expect(await findRefusals(jti)).toEqual([
      {
        org_id: identity.orgId,
        credential_kind: 'oauth',
        subject_id: jti,
        address: HOME,
        detail: { clientId },
      },
    ]);
  } finally {
    await setRanges([]);
  }
});

test('the same token from two addresses at once is allowed from one and refused from the other', async () => {
  const token = await make(['203.0.113.0/24']);
  const addresses = Array.from({ length: 40 }, (_value, index) => (index % 2 ? HOME : OFFICE));
  const statuses = await Promise.all(addresses.map((address) => statusesFrom(address, token)));
  expect(statuses).toEqual(addresses.map((address) => (address === OFFICE ? [200, 200] : [401, 401])));
});

test("an organisation's allow list applies to all its tokens, and not to sessions or other organisations", async () => {
  const other = await identity.createOrganisation('allow-list@example.com');
  const [token, foreign] = [
    await make([]),
    await identity.createToken(other.session, { scopes: ['user:read'] }),
  ];
  expect(await statusesFrom(HOME, token)).toEqual([200, 200]);
  await setRanges(['203.0.113.0/24']);
  try {
    expect([await statusesFrom(HOME, token), await statusesFrom(OFFICE, token)]).toEqual([
      [401, 401],
      [200, 200],
    ]);
    expect(await statusesFrom(HOME, foreign)).toEqual([200, 200]);
    const me = await identity.call('GET', '/api/v1/users/me', {
      token: session,
      headers: { 'x-forwarded-for': HOME },
    });
    expect(me.status).toBe(200);
  } finally {
    await setRanges([]);
  }
});

test("a request is refused when the organisation's allow list changes while the body is delayed", async () => {
  const token = await make(['198.51.100.0/24', '203.0.113.0/24']);
  const content = JSON.stringify({ name: 'moved', scopes: ['user:read'] });
  const held = request(identity.url + path, {
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

test('a rotation keeps the list or narrows it, and never widens it', async () => {
  const token = await make(['203.0.113.0/24']);
  for (const allowList of [[], ['203.0.112.0/23'], ['0.0.0.0/0'], ['203.0.113.0/25', HOME]]) {
    const refused = await rotate(token.id, { allowList });
    expect([allowList, refused.status, refused.body.error?.details[0].field]).toEqual([
      allowList,
      400,
      'allowList',
    ]);
  }
  const narrowed = (await rotate(token.id, { allowList: ['203.0.113.9', '203.0.113.128/25'] })).body.token;
  const shown = await identity.call('GET', `${path}/${narrowed.id}`, { token: session });
  expect(shown.body.token.allowList).toEqual(['203.0.113.9/32', '203.0.113.128/25']);
  const rotated = (await rotate(narrowed.id as string)).body.token;
  expect([await statusesFrom(OFFICE, rotated), await statusesFrom('203.0.113.10', rotated)]).toEqual([
    [200, 200],
    [401, 401],
  ]);
});

test('rejects invalid ranges, and more than 20', async () => {
  const create = (allowList: unknown) =>
    identity.call('POST', path, { token: session, body: { name: 'x', allowList } });
  const answer = await create(['10.0.0.0/8', '10.0.0.1/8']);
  expect([answer.status, answer.body.error.details]).toEqual([
    400,
    [{ field: 'allowList.1', message: 'must be a CIDR range such as 203.0.113.0/24 or 2001:db8::/32' }],
  ]);
  const many = Array.from({ length: 21 }, (_value, index) => `10.${index}.0.0/16`);
  for (const list of [many, ['x'.repeat(65)], '10.0.0.0/8', [1], null])
    expect((await create(list)).status).toBe(400);
  expect((await create(many.slice(1))).status).toBe(201);
});
