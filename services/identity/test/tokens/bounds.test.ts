import { startProbeService } from '../credentials/verification/probe-service.js';
import { startIdentity } from '../identity.js';
import { introspect } from '../introspection.js';
import { createTokens } from './tokens.js';

const identity = await startIdentity();
const session = await identity.login();
const probe = await startProbeService(identity.url);
const { create, make, rotate, get, revoke, findEntries } = createTokens(identity, session);
afterAll(async () => {
  await probe.close();
  await identity.close();
});

const makeFor = (bounds: object, by?: string) => make(by, { bounds });

test('PAT-56 a token shows its bounds in lists, alone, in the audit and in introspection', async () => {
  const bounds = { connectors: ['code_1', 'files_1'] };
  const token = await makeFor({ connectors: ['code_1', 'files_1', 'code_1'] });
  expect((await get(token.id))['bounds']).toEqual(bounds);
  const { tokens } = (await identity.call('GET', '/api/v1/personal-access-tokens', { token: session })).body;
  expect(tokens.find(({ id }: { id: string }) => id === token.id).bounds).toEqual(bounds);
  expect(await findEntries('token.created', token)).toMatchObject([
    { detail: { bounds: JSON.stringify(bounds) } },
  ]);
  // AUTH-61
  expect((await introspect(identity, token.accessToken)).authorization_details).toEqual([
    { type: 'bounds', ...bounds },
  ]);
  const free = await make();
  expect((await get(free.id))['bounds']).toBeNull();
  expect(await introspect(identity, free.accessToken)).not.toHaveProperty('authorization_details');
});

test('PAT-56 an empty list is kept, and no list at all or an unknown name is 400', async () => {
  expect((await get((await makeFor({ connectors: [] })).id))['bounds']).toEqual({ connectors: [] });
  for (const [bounds, field] of [
    [{ connectors: ['code_1', 'code_9'] }, 'bounds.connectors.1'],
    [{ connectors: ['toString'] }, 'bounds.connectors.0'],
    [{ connectors: 'code_1' }, 'bounds.connectors'],
    [{}, 'bounds'],
    [{ tenants: [] }, 'bounds.tenants'],
  ] as const) {
    const { status, body } = await create({ bounds });
    expect([bounds, status, body.error.details?.[0].field]).toEqual([bounds, 400, field]);
  }
});

test('PAT-57 a token creates tokens within its bounds, which a rotation keeps', async () => {
  const parent = await makeFor({ connectors: ['code_1', 'files_1'] });
  const refused = await create({ bounds: { connectors: ['code_1', 'wiki_1'] } }, parent.accessToken);
  expect([refused.status, refused.body.error.details]).toEqual([
    400,
    [
      {
        field: 'bounds.connectors',
        message: 'must lie within the bounds of the token that creates this one',
      },
    ],
  ]);
  const heir = await make(parent.accessToken);
  expect((await get(heir.id))['bounds']).toEqual({ connectors: ['code_1', 'files_1'] });
  const child = await makeFor({ connectors: ['code_1'] }, parent.accessToken);
  expect((await create({ bounds: { connectors: ['files_1'] } }, child.accessToken)).status).toBe(400);
  const nothing = await makeFor({ connectors: [] }, child.accessToken);
  expect((await get(nothing.id))['bounds']).toEqual({ connectors: [] });
  let current = child;
  for (const getRotator of [() => session, () => current.accessToken, () => parent.accessToken]) {
    current = (await rotate(current.id, {}, getRotator())).body.token;
    expect((await get(current.id))['bounds']).toEqual({ connectors: ['code_1'] });
    expect(await findEntries('token.created', current)).toMatchObject([
      { detail: { bounds: '{"connectors":["code_1"]}' } },
    ]);
  }
  expect((await rotate(current.id, { bounds: { connectors: ['wiki_1'] } })).status).toBe(400);
});

test('PAT-57 the bounds of a token never change, and end with it', async () => {
  const token = await makeFor({ connectors: ['code_1'] });
  for (const change of [`'{"connectors": ["wiki_1"]}'`, 'null'])
    await expect(
      identity.db.query(`update personal_access_tokens set bounds = ${change} where id = $1`, [token.id]),
    ).rejects.toThrow('a token never changes what it grants');
  expect((await revoke(token.id)).status).toBe(200);
  expect(await introspect(identity, token.accessToken)).toEqual({ active: false });
});

test('PAT-56 a token of a service account can be limited', async () => {
  const account = await identity.call('POST', '/api/v1/service-accounts', {
    token: session,
    body: { name: 'Crawler', role: 'admin' },
  });
  const path = `/api/v1/service-accounts/${account.body.serviceAccount.id}/tokens`;
  const body = { name: 'worker', scopes: ['crawl:work'], bounds: { connectors: ['code_1'] } };
  const created = await identity.call('POST', path, { token: session, body });
  expect(created.status).toBe(201);
  expect((await introspect(identity, created.body.token.accessToken)).authorization_details).toEqual([
    { type: 'bounds', connectors: ['code_1'] },
  ]);
});
