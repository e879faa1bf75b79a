import { waitFor } from '@platform/testing';
import { startPlatform } from '../../sign-in/account-flows/platform.js';
import { base, useAccounts } from './use-accounts.js';

const accounts = useAccounts(startPlatform);

async function createToken(fields: object = {}) {
  const accountId = await accounts.createAccount();
  const { id, accessToken } = await accounts.createToken(accountId, fields);
  const path = `${base}/${accountId}/tokens/${id}`;
  const request = (method: string, body?: object, token = accounts.session) =>
    accounts.identity.call(method, path, { token, ...(body && { body }) });
  return { id, accessToken, request };
}

test('an administrator renames a token of an account, mutes it and takes permissions from it, and the audit shows it', async () => {
  const { id, accessToken, request } = await createToken();
  expect(await accounts.listUsers(accessToken)).toBe(200);
  const change = { name: 'weekly backup', noticesMuted: true, scopes: ['crawl:read'] };
  const edited = await request('PATCH', change);
  expect([edited.status, edited.body.token]).toMatchObject([200, { id, ...change, state: 'active' }]);
  // The last use is written later.
  const lastUse = { lastUse: expect.anything(), lastUsedAt: expect.anything() };
  await waitFor(async () => (await request('GET')).body.token.lastUse !== null, { what: 'the last use' });
  expect((await request('GET')).body.token).toEqual({ ...edited.body.token, ...lastUse });
  expect(await accounts.listUsers(accessToken)).toBe(403);
  expect(await accounts.findEntries(id)).toContainEqual(
    expect.objectContaining({ action: 'token.changed', credential_kind: 'session' }),
  );
});

test('the addresses of a token of an account are narrowed at once', async () => {
  const { accessToken, request } = await createToken();
  expect((await request('PATCH', { allowList: ['203.0.113.0/24'] })).status).toBe(200);
  expect(await accounts.listUsers(accessToken)).toBe(401);
  expect((await request('PATCH', { allowList: ['0.0.0.0/0'] })).status).toBe(400);
});

test('nothing is added to a token of an account, and a revoked one is not changed', async () => {
  const { request } = await createToken({ scopes: ['user:read'] });
  const wider = await request('PATCH', { scopes: ['user:read', 'crawl:read'] });
  expect([wider.status, wider.body.error.details]).toEqual([
    400,
    [expect.objectContaining({ field: 'scopes.1' })],
  ]);
  expect((await request('PATCH', {})).status).toBe(400);
  expect((await request('DELETE')).status).toBe(200);
  expect((await request('PATCH', { name: 'again' })).status).toBe(404);
  expect((await request('GET')).body.token).toMatchObject({ state: 'revoked' });
});

test('only administrators of the organisation with a session change a token of an account, at its own account', async () => {
  const { id, request } = await createToken();
  const { identity } = accounts;
  const member = await identity.createMember(accounts.session);
  const administrator = await identity.createToken(accounts.session, { scopes: ['pat:write', 'user:write'] });
  const stranger = await identity.createOrganisation('admin@edits.example');
  const body = { noticesMuted: true };
  for (const [token, status] of [
    [member.session, 403],
    [administrator.accessToken, 403],
    [stranger.session, 404],
  ] as const)
    expect([
      (await request('GET', undefined, token)).status,
      (await request('PATCH', body, token)).status,
    ]).toEqual([status, status]);
  const elsewhere = `${base}/${await accounts.createAccount()}/tokens/${id}`;
  const { status } = await identity.call('PATCH', elsewhere, { token: accounts.session, body });
  expect(status).toBe(404);
  expect((await request('GET')).body.token).toMatchObject({ noticesMuted: false });
});
