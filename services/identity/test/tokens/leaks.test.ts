import { performance } from 'node:perf_hooks';
import { waitFor } from '@platform/testing';
import { toKey } from '../../src/base/rate-limits/queries.js';
import type { CreatedToken } from '../identity.js';
import { type Alerts, path, startAlerts } from './alerts.js';

let platform: Alerts['platform'];
let member: Alerts['member'];
let make: Alerts['make'];
let getStatus: Alerts['getStatus'];
let findEntries: Alerts['findEntries'];
let waitForEntry: Alerts['waitForEntry'];
let mailsAbout: Alerts['mailsAbout'];
let rotate: Alerts['rotate'];

beforeAll(async () => {
  ({ platform, member, make, getStatus, findEntries, waitForEntry, mailsAbout, rotate } =
    await startAlerts());
});
afterAll(() => platform.close());

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
  await waitFor(async () => (await getStatus(token)) === 401, { what: 'the revocation' });
  expect([await getStatus(child), await getStatus(other)]).toEqual([401, 200]);
  await waitForEntry('token.leaked', token);
  expect(await findEntries('token.leaked', token)).toEqual([
    { address: null, detail: { url: 'https://paste.example/abc' }, actor_id: null },
  ]);
  const pages = [
    [member.email, '/account/tokens\n'],
    ['admin@example.com', '/organisation/tokens\n'],
  ] as const;
  for (const [email, page] of pages) {
    const mail = await platform.mailTo(email, /^A leaked access token was revoked$/);
    expect(mail.text).toContain(page);
    expect(mail.text).toContain('“leaked” of Ada Member');
    expect(mail.text).not.toContain(token.accessToken.slice(4, 60));
  }
  // A second report changes nothing, and looks the same.
  const again = await report(tokens);
  expect([again.status, again.text]).toEqual([202, answer.text]);
  await waitFor(async () => (await platform.identity.db.query('select from leak_reports')).rowCount === 0, {
    what: 'the end of the reports',
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
  });
  const entries = await findEntries('token.leaked', token);
  expect(entries.map(({ detail }) => detail.url)).toEqual(expect.arrayContaining(places));
  await platform.drained();
  expect(mailsAbout(member.email, 'twice')).toHaveLength(1);
});

/** Stores reports of a token, and calls `act` before the job can read them. */
async function reportBefore({ id }: CreatedToken, count: number, act: () => Promise<unknown>): Promise<void> {
  const db = await platform.identity.db.connect();
  await db.query('begin');
  await db.query(
    `insert into leak_reports (id, token_id, digest, created_at)
     select gen_random_uuid(), id, token_hash, now() - interval '1 second'
     from personal_access_tokens, generate_series(1, $2)
     where id = $1`,
    [id, count],
  );
  await act();
  await db.query('commit');
  db.release();
  await report([garbage(0)]);
}

test('PAT-31 a token that is revoked between its report and the reaction is reported all the same, once', async () => {
  const token = await make('raced');
  await reportBefore(token, 2, () =>
    platform.identity.call('DELETE', `${path}/${token.id}`, { token: member.session }),
  );
  await waitFor(async () => (await findEntries('token.leaked', token)).length === 2, {
    what: 'both entries',
  });
  await platform.drained();
  expect(mailsAbout(member.email, 'raced')).toHaveLength(1);
});

test('PAT-31 a token that expires between its report and the reaction is reported all the same', async () => {
  const token = await make('late');
  await reportBefore(token, 1, async () => {
    await platform.identity.db.query(
      'update personal_access_tokens set expires_at = clock_timestamp() where id = $1',
      [token.id],
    );
    expect(await getStatus(token)).toBe(401);
  });
  await waitForEntry('token.leaked', token);
  await platform.drained();
  expect(mailsAbout(member.email, 'late')).toHaveLength(1);
});

test('PAT-31 rotating a token between its report and the reaction saves nothing, rotating it before keeps the new one', async () => {
  const token = await make('rotated late');
  const child = await make('child of the late', token.accessToken);
  let successor = token;
  await reportBefore(token, 1, async () => {
    successor = await rotate(await rotate(token));
    expect(await getStatus(successor)).toBe(200);
  });
  await waitForEntry('token.leaked', token);
  expect([await getStatus(successor), await getStatus(child)]).toEqual([401, 401]);

  const early = await make('rotated in time');
  const rotated = await platform.identity.call('POST', `${path}/${early.id}/rotate`, {
    token: member.session,
    body: { graceSeconds: 3_600 },
  });
  await report([{ token: early.accessToken }]);
  await waitForEntry('token.leaked', early);
  expect([await getStatus(early), await getStatus(rotated.body.token)]).toEqual([401, 200]);
});

const rotateItself = (token: CreatedToken, graceSeconds: number) =>
  rotate(token, token.accessToken, graceSeconds);

test.each([
  ['with a grace', 3_600],
  ['without a grace', 0],
])(
  'PAT-31 a token that rotated itself %s before its report ends with all that came of it',
  async (how, grace) => {
    const name = `escaped ${how}`;
    const token = await make(name);
    const child = await make(`${name}, child`, token.accessToken);
    const second = await rotateItself(token, grace);
    const late = await make(`${name}, late child`, second.accessToken);
    const third = await rotateItself(second, grace);
    expect(await getStatus(third)).toBe(200);
    await report([{ token: token.accessToken }]);
    await waitForEntry('token.leaked', token);
    const family = [token, child, second, late, third];
    expect(await Promise.all(family.map((one) => getStatus(one)))).toEqual(family.map(() => 401));
    await platform.drained();
    // The uses of rotated tokens above are mailed about as well.
    const leaks = mailsAbout(member.email, name).filter(({ subject }) => subject?.includes('leaked'));
    expect(leaks).toHaveLength(1);
  },
);

test('PAT-31 what a session made of a token that had rotated itself outlives the report of the old value', async () => {
  const token = await make('healed');
  const second = await rotateItself(token, 3_600);
  const healed = await rotate(second, member.session, 3_600);
  await report([{ token: token.accessToken }]);
  await waitForEntry('token.leaked', token);
  const statuses = await Promise.all([token, second, healed].map((one) => getStatus(one)));
  expect(statuses).toEqual([401, 401, 200]);
});

test('PAT-31 that the newest token of a lineage has expired keeps nothing of it alive', async () => {
  const token = await make('outlived');
  const second = await rotateItself(token, 3_600);
  const child = await make('outliving child', second.accessToken);
  await platform.identity.db.query(
    'update personal_access_tokens set expires_at = clock_timestamp() where id = $1',
    [second.id],
  );
  expect(await getStatus(child)).toBe(200);
  await report([{ token: token.accessToken }]);
  await waitForEntry('token.leaked', token);
  expect([await getStatus(token), await getStatus(child)]).toEqual([401, 401]);
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

const countReports = (key: string, points: number) =>
  platform.identity.db.query(
    `insert into rate_limits (key, points, expire)
     values ($1, $2, (extract(epoch from clock_timestamp()) * 1000)::bigint + 900000)
     on conflict (key) do update set points = excluded.points, expire = excluded.expire`,
    [key, points],
  );

test('a site that reports from many networks is refused, and so is everybody when all together report too much', async () => {
  const from = (address: string) => report([garbage(0)], { 'x-forwarded-for': address });
  for (let count = 0; count < 240; count += 1) {
    // Each in a /56 of its own.
    const { status } = await from(`2001:db8:1:${(count << 8).toString(16)}::1`);
    expect([count, status]).toEqual([count, 202]);
  }
  expect((await from('2001:db8:1:ffff::1')).status).toBe(429);
  expect((await from('2001:db8:2:1::1')).status).toBe(202);
  await countReports(`leak-report:account:${toKey('leak-report')}`, 1_200);
  expect((await from('2001:db8:3:1::1')).status).toBe(429);
});
