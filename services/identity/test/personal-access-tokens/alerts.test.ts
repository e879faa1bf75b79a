import { performance } from 'node:perf_hooks';
import { waitFor } from '@platform/testing';
import { type Platform, startPlatform } from '../account-flows/platform.js';
import type { CreatedToken, Member } from '../identity.js';
import { createApplication } from '../oauth/applications.js';
import {
  consent,
  createAuthorization,
  createBrowser,
  endOverlap,
  exchangeCode,
  refresh,
} from '../oauth/flow.js';

const path = '/api/v1/personal-access-tokens';
let platform: Platform;
let member: Member;

beforeAll(async () => {
  platform = await startPlatform();
  member = await platform.identity.createMember(platform.session);
});
afterAll(() => platform.close());

const make = (name: string, token = member.session) =>
  platform.identity.createToken(token, { name, scopes: ['user:read', 'pat:write', 'pat:read'] });
const getStatus = async ({ accessToken: token }: CreatedToken, headers = {}) =>
  (await platform.identity.call('GET', '/api/v1/users/me', { token, headers })).status;
const rotate = async ({ id }: CreatedToken): Promise<CreatedToken> =>
  (await platform.identity.call('POST', `${path}/${id}/rotate`, { token: member.session })).body.token;
const findEntries = async (action: string, { id }: CreatedToken) =>
  (
    await platform.identity.db.query(
      'select address, detail, actor_id from audit_entries where action = $1 and subject_id = $2 order by id',
      [action, id],
    )
  ).rows;
const waitForEntry = (action: string, token: CreatedToken) =>
  waitFor(async () => (await findEntries(action, token)).length > 0, { what: action, timeoutMs: 10_000 });
/** The alerts about a token, after the mail about its creation. */
const mailsAbout = (email: string, name: string) =>
  platform
    .mailsTo(email)
    .filter(
      ({ subject, text }) => subject !== 'A new access token was created' && text?.includes(`"${name}"`),
    );

test('a use of a rotated token after its end is audited, and mailed to the owner once', async () => {
  const old = await make('rotated');
  const token = await rotate(old);
  for (const address of ['203.0.113.9', '203.0.113.9', '198.51.100.9'])
    expect(await getStatus(old, { 'x-forwarded-for': address })).toBe(401);
  await waitFor(async () => (await findEntries('token.reused', old)).length === 2, {
    what: 'an entry for each address',
    timeoutMs: 10_000,
  });
  expect(await findEntries('token.reused', old)).toMatchObject([
    { address: '203.0.113.9' },
    { address: '198.51.100.9' },
  ]);
  const mail = await platform.mailTo(member.email, /^A replaced access token was used$/);
  expect(mail.text).toContain('"rotated"');
  await platform.drained();
  expect(mailsAbout(member.email, 'rotated')).toHaveLength(1);
  expect(await getStatus(token)).toBe(200);
});

test('a token that was revoked without a rotation causes no alert', async () => {
  const token = await make('ended');
  await platform.identity.call('DELETE', `${path}/${token.id}`, { token: member.session });
  expect(await getStatus(token)).toBe(401);
  // Refusals are written in their order.
  const marker = await make('marker');
  await rotate(marker);
  await getStatus(marker);
  await waitForEntry('token.reused', marker);
  expect(await findEntries('token.reused', token)).toEqual([]);
});

test('a reaction that fails is repeated, and delays neither the audit nor other reactions', async () => {
  const { db } = platform.identity;
  await db.query(`alter table personal_access_tokens add constraint no_reports
    check (name <> 'unlucky' or reuse_reported_at is null) not valid`);
  const names = ['unlucky', ...Array.from({ length: 6 }, (_value, index) => `lucky ${index}`)];
  const tokens = await Promise.all(names.map((name) => make(name)));
  await Promise.all(tokens.map(rotate));
  for (const old of tokens) expect(await getStatus(old)).toBe(401);
  for (const name of names.slice(1))
    await waitFor(() => mailsAbout(member.email, name).length > 0, { what: name, timeoutMs: 15_000 });
  for (const old of tokens) expect(await findEntries('token.reused', old)).toHaveLength(1);
  expect(mailsAbout(member.email, 'unlucky')).toEqual([]);
  await db.query('alter table personal_access_tokens drop constraint no_reports');
  await waitFor(() => mailsAbout(member.email, 'unlucky').length > 0, {
    what: 'its mail',
    timeoutMs: 15_000,
  });
});

test('the reuse of a refresh token of an application is mailed to its owner once, and audited', async () => {
  const { identity, session } = platform;
  const { application } = await createApplication(identity, session, {
    name: 'Desk agent',
    grantTypes: ['authorization_code', 'refresh_token'],
    redirectUris: ['http://127.0.0.1/callback'],
    authMethod: 'none',
  });
  const browser = createBrowser(identity);
  await browser.signIn(member);
  const authorization = createAuthorization(application.clientId, { scope: 'user:read' });
  const target = await consent(browser, authorization, { scope: 'user:read' });
  const { body } = await exchangeCode(identity, authorization, target.searchParams.get('code') ?? '');
  const reuse = () => refresh(identity, application.clientId, body.refresh_token as string);
  await reuse();
  await endOverlap(identity);
  for (let attempt = 0; attempt < 2; attempt += 1) expect((await reuse()).status).toBe(400);
  const mail = await platform.mailTo(member.email, /^An application was disconnected$/);
  expect(mail.text).toContain('"Desk agent"');
  await platform.drained();
  const mails = platform.mailsTo(member.email).filter(({ subject }) => subject === mail.subject);
  expect(mails).toHaveLength(1);
  const { rows } = await identity.db.query(
    `select reason, detail from audit_entries where action = 'connected_app.revoked' order by id desc limit 1`,
  );
  expect(rows).toEqual([
    { reason: 'refresh token used again', detail: { clientId: application.clientId, userId: member.id } },
  ]);
});

test('with revokeFamilyOnReuse, the reuse of a token ends its whole family', async () => {
  const policy = {
    allowList: [],
    maxLifetimeDays: null,
    allowsNever: true,
    deniedScopes: [],
    revokeFamilyOnReuse: true,
  };
  const put = (body: object) =>
    platform.identity.call('PUT', '/api/v1/organisation/token-policy', { token: platform.session, body });
  await put(policy);
  const old = await make('family');
  const child = await make('child', old.accessToken);
  const second = await rotate(old);
  const third = await rotate(second);
  expect(await Promise.all([child, third].map((token) => getStatus(token)))).toEqual([200, 200]);
  expect(await getStatus(old)).toBe(401);
  await waitFor(async () => (await getStatus(third)) === 401, {
    what: 'the end of the family',
    timeoutMs: 10_000,
  });
  expect(await getStatus(child)).toBe(401);
  const mail = await waitFor(() => mailsAbout(member.email, 'family')[0], {
    what: 'the mail',
    timeoutMs: 15_000,
  });
  expect(mail.text).toContain('was revoked');
  await put({ ...policy, revokeFamilyOnReuse: false });
});

const report = (tokens: unknown, headers = {}) =>
  platform.identity.call('POST', `${path}/leaked`, { body: { tokens }, headers });
const garbage = (index: number) => ({ token: `pat_${'x'.repeat(300)}${index}` });

test('of 1,000 reported tokens the one that is alive is revoked, and owner and administrators are mailed', async () => {
  const token = await make('leaked');
  const child = await make('leaked child', token.accessToken);
  const other = await make('other');
  // The same id with another value is somebody's guess.
  const forged = `${other.accessToken.slice(0, -20)}${'A'.repeat(20)}`;
  const url = `https://paste.example/abc?q=${token.accessToken}#x`;
  const tokens = [
    ...Array.from({ length: 997 }, (_value, index) => garbage(index)),
    { token: forged },
    { token: token.accessToken },
    { token: token.accessToken, url },
  ];
  const answer = await report(tokens);
  expect([answer.status, answer.body]).toEqual([202, { message: expect.any(String) }]);
  await waitFor(async () => (await getStatus(token)) === 401, { what: 'the revocation', timeoutMs: 10_000 });
  expect([await getStatus(child), await getStatus(other)]).toEqual([401, 200]);
  await waitForEntry('token.leaked', token);
  expect(await findEntries('token.leaked', token)).toEqual([
    { address: null, detail: { url: 'https://paste.example/abc' }, actor_id: null },
  ]);
  for (const email of [member.email, 'admin@example.com']) {
    const mail = await platform.mailTo(email, /^A leaked access token was revoked$/);
    expect(mail.text).toContain('"leaked" of Ada Member');
    expect(mail.text).not.toContain(token.accessToken.slice(4, 60));
  }
  // A second report changes nothing, and looks the same.
  const again = await report(tokens);
  expect([again.status, again.text]).toEqual([202, answer.text]);
  await waitFor(async () => (await platform.identity.db.query('select from leak_reports')).rowCount === 0, {
    what: 'the end of the reports',
    timeoutMs: 10_000,
  });
  await platform.drained();
  expect(mailsAbout(member.email, 'leaked')).toHaveLength(1);
  expect(platform.identity.logged()).not.toContain(token.accessToken);
});

test('of reports of a token at the same time, each place is in the audit and one is mailed', async () => {
  const token = await make('twice');
  const places = ['https://a.example/x', 'https://b.example/x'];
  const { db } = platform.identity;
  await db.query(
    `insert into leak_reports (id, token_id, digest, url, created_at)
     select gen_random_uuid(), id, token_hash, place, now() from personal_access_tokens, unnest($2::text[]) place
     where id = $1`,
    [token.id, places],
  );
  await report([garbage(0)]);
  await waitFor(async () => (await findEntries('token.leaked', token)).length === 2, {
    what: 'both entries',
    timeoutMs: 15_000,
  });
  const entries = await findEntries('token.leaked', token);
  expect(entries.map(({ detail }) => detail.url)).toEqual(expect.arrayContaining(places));
  await platform.drained();
  expect(mailsAbout(member.email, 'twice')).toHaveLength(1);
});

test('reports of a token that was revoked before cause no alert, however many wait', async () => {
  const token = await make('ended before');
  await platform.identity.call('DELETE', `${path}/${token.id}`, { token: member.session });
  await platform.identity.db.query(
    `insert into leak_reports (id, token_id, digest, created_at)
     select gen_random_uuid(), id, token_hash, now() from personal_access_tokens, generate_series(1, 1500)
     where id = $1`,
    [token.id],
  );
  await report([garbage(0)]);
  await waitFor(async () => (await platform.identity.db.query('select from leak_reports')).rowCount === 0, {
    what: 'the end of the reports',
    timeoutMs: 10_000,
  });
  expect(await findEntries('token.leaked', token)).toEqual([]);
});

test('neither the answer nor its time tells a token that is alive from garbage', async () => {
  const living = await Promise.all(Array.from({ length: 20 }, (_value, index) => make(`timed ${index}`)));
  const time = async (tokens: object[]) => {
    const startedAt = performance.now();
    const { status, text } = await report(tokens);
    return { ms: performance.now() - startedAt, answer: `${status} ${text}` };
  };
  await time([garbage(0)]);
  const pairs = [];
  for (const token of living)
    pairs.push([
      await time([{ token: token.accessToken }]),
      await time([{ token: `${token.accessToken}x` }]),
    ] as const);
  const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
  expect(new Set(pairs.flat().map(({ answer }) => answer)).size).toBe(1);
  const [alive, dead] = [median(pairs.map(([a]) => a.ms)), median(pairs.map(([, b]) => b.ms))];
  expect(Math.abs(alive - dead)).toBeLessThan(Math.max(10, dead));
});

test('rejects what is no report', async () => {
  for (const tokens of [undefined, [], [{}], [{ token: '' }], [{ token: 1 }], ['x'], Array.from({ length: 1_001 }, (_v, i) => garbage(i))])
    expect((await report(tokens)).status).toBe(400);
}); // prettier-ignore

test('a network that reports too much is refused, whatever it reports', async () => {
  const token = await make('reported too late');
  const from = (address: string) => report([garbage(0)], { 'x-forwarded-for': address });
  for (let count = 0; count < 60; count += 1)
    expect((await from(`2001:db8:0:1::${(count % 9) + 1}`)).status).toBe(202);
  const refused = await from('2001:db8:0:1::a');
  expect([refused.status, refused.body.error.code]).toEqual([429, 'RATE_LIMITED']);
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
  const real = await report([{ token: token.accessToken }], { 'x-forwarded-for': '2001:db8:0:1::b' });
  expect([real.status, real.body.error]).toEqual([
    429,
    { ...refused.body.error, requestId: real.body.error.requestId },
  ]);
  expect(await getStatus(token)).toBe(200);
  expect((await from('2001:db8:0:2::1')).status).toBe(202);
});
