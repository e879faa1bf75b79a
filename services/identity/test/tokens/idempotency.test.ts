import { randomUUID } from 'node:crypto';
import { HOUR_MS } from '@platform/service-kit';
import { startIdentity } from '../identity.js';
import { TOKENS } from './tokens.js';

/* API-26: a repeated request that creates something, with the key of the first one. */

const identity = await startIdentity();
const session = await identity.login();
const other = await identity.createMember(session);
afterAll(() => identity.close());

const createKey = () => ({ 'idempotency-key': randomUUID() });
const create = (name: string, headers: Record<string, string>, token = session) =>
  identity.call('POST', TOKENS, { token, headers, body: { name, scopes: ['pat:write'] } });
const countTokens = async (name: string): Promise<number> => {
  const { rows } = await identity.db.query<{ count: number }>(
    'select count(*)::int as count from personal_access_tokens where name = $1',
    [name],
  );
  return rows[0]?.count ?? 0;
};

test('API-26 gets the first response, with its secret, and creates nothing', async () => {
  const key = createKey();
  const first = await create('one', key);
  const again = await create('one', key);
  expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([201, null]);
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
  expect(again.body).toEqual(first.body);
  expect(again.headers.get('cache-control')).toBe('no-store');
  expect(await countTokens('one')).toBe(1);
});

test('API-26 creates one token when the same request comes ten times at once', async () => {
  const key = createKey();
  const all = await Promise.all(Array.from({ length: 10 }, () => create('race', key)));
  expect(await countTokens('race')).toBe(1);
  const ids = new Set(all.filter(({ status }) => status === 201).map(({ body }) => body.token.id));
  expect(ids.size).toBe(1);
  for (const { status, body, headers } of all.filter((one) => one.status !== 201)) {
    expect([status, body.error.code]).toEqual([409, 'IDEMPOTENCY_KEY_IN_USE']);
    expect(headers.get('retry-after')).toBe('5');
  }
});

test('API-26 belongs to the credential, to the request and to the hour', async () => {
  const key = createKey();
  const first = await create('mine', key);
  const { body } = await create('writer', createKey());
  const byToken = await create('mine', key, body.token.accessToken);
  expect([byToken.status, byToken.body.token.id === first.body.token.id]).toEqual([201, false]);
  expect((await create('mine', key, other.session)).body.token.id).not.toBe(first.body.token.id);
  const changed = await create('changed', key);
  expect([changed.status, changed.body.error.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED']);
  identity.advance(HOUR_MS);
  expect((await create('mine', key)).body.token.id).not.toBe(first.body.token.id);
  expect(await countTokens('mine')).toBe(4);
});

test('API-26 a refused request gives the key back', async () => {
  const key = createKey();
  expect((await create('', key)).status).toBe(400);
  expect((await create('late', key)).status).toBe(201);
  const bad = await create('x', { 'idempotency-key': 'a b' });
  expect([bad.status, bad.body.error.details[0].field]).toEqual([400, 'Idempotency-Key']);
});

test('API-26 stores neither the key nor the response in the clear', async () => {
  const key = createKey();
  const { body } = await create('sealed', key);
  const { rows } = await identity.db.query('select * from idempotency_keys');
  const stored = JSON.stringify(rows);
  expect(stored).not.toContain(key['idempotency-key']);
  expect(stored).not.toContain(body.token.accessToken);
  expect(stored).not.toContain(body.token.id);
});

test('API-26 a response is gone for a caller who may not create any more', async () => {
  const key = createKey();
  const scopes = ['pat:write'];
  const { body } = await identity.call('POST', TOKENS, { token: session, body: { name: 'writer', scopes } });
  expect((await create('by a token', key, body.token.accessToken)).status).toBe(201);
  await identity.call('DELETE', `${TOKENS}/${body.token.id}`, { token: session });
  expect((await create('by a token', key, body.token.accessToken)).status).toBe(401);
});
