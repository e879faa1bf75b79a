import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DAY_MS } from '@platform/service-kit';
import { type CreatedToken, startIdentity } from '../identity.js';
import { createTokens, TOKENS } from './tokens.js';

const mcpScopes = ['kb:read', 'crawl:read'];

const identity = await startIdentity({
  environment: { MCP_SCOPES: mcpScopes.join(', '), TOKEN_PREFIX: 'acme_' },
});
const session = await identity.login();
const member = await identity.createMember(session);
const { call, make, statuses } = createTokens(identity, session);
afterAll(() => identity.close());

const create = (body: object, by = session) => call('POST', '', body, by);
const storedToken = async (id: string) =>
  (await identity.db.query('select * from personal_access_tokens where id = $1', [id])).rows[0] as Record<
    string,
    unknown
  >;
const getDays = ({ createdAt, expiresAt }: CreatedToken) =>
  expiresAt === null ? null : Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / DAY_MS);

test('the response has the specified shape, and the row contains only a hash of the token', async () => {
  const { status, headers, body } = await create({ name: 'ci' });
  expect(status).toBe(201);
  expect(headers.get('cache-control')).toBe('no-store');
  const { token } = body;
  expect(body).toEqual({
    message: expect.any(String),
    token: {
      id: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-/),
      name: 'ci',
      scopes: mcpScopes,
      createdAt: expect.stringMatching(/Z$/),
      expiresAt: expect.stringMatching(/Z$/),
      lastUsedAt: null,
      parentId: null,
      accessToken: expect.stringMatching(/^acme_[\w-]+\.[\w-]+\.[\w-]{86}_[\dA-Za-z]{6}$/),
    },
  });
  const row = await storedToken(token.id);
  expect(row).toMatchObject({
    name: 'ci',
    org_id: identity.orgId,
    scopes: mcpScopes,
    status: 'active',
    token_hash: expect.stringMatching(/^[\w-]{43}$/),
  });
  expect((row.expires_at as Date).toISOString()).toBe(token.expiresAt);
  const claims = JSON.parse(Buffer.from(token.accessToken.split('.')[1], 'base64url').toString());
  expect(claims).toMatchObject({
    jti: token.id,
    org: identity.orgId,
    kind: 'pat',
    exp: Date.parse(token.expiresAt) / 1_000,
  });
});

test('stores each lifetime, names of 1 to 100 characters of any kind unchanged, and duplicate scopes once', async () => {
  for (const [expiryDays, days] of [
    [undefined, 30],
    [365, 365],
    ['never', null],
  ]) {
    const token = await make(member.session, { expiryDays });
    expect(getDays(token)).toBe(days);
    const { expires_at: expiresAt } = await storedToken(token.id);
    expect(expiresAt).toEqual(token.expiresAt === null ? null : new Date(token.expiresAt));
  }
  for (const name of ['x', '💡'.repeat(100), '字'.repeat(100)])
    expect((await make(session, { name })).name).toBe(name);
  const token = await make(session, { scopes: ['kb:read', 'user:read', 'kb:read'] });
  expect([token.scopes, (await storedToken(token.id)).scopes]).toEqual(
    [1, 2].map(() => ['kb:read', 'user:read']),
  );
});

test('rejects invalid fields with 400 and stores nothing', async () => {
  const count = async () =>
    (await identity.db.query('select count(*)::int from personal_access_tokens')).rows[0] as unknown;
  const before = await count();
  for (const body of [
    {},
    { name: ' \t\n' },
    { name: '💡'.repeat(101) },
    { name: 'a\u0000b' },
    { name: 'a\ud800' },
    { name: 'a', expiryDays: 31 },
    { name: 'a', scopes: [] },
    { name: 'a', scopes: ['no:such'] },
    { name: 'a', scopes: ['KB:READ'] },
    { name: 'a', scopes: ['constructor'] },
    { name: 'a', scopes: ['token:introspect'] },
    { name: 'a', scopes: Array.from({ length: 51 }, () => 'kb:read') },
    { name: 'a', userId: 'x' },
  ]) {
    const { status, body: answer } = await create(body);
    expect([body, status, answer.error.code]).toEqual([body, 400, 'VALIDATION_ERROR']);
    expect(answer.error.details).not.toEqual([]);
  }
  expect(await count()).toEqual(before);
});

test('grants a member the default scopes, and none of administrators', async () => {
  expect((await make(member.session, { scopes: undefined })).scopes).toEqual(mcpScopes);
  const refused = await create({ name: 'a', scopes: ['kb:read', 'SEND_MAIL'] }, member.session);
  expect([refused.status, refused.body.error.details]).toEqual([
    400,
    [{ field: 'scopes.1', message: 'SEND_MAIL can be granted by an administrator only' }],
  ]);
});

test('a token grants no scope that it lacks and no later expiry than its own', async () => {
  const parent = await make(session, { scopes: ['pat:write', 'kb:read'], expiryDays: 90 });
  const by = (body: object) => create({ name: 'child', ...body }, parent.accessToken);
  expect((await by({})).body.token.scopes).toEqual(['kb:read']);
  expect((await by({ scopes: ['kb:read', 'crawl:read'] })).body.error.details).toEqual([
    { field: 'scopes.1', message: expect.stringContaining('lacks it') },
  ]);
  for (const expiryDays of [365, 'never']) expect((await by({ expiryDays })).status).toBe(400);
  expect((await by({ expiryDays: 90 })).body.token.expiresAt).toBe(parent.expiresAt);
  const bare = await make(session, { scopes: ['pat:write'] });
  expect((await create({ name: 'child' }, bare.accessToken)).status).toBe(400);
});

test('concurrent requests create different valid tokens', async () => {
  const tokens = await Promise.all(Array.from({ length: 5 }, () => make()));
  expect(new Set(tokens.map(({ id }) => id)).size).toBe(5);
  expect(new Set(tokens.map(({ accessToken }) => accessToken)).size).toBe(5);
  expect(await statuses(...tokens)).toEqual(tokens.map(() => 200));
});

/** CRC-32 bit by bit, apart from the implementation. */
function crc32(text: string): number {
  let crc = 0xff_ff_ff_ff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xed_b8_83_20 : 0);
  }
  return (crc ^ 0xff_ff_ff_ff) >>> 0;
}

test('PAT-2 a token has the documented form and a right checksum, and any prefix and none are accepted', async () => {
  const { accessToken } = await make();
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/connect/secret-scanning.md'), 'utf8');
  const documented = /^pat_eyJ.*$/m.exec(page)?.[0] ?? '';
  expect(accessToken).toMatch(new RegExp(`^${documented.replace('pat_', 'acme_')}$`));
  const [body = '', checksum = ''] = accessToken.split(/_(?=[^_]*$)/);
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const toValue = (text: string) =>
    text.split('').reduce((value, digit) => value * 62 + digits.indexOf(digit), 0);
  const jwt = body.slice('acme_'.length);
  expect(toValue(checksum)).toBe(crc32(jwt));
  for (const token of [jwt, `pat_${jwt}`, `other_${jwt}`, `pat_${jwt}_${checksum}`, `${jwt}_${checksum}`])
    expect((await identity.call('GET', '/api/v1/users/me', { token })).status).toBe(200);
  for (const token of [`pat_pat_${jwt}`, `-${jwt}`, `${accessToken}_000000`, `pat_${jwt}_000000`])
    expect((await identity.call('GET', '/api/v1/users/me', { token })).status).toBe(401);
});

test('the database and the log contain no credentials, only hashes', async () => {
  const pat = await make(member.session);
  await identity.call('GET', `/api/v1/users/${pat.accessToken}?token=${pat.accessToken}`, {
    token: pat.accessToken,
  });
  await identity.call('DELETE', `${TOKENS}/${pat.accessToken}`, { token: session, body: { reason: 'a' } });
  const { rows: tables } = await identity.db.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'public'`,
  );
  expect(tables.length).toBeGreaterThan(8);
  let dump = '';
  for (const { name } of tables) {
    const { rows } = await identity.db.query<{ line: string }>(`select t::text as line from ${name} t`);
    dump += rows.map(({ line }) => line).join('\n');
  }
  expect(dump).toContain(pat.id);
  const secrets = [pat.accessToken, member.session, session].flatMap((token) =>
    token
      .replace('acme_', '')
      .replace(/_[0-9A-Za-z]{6}$/, '')
      .split('.')
      .slice(1),
  );
  for (const where of [dump, identity.logged()])
    expect(secrets.filter((secret) => where.includes(secret))).toEqual([]);
});
