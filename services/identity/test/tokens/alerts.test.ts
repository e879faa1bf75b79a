import { waitFor } from '@platform/testing';
import { type CreatedToken, startIdentity } from '../identity.js';
import { createApplication } from '../oauth/applications.js';
import {
  consent,
  createAuthorization,
  createBrowser,
  exchangeCode,
  refresh,
  supersede,
} from '../oauth/flow.js';
import { noPolicy, policyPath } from '../token-policy.js';
import { createTokens } from './tokens.js';

/* Tokens that were leaked, or are used after their rotation: who is notified, and what is revoked. */

const identity = await startIdentity({
  // Nothing answers there: mails stay in the outbox, where the tests read them.
  environment: { MAIL_URL: 'http://127.0.0.1:9', TRUST_PROXY: '127.0.0.1' },
});
const session = await identity.login();
const member = await identity.createMember(session);
const { make, rotate, rotated, revoke, statuses, findEntries } = createTokens(identity, member.session);
afterAll(() => identity.close());

const add = (name: string, by?: string) => make(by, { name });
const rotateItself = ({ id, accessToken }: CreatedToken, graceSeconds = 0) =>
  rotated(id, { graceSeconds }, accessToken);
const expire = ({ id }: CreatedToken) =>
  identity.db.query('update personal_access_tokens set expires_at = clock_timestamp() where id = $1', [id]);
const report = (tokens: unknown, headers = {}) =>
  identity.call('POST', '/api/v1/personal-access-tokens/leaked', { body: { tokens }, headers });
const garbage = (index: number) => ({ token: `pat_${'x'.repeat(300)}${index}` });
const waitForEntries = (action: string, token: CreatedToken, count = 1) =>
  waitFor(async () => (await findEntries(action, token)).length === count, { what: `${count} ${action}` });
const waitForReactions = (table: 'leak_reports' | 'token_reuses') =>
  waitFor(async () => (await identity.db.query(`select from ${table}`)).rowCount === 0, {
    what: 'the reactions',
  });

/** Returns the addresses that alerts about a token wait for. */
async function findAlerts(notice: 'tokenLeaked' | 'tokenReused', name: string): Promise<string[]> {
  const { rows } = await identity.db.query<{ email: string }>(
    `select users.email from outgoing_mails mail join users on users.id = mail.user_id
     where reports_theft and detail->>'notice' = $1 and detail->>'name' = $2 order by users.email`,
    [notice, name],
  );
  return rows.map(({ email }) => email);
}
const OWNER_AND_ADMINISTRATOR = ['admin@example.com', member.email];

const useFrom = (address: string, { accessToken: token }: CreatedToken) =>
  identity.call('GET', '/api/v1/users/me', { token, headers: { 'x-forwarded-for': address } });

test('PAT-27 a use of a rotated token after its end is audited for each address, and mailed to the owner once', async () => {
  const [old, ended] = [await add('rotated'), await add('ended')];
  const token = await rotated(old.id);
  await revoke(ended.id);
  // A token that was revoked without a rotation causes no alert. Refusals are written in their order.
  await useFrom('203.0.113.9', ended);
  for (const address of ['203.0.113.9', '203.0.113.9', '198.51.100.9'])
    expect((await useFrom(address, old)).status).toBe(401);
  await waitForEntries('token.reused', old, 2);
  expect(await findEntries('token.reused', old)).toMatchObject([
    { address: '203.0.113.9' },
    { address: '198.51.100.9' },
  ]);
  expect(await findEntries('token.reused', ended)).toEqual([]);
  await waitForReactions('token_reuses');
  expect(await findAlerts('tokenReused', 'rotated')).toEqual([member.email]);
  expect(await statuses(token)).toEqual([200]);
});

test('PAT-27 a reaction that fails is repeated, and delays neither the audit nor other reactions', async () => {
  const { db } = identity;
  await db.query(`alter table personal_access_tokens add constraint no_reports
    check (name <> 'unlucky' or reuse_reported_at is null) not valid`);
  const names = ['unlucky', 'lucky 1', 'lucky 2', 'lucky 3'];
  const tokens = await Promise.all(names.map((name) => add(name)));
  for (const { id } of tokens) await rotate(id);
  expect(await statuses(...tokens)).toEqual([401, 401, 401, 401]);
  const isMailed = async (name: string) => (await findAlerts('tokenReused', name)).length > 0;
  for (const name of names.slice(1)) await waitFor(() => isMailed(name), { what: name });
  for (const old of tokens) expect(await findEntries('token.reused', old)).toHaveLength(1);
  expect(await isMailed('unlucky')).toBe(false);
  await db.query('alter table personal_access_tokens drop constraint no_reports');
  await waitFor(() => isMailed('unlucky'), { what: 'its mail' });
});

test('PAT-27 with revokeFamilyOnReuse, the reuse of a token ends its whole family', async () => {
  const put = (revokeFamilyOnReuse: boolean) =>
    identity.call('PUT', policyPath, { token: session, body: { ...noPolicy, revokeFamilyOnReuse } });
  await put(true);
  const old = await add('family');
  const child = await add('child', old.accessToken);
  const second = await rotated(old.id);
  const third = await rotated(second.id);
  expect(await statuses(child, third, old)).toEqual([200, 200, 401]);
  await waitFor(async () => (await statuses(third))[0] === 401, { what: 'the end of the family' });
  expect(await statuses(child)).toEqual([401]);
  expect(await findAlerts('tokenReused', 'family')).toEqual([member.email]);
  await put(false);
});

test('the reuse of a refresh token of an application is mailed to its owner once, and audited', async () => {
  const { application } = await createApplication(identity, session, {
    name: 'Desk agent',
    grantTypes: ['authorization_code', 'refresh_token'],
    redirectUris: ['http://127.0.0.1/callback'],
    authMethod: 'none',
  });
  const { clientId } = application;
  const browser = createBrowser(identity);
  await browser.signIn(member);
  const authorization = createAuthorization(clientId, { scope: 'user:read' });
  const target = await consent(browser, authorization, { scope: 'user:read' });
  const { body } = await exchangeCode(identity, authorization, target.searchParams.get('code') ?? '');
  const superseded = body.refresh_token as string;
  await supersede(identity, clientId, superseded);
  for (let attempt = 0; attempt < 2; attempt += 1)
    expect((await refresh(identity, clientId, superseded)).status).toBe(400);
  const { rows: mails } = await identity.db.query(
    `select user_id from outgoing_mails where detail::text like '%Desk agent%' and reports_theft`,
  );
  expect(mails).toEqual([{ user_id: member.id }]);
  const { rows } = await identity.db.query(
    `select reason, detail from audit_entries where action = 'connected_app.revoked' order by id desc limit 1`,
  );
  expect(rows).toEqual([{ reason: 'refresh token used again', detail: { clientId, userId: member.id } }]);
});

test('PAT-31 of 1,000 reported tokens the only live one is revoked, and owner and administrators are mailed', async () => {
  const token = await add('leaked');
  const child = await add('leaked child', token.accessToken);
  const other = await add('other');
  // The same id with another value is somebody's guess.
  const forged = `${other.accessToken.slice(0, -20)}${'A'.repeat(20)}`;
  const tokens = [
    ...Array.from({ length: 997 }, (_value, index) => garbage(index)),
    { token: forged },
    { token: token.accessToken },
    { token: token.accessToken, url: `https://paste.example/abc?q=${token.accessToken}#x` },
  ];
  const answer = await report(tokens);
  expect([answer.status, answer.body]).toEqual([202, { message: expect.any(String) }]);
  await waitForEntries('token.leaked', token);
  expect(await statuses(token, child, other)).toEqual([401, 401, 200]);
  expect(await findEntries('token.leaked', token)).toMatchObject([
    { address: null, detail: { url: 'https://paste.example/abc' }, actor_id: null },
  ]);
  // A second report changes nothing, and looks the same.
  const again = await report(tokens);
  expect([again.status, again.text]).toEqual([202, answer.text]);
  await waitForReactions('leak_reports');
  expect(await findAlerts('tokenLeaked', 'leaked')).toEqual(OWNER_AND_ADMINISTRATOR);
  expect(identity.logged()).not.toContain(token.accessToken);
});

/** Stores a report of a token for each place, and calls `act` before the job can read them. */
async function reportBefore(
  { id }: CreatedToken,
  places: readonly (string | null)[],
  act?: () => Promise<unknown>,
): Promise<void> {
  const db = await identity.db.connect();
  await db.query('begin');
  await db.query(
    `insert into leak_reports (id, token_id, digest, url, created_at)
     select gen_random_uuid(), id, token_hash, place, now() - interval '1 second'
     from personal_access_tokens, unnest($2::text[]) place where id = $1`,
    [id, places],
  );
  await act?.();
  await db.query('commit');
  db.release();
  await report([garbage(0)]);
}

test('PAT-31 of reports of a token at the same time, each place is in the audit and one is mailed, although it was revoked since', async () => {
  const token = await add('raced');
  const places = ['https://a.example/x', 'https://b.example/x'];
  await reportBefore(token, places, () => revoke(token.id));
  await waitForEntries('token.leaked', token, 2);
  const urls = (await findEntries('token.leaked', token)).map(({ detail }) => detail.url as string);
  expect(urls.toSorted()).toEqual(places);
  expect(await findAlerts('tokenLeaked', 'raced')).toEqual(OWNER_AND_ADMINISTRATOR);
});

test('PAT-31 a token that expires between its report and the reaction is reported all the same', async () => {
  const token = await add('late');
  await reportBefore(token, [null], () => expire(token));
  await waitForEntries('token.leaked', token);
  expect(await findAlerts('tokenLeaked', 'late')).toEqual(OWNER_AND_ADMINISTRATOR);
});

test('PAT-31 rotating a token between its report and the reaction saves nothing, rotating it before keeps the new one', async () => {
  const token = await add('rotated late');
  const child = await add('child of the late', token.accessToken);
  let successor = token;
  await reportBefore(token, [null], async () => {
    successor = await rotated((await rotated(token.id)).id);
  });
  await waitForEntries('token.leaked', token);
  expect(await statuses(successor, child)).toEqual([401, 401]);

  const early = await add('rotated in time');
  const kept = await rotated(early.id, { graceSeconds: 3_600 });
  await report([{ token: early.accessToken }]);
  await waitForEntries('token.leaked', early);
  expect(await statuses(early, kept)).toEqual([401, 200]);
});

test.each([3_600, 0])(
  'PAT-31 a token that rotated itself with a grace of %d s before its report ends with all that came of it',
  async (grace) => {
    const token = await add(`escaped ${grace}`);
    const child = await add('child', token.accessToken);
    const second = await rotateItself(token, grace);
    const late = await add('late child', second.accessToken);
    const third = await rotateItself(second, grace);
    expect(await statuses(third)).toEqual([200]);
    await report([{ token: token.accessToken }]);
    await waitForEntries('token.leaked', token);
    expect(await statuses(token, child, second, late, third)).toEqual([401, 401, 401, 401, 401]);
    expect(await findAlerts('tokenLeaked', `escaped ${grace}`)).toEqual(OWNER_AND_ADMINISTRATOR);
  },
);

test('PAT-31 what a session made of a token that had rotated itself outlives the report of the old value', async () => {
  const token = await add('healed');
  const second = await rotateItself(token, 3_600);
  const healed = await rotated(second.id, { graceSeconds: 3_600 });
  await report([{ token: token.accessToken }]);
  await waitForEntries('token.leaked', token);
  expect(await statuses(token, second, healed)).toEqual([401, 401, 200]);
});

test('PAT-31 that the newest token of a lineage has expired keeps nothing of it alive', async () => {
  const token = await add('outlived');
  const second = await rotateItself(token, 3_600);
  const child = await add('outliving child', second.accessToken);
  await expire(second);
  expect(await statuses(child)).toEqual([200]);
  await report([{ token: token.accessToken }]);
  await waitForEntries('token.leaked', token);
  expect(await statuses(token, child)).toEqual([401, 401]);
});

test('PAT-31 reports of a token that was revoked before cause no alert, however many wait', async () => {
  const token = await add('ended before');
  await revoke(token.id);
  await identity.db.query(
    `insert into leak_reports (id, token_id, digest, created_at)
     select gen_random_uuid(), id, token_hash, now() from personal_access_tokens, generate_series(1, 1500)
     where id = $1`,
    [token.id],
  );
  await report([garbage(0)]);
  await waitForReactions('leak_reports');
  expect(await findEntries('token.leaked', token)).toEqual([]);
});

interface Timed {
  readonly ms: number;
  readonly answer: string;
}

test('PAT-31 neither the answer nor its time distinguishes a live token from garbage', async () => {
  const pairs: (readonly [Timed, Timed])[] = [];
  const time = async (token: string): Promise<Timed> => {
    const startedAt = performance.now();
    // One network may report so often and no more.
    const from = `198.51.100.${pairs.length}`;
    const { status, text } = await report([{ token }], { 'x-forwarded-for': from });
    return { ms: performance.now() - startedAt, answer: `${status} ${text}` };
  };
  await time('x');
  const median = (which: 0 | 1) =>
    pairs.map((pair) => pair[which].ms).toSorted((a, b) => a - b)[pairs.length >> 1] ?? 0;
  const isAlike = () => Math.abs(median(0) - median(1)) < Math.max(5, median(1) / 2);
  // A busy machine can delay a few of either kind more than the other: a difference of the product stays, however many are timed.
  while (pairs.length < 12 || (!isAlike() && pairs.length < 60)) {
    const { accessToken } = await add(`timed ${pairs.length}`);
    pairs.push([await time(accessToken), await time(`${accessToken}x`)]);
  }
  expect(new Set(pairs.flat().map(({ answer }) => answer)).size).toBe(1);
  expect(isAlike()).toBe(true);
});

test('PAT-31 rejects what is no report', async () => {
  const tooMany = Array.from({ length: 1_001 }, (_value, index) => garbage(index));
  for (const tokens of [[], [{ token: '' }], ['x'], tooMany]) expect((await report(tokens)).status).toBe(400);
});

test('PAT-31 a network or a site that reports too much is refused, whatever it reports, and so is everybody in the end', async () => {
  const token = await add('reported too late');
  const from = (address: string, reported: object = garbage(0)) =>
    report([reported], { 'x-forwarded-for': address });
  const statusFrom = async (address: string) => (await from(address)).status;
  /** Counts as many reports more, of everybody who has reported. */
  const countReports = (count: number) =>
    identity.db.query(`update rate_limits set points = points + $1 where key like 'leak-report:%'`, [count]);
  expect(await statusFrom('2001:db8:0:1::1')).toBe(202);
  await countReports(58);
  expect(await statusFrom('2001:db8:0:1::2')).toBe(202);
  const refused = await from('2001:db8:0:1::a');
  expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMITED']);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  const real = await from('2001:db8:0:1::b', { token: token.accessToken });
  expect([real.status, real.body.error]).toEqual([
    429,
    { ...refused.body.error, requestId: real.body.error.requestId },
  ]);
  expect(await statuses(token)).toEqual([200]);
  expect(await statusFrom('2001:db8:0:2::1')).toBe(202);

  expect(await statusFrom('2001:db8:1:100::1')).toBe(202);
  await countReports(238);
  // Each in a separate /56.
  expect([await statusFrom('2001:db8:1:200::1'), await statusFrom('2001:db8:1:300::1')]).toEqual([202, 429]);
  expect(await statusFrom('2001:db8:2:1::1')).toBe(202);
  await countReports(1_200);
  expect(await statusFrom('2001:db8:3:1::1')).toBe(429);
});
