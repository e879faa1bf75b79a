import { type IdentityUnderTest, startIdentity } from '../identity.js';

const path = '/api/v1/personal-access-tokens';
/** Narrowing so many takes longer than other statements may. */
const CHILDREN = 30_000;
let identity: IdentityUnderTest;
let session: string;

beforeAll(async () => {
  identity = await startIdentity({ environment: { DATABASE_TIMEOUT_MS: '1000' } });
  session = await identity.login();
});
afterAll(() => identity.close());

test('PAT-24 a thief who has created tens of thousands of tokens cannot prevent that their parent is narrowed', async () => {
  const scopes = ['pat:write', 'user:read', 'kb:read'];
  const { id } = await identity.createToken(session, { scopes });
  await identity.db.query(
    `insert into personal_access_tokens (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, created_at, parent_id)
     select ('01900000-0000-7000-8001-' || lpad(to_hex(n), 12, '0'))::uuid, org_id, owner_id, 'many', scopes, 'x',
       signing_key_id, now(), id
     from personal_access_tokens, generate_series(1, $2::int) n where id = $1`,
    [id, CHILDREN],
  );
  const body = { scopes: ['user:read'] };
  const answer = await identity.call('POST', `${path}/${id}/rotate`, { token: session, body });
  expect([answer.status, answer.body.revokedCount]).toEqual([201, CHILDREN]);
  const { rows } = await identity.db.query(
    `select status::text, count(*)::int from personal_access_tokens where name = 'many' group by status`,
  );
  expect(rows).toEqual([{ status: 'revoked', count: CHILDREN }]);
});
