import { readFile } from 'node:fs/promises';
import { type CreatedToken, type IdentityUnderTest, migrationsFolder, startIdentity } from '../identity.js';

const path = '/api/v1/personal-access-tokens';
const scopes = ['pat:write'];
let identity: IdentityUnderTest;
let session: string;

beforeAll(async () => {
  identity = await startIdentity();
  session = await identity.login();
});
afterAll(() => identity.close());

const create = (token: string) => identity.createToken(token, { scopes });
async function createLine(length: number): Promise<CreatedToken[]> {
  const line = [await create(session)];
  while (line.length < length) line.push(await create(line.at(-1)?.accessToken ?? ''));
  return line;
}
const getIds = (tokens: readonly (CreatedToken | undefined)[]) => tokens.map((token) => token?.id);

/** As the first migration left them: revoked before families were known, and their tokens joined to nothing. */
async function revokeAlone(tokens: readonly (CreatedToken | undefined)[]): Promise<void> {
  for (const id of getIds(tokens))
    await identity.call('DELETE', `${path}/${id}`, { token: session, body: { keepDescendants: true } });
  await identity.db.query(
    `update personal_access_tokens t set parent_id = null from audit_entries a
     where a.subject_id = t.id and a.action = 'token.created' and a.credential_id = any($1::uuid[])`,
    [getIds(tokens)],
  );
}

test('tokens below revoked ones join the nearest active token above', async () => {
  const [root, second, third, leaf, below] = await createLine(5);
  const [gone, orphan] = await createLine(2);
  await revokeAlone([third, second, gone]);
  // As releases before the audit's own columns wrote it.
  const old = '01900000-0000-7000-8000-0000000001d0';
  await identity.db.query(
    `insert into personal_access_tokens (id, org_id, owner_id, name, scopes, token_hash, signing_key_id, created_at)
     select $2, org_id, owner_id, 'old', scopes, 'x', signing_key_id, now() from personal_access_tokens where id = $1`,
    [third?.id, old],
  );
  await identity.db.query(
    `insert into audit_entries (id, org_id, action, subject_id, detail, created_at)
     values ('01900000-0000-7000-8000-0000000001d1', $1, 'token.created', $2, $3, now())`,
    [identity.orgId, old, JSON.stringify({ credential: { kind: 'pat', id: third?.id } })],
  );
  const name = '20261122054800_families_through_revoked_tokens';
  await identity.db.query(await readFile(`${migrationsFolder}/${name}/migration.sql`, 'utf8'));
  const { rows } = await identity.db.query<{ id: string; parent_id: string | null }>(
    'select id, parent_id from personal_access_tokens',
  );
  const parents = new Map(rows.map((row) => [row.id, row.parent_id]));
  expect([root?.id, leaf?.id, below?.id, orphan?.id, old].map((id) => parents.get(id ?? ''))).toEqual([
    null,
    root?.id,
    leaf?.id,
    null,
    root?.id,
  ]);
  const revoked = await identity.call('DELETE', `${path}/${root?.id}`, { token: session });
  expect(revoked.body.revokedCount).toBe(4);
});
